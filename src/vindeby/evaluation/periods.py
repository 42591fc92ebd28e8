"""A time series split at the dates on which neighbours are built.

A neighbour stands in every step whose time is its date or later.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.time_series import TimeSeries
from vindeby.evaluation.cases import Neighbour
from vindeby.evaluation.stored_layouts import Pinned


@dataclass(frozen=True)
class Period:
    """Steps ``first`` up to ``last`` of the series, and who stands then, in the order of the case."""

    first: int
    last: int
    standing: tuple[Pinned, ...]


def periods_of(neighbours: Sequence[Neighbour], steps: int) -> list[Period]:
    """The periods in order; one where no neighbour has a date. Without steps, the whole site is one."""
    first_step = {one.pinned: one.first_step for one in neighbours}
    edges = sorted({0, steps, *(step for step in first_step.values() if step < steps)})
    if not steps:
        return [Period(0, 0, tuple(one.pinned for one in neighbours))]
    return [
        Period(first, last, tuple(one.pinned for one in neighbours if first_step[one.pinned] <= first))
        for first, last in pairwise(edges)
    ]


def first_step_of(since: str, times: Sequence[datetime]) -> int:
    """The first step at a date or later; as many as there are where all are before it."""
    return bisect_left(times, datetime.fromisoformat(since))


def times_of(series: TimeSeries) -> list[datetime]:
    """The times of the steps; none where the series has none."""
    return [datetime.fromisoformat(text) for text in series.times or ()]


def part_of(site: Site, first: int, last: int) -> Site:
    """The same site with these steps only."""
    series = site.time_series
    assert series is not None
    if (first, last) == (0, len(series.wind_speed)):
        return site
    cut = {
        name: value[first:last]
        for name in type(series).model_fields
        if isinstance(value := getattr(series, name), tuple)
    }
    return site.model_copy(update={"time_series": series.model_copy(update=cut)})
