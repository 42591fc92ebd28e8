"""The error tree, grouped by what its reader does next.

Every error that vindeby raises on purpose is one of these. The class says what to do, the message says what
is wrong, where (file, field, value) and what would be right; ``exit_status`` is what the command exits with.

```
VindebyError
├── InputError        2    correct what you gave, then run the same command
│   ├── CampaignError      ... the campaign file or an override of it; carries every problem found
│   └── ArgumentError      ... an argument of a function or command
├── ShortfallError    1    the work or the data falls short: read the list, then run or merge again
│   ├── DataError          ... a file or record is damaged or missing
│   └── TaskError          ... a task cannot give a valid result
├── StorageError      1    make room or fix the disk, then run the same command; what was finished is safe
├── BusyError         1    somebody else holds it: wait, or stop them
└── StoppedError    130    you stopped it; rerun the same command to resume
```
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from vindeby.text import one_line

__all__ = [
    "ArgumentError",
    "BusyError",
    "CampaignError",
    "DataError",
    "InputError",
    "Problem",
    "ShortfallError",
    "StoppedError",
    "StorageError",
    "TaskError",
    "VindebyError",
]


class VindebyError(Exception):
    """The root: catch this to catch everything that vindeby raises on purpose; each argument is a line of its text."""

    exit_status: ClassVar[int] = 1

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class InputError(VindebyError):
    """The user's input is wrong; nothing was changed."""

    exit_status = 2


@dataclass(frozen=True)
class Problem:
    """A problem with an input: where it is, what is wrong, and what would be right; one line as text."""

    source: str
    field: str
    message: str
    value: str | None = None
    remedy: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        text = f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"
        if self.value is not None:
            text += f" (got {self.value})"
        return one_line(text if self.remedy is None else f"{text}; {self.remedy}")


class CampaignError(InputError):
    """A campaign cannot be used; ``problems`` lists everything that was found, not just the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(*map(str, self.problems))

    def __reduce__(self) -> tuple[type[CampaignError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class ArgumentError(InputError):
    """An argument of a function or of the command is wrong."""


class ShortfallError(VindebyError):
    """Something asked for does not hold: results are missing, invalid, or could not be made."""


class DataError(ShortfallError):
    """A file or a record is damaged, missing, or not what it says it is."""


class TaskError(ShortfallError):
    """A task cannot give a valid result; the message says why and what would help."""


class StorageError(VindebyError):
    """The file system refuses: full, over quota, read-only, failing. What was acknowledged is safe."""


class BusyError(VindebyError):
    """Another process holds a lock or file that is needed; the message names it."""


class StoppedError(VindebyError):
    """The user stopped the work; everything finished so far is safe."""

    exit_status = 130


def library(name: str, extra: str, purpose: str) -> Any:
    """Import an optional library; raise InputError, with the command that installs it, if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(
            f"{purpose} needs {name}, which is not installed; install it with: pip install 'vindeby[{extra}]'"
        ) from None
