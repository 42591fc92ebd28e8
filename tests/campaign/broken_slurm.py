"""Mistakes in what SLURM jobs ask for, in the ``run`` section; each like those of ``broken.py``."""

from __future__ import annotations

from tests.campaign.broken import Broken
from tests.campaign.examples import SMALL


def _with(text: str, *words: str) -> Broken:
    assert SMALL.endswith("run:\n  workers: 2\n")
    return Broken(f"{SMALL}  {text}\n", words)


BROKEN_SLURM: dict[str, Broken] = {
    "time as a number": _with("slurm: {time: 12}", "run.slurm.time", "must be text", "in quotes", "got 12"),
    "time in words": _with("slurm: {time: two hours}", "run.slurm.time", "is not a time", "got 'two hours'"),
    "memory without a number": _with("slurm: {memory: lots}", "run.slurm.memory", "16G", "got 'lots'"),
    "memory in other units": _with("slurm: {memory: 1.5GB}", "run.slurm.memory", "16G", "got '1.5GB'"),
    "memory as a number": _with("slurm: {memory: 16}", "run.slurm.memory", "must be text", "got 16"),
    "no nodes": _with("slurm: {nodes: 0}", "run.slurm.nodes", "got 0"),
    "cores as text": _with("slurm: {cores: many}", "run.slurm.cores", "got 'many'"),
    "half a core": _with("slurm: {cores: 0.5}", "run.slurm.cores", "got 0.5"),
    "partition of two lines": _with(
        'slurm: {partition: "a\\nb"}', "run.slurm.partition", "holds the character", "printable"
    ),
    "empty account": _with('slurm: {account: ""}', "run.slurm.account", "must not be empty"),
    "directive without a hyphen": _with(
        "slurm: {directives: [qos=low]}", "run.slurm.directives[0]", "begin with a hyphen", "got 'qos=low'"
    ),
    "command of two lines": _with(
        'slurm: {before: ["a\\nrm -r x"]}', "run.slurm.before[0]", "holds the character"
    ),
    "key misspelt": _with("slurm: {walltime: 1}", "run.slurm.walltime"),
    "no time to wait": _with("wait_for_workers_s: 0", "run.wait_for_workers_s", "got 0"),
}
