"""What jobs of a SLURM cluster ask for. Nothing here changes what a task's result is, nor its fingerprint."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from vindeby.campaign.sections.values import Count, Section, refusal

_TIME = re.compile(r"(\d+-)?\d{1,3}(:\d{2}){0,2}")
_MEMORY = re.compile(r"\d+(\.\d+)? ?[KMGT]?i?B?", re.IGNORECASE)


def _one_line(value: Any) -> Any:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise refusal("must be text of one line", remedy="write it as SLURM's sbatch takes it", value=value)
    return value.strip()


def _time(value: Any) -> Any:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise refusal(
            "is no time",
            remedy='write hours, minutes and seconds in quotes, "12:00:00", or "2-00:00:00"',
            value=value,
        )
    return value


def _memory(value: Any) -> Any:
    if not isinstance(value, str) or not _MEMORY.fullmatch(value):
        raise refusal("is no amount of memory", remedy="write a number and a unit, such as 16GB", value=value)
    return value


def _directive(value: Any) -> Any:
    text = _one_line(value)
    if not text.startswith("-"):
        raise refusal(
            "is no option of sbatch", remedy="begin with a hyphen, such as --qos=normal", value=value
        )
    return text


Line = Annotated[str, BeforeValidator(_one_line)]


class SlurmOptions(Section):
    """Of each job: docs/cluster.md says what each is for."""

    nodes: Count | None = None
    """How many jobs, each on one node."""
    time: Annotated[str, BeforeValidator(_time)] | None = None
    """The time limit of a job, such as "12:00:00"."""
    cores: Count | None = None
    """Per job, which is also how many workers it has."""
    memory: Annotated[str, BeforeValidator(_memory)] | None = None
    """Per job."""
    partition: Line | None = None
    """The partition."""
    account: Line | None = None
    """The account."""
    directives: tuple[Annotated[str, BeforeValidator(_directive)], ...] = ()
    """Further options of sbatch."""
    before: tuple[Line, ...] = ()
    """Shell commands that a job begins with, such as ``module load python``."""
    interface: Line | None = None
    """The network interface through which Dask's scheduler and workers find each other, such as ``ib0``."""

    def overridden(self, **given: Any) -> SlurmOptions:
        """The same with what is given and not None; lists are added to; raises pydantic's ValidationError."""
        data = self.model_dump()
        for name, value in given.items():
            if isinstance(value, list | tuple):
                data[name] = (*data[name], *value)
            elif value is not None:
                data[name] = value
        return SlurmOptions.model_validate(data)
