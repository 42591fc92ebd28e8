"""The times of a wind series: ISO 8601, each after the one before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class TimeProblem(NamedTuple):
    """Which entry is wrong, why, and what to do."""

    entry: int
    message: str
    remedy: str


def find_time_problem(times: Sequence[str]) -> TimeProblem | None:
    """The first entry that is no time or not after the one before; None where all are right."""
    before: datetime | None = None
    for index, text in enumerate(times):
        try:
            moment = datetime.fromisoformat(text)
            disorder = before is not None and not moment > before
        except ValueError:
            return TimeProblem(index, "is not a time", "write times like 2020-01-31T13:00")
        except TypeError:  # one has a time zone and the other has none
            return TimeProblem(
                index,
                "differs from the one before in having a time zone",
                "give it for all times or for none",
            )
        if disorder:
            remedy = "sort the steps; use UTC, since local times repeat an hour each autumn"
            return TimeProblem(index, "is not after the one before", remedy)
        before = moment
    return None
