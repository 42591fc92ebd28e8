"""Where a process runs: the machine, and the job of a batch system, so that a user finds both again."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping

_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")


def node_and_job(environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The name of this machine, and the number of the batch job that this process belongs to; empty for none.

    An element of a SLURM array is ``1234_7``, which ``scancel`` and ``squeue`` understand.
    """
    known = os.environ if environment is None else environment
    return platform.node(), _array_element(known) or next(
        (known[name] for name in _JOBS if known.get(name)), ""
    )


def _array_element(known: Mapping[str, str]) -> str:
    array, element = known.get("SLURM_ARRAY_JOB_ID", ""), known.get("SLURM_ARRAY_TASK_ID", "")
    return f"{array}_{element}" if array and element else ""
