"""Stored layouts in a campaign: the layout that each task evaluates, and the database's farms around it.

A neighbour stands in every step of a time series whose time is its date or later; periods are the parts of the series
between such dates. The layout of a task and the neighbours around it are part of the task's fingerprint, with their
checksums and the steps at which dates begin. Otherwise no combination decides the results of another one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple, Self

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.reading.yaml_text import Path
from vindeby.campaign.sections.farm import StoredNeighbour
from vindeby.campaign.sections.time_series import TimeSeries
from vindeby.campaign.sections.values import refusal, require
from vindeby.campaign.tasks import Cell, KeyParts, cell_key


class Pinned(NamedTuple):
    """A stored layout by its key, and the first digits of the checksum that its record had when it was chosen."""

    key: str
    checksum: str

    def __str__(self) -> str:
        return f"{self.key} {self.checksum}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what ``str`` wrote."""
        key, _, checksum = text.partition(" ")
        return cls(key, checksum)

    @property
    def farm_idx(self) -> int:
        """The number of its farm in the campaign of the database."""
        return KeyParts.of(self.key).farm_idx


class StandingLayout(NamedTuple):
    """A stored layout around an evaluated farm, from a date on or always."""

    pinned: Pinned
    since: str | None
    first_step: int
    """The first step of the time series at the date or later; the number of steps where all are before."""

    def __str__(self) -> str:
        return self.pinned.key if self.since is None else f"{self.pinned.key} from {self.since}"


class Period(NamedTuple):
    """Steps ``first`` up to ``last`` of the series, and the layouts that stand then, in the order of their keys."""

    first: int
    last: int
    standing: tuple[Pinned, ...]


def periods_of(standing: Sequence[StandingLayout], steps: int) -> list[Period]:
    """Return the periods in order; one where no neighbour has a date. Without steps, the whole site is one."""
    first_step = {one.pinned: one.first_step for one in standing}
    keys = sorted(one.pinned for one in standing)  # equal sets give equal bits
    edges = sorted({0, steps, *(step for step in first_step.values() if step < steps)})
    if not steps:
        return [Period(0, 0, tuple(keys))]
    return [
        Period(first, last, tuple(key for key in keys if first_step[key] <= first))
        for first, last in pairwise(edges)
    ]


def references_of(campaign: CampaignFields) -> Iterator[tuple[Path, StoredNeighbour]]:
    """Yield the farms of the database that stand around stored layouts, each with its path."""
    for index, one in enumerate(campaign.neighbours or ()):
        if isinstance(one, StoredNeighbour):
            yield ("neighbours", index), one


def standing_around(campaign: CampaignFields, farm_idx: int) -> tuple[StandingLayout, ...]:
    """Return the stored layouts that stand around a farm, which is not its own neighbour."""
    own, series = campaign.farms[farm_idx].name, campaign.site.time_series
    return tuple(
        StandingLayout(Pinned.parse(one.stored), one.since, _first_step(series, one.since, at))
        for at, one in references_of(campaign)
        if one.farm != own
    )


def identity_of_standing(campaign: CampaignFields, farm_idx: int) -> list[list[Any]]:
    """Return the data of the stored layouts around a farm that decide results, in an order of its own."""
    return sorted(
        [str(one.pinned), one.first_step] if one.since else [str(one.pinned)]
        for one in standing_around(campaign, farm_idx)
    )


def pins_of(campaign: CampaignFields, cell: Cell) -> tuple[str, ...]:
    """Return the stored layouts of a cell, in the order of the seeds; none for a campaign that searches."""
    stored = campaign.stored
    return ((stored and stored.layouts) or {}).get(cell_key(cell.farm_idx, cell.type_idx), ())


def layout_of_seed(campaign: CampaignFields, cell: Cell, seed: int) -> Pinned:
    """Return the stored layout that the task of a cell with this seed evaluates."""
    return Pinned.parse(pins_of(campaign, cell)[campaign.seeds.index(seed)])


def refuse_unsuitable_stored(campaign: CampaignFields) -> None:
    """Refuse layouts that were not chosen, powers without steps, and dates that the wind does not have."""
    stored = campaign.stored
    for at, one in references_of(campaign):
        wrong = "is a farm of a database of stored layouts, but the method is not stored"
        require(stored is not None, wrong, "write database: FILE.h5 beside farm: NAME", *at)
        _first_step(campaign.site.time_series, one.since, at)
    if stored is None:
        return
    place: Path = ("method", 0, "stored")
    wrong = "is evaluated in the whole campaign, and cannot be one of several values of an axis"
    require(stored.layouts is not None, wrong, "make it the method of the campaign", *place)
    if stored.output == "power":
        is_series = campaign.site.time_series is not None
        remedy = "give site: time_series, or write output: aep"
        require(is_series, "needs a time series", remedy, *place, "output")
        wrong = "has one power for each step, but with direction_std_deg a step has five states"
        has_steps = not campaign.site.direction_std_deg
        require(has_steps, wrong, "leave it out, or write output: aep", *place, "output")


def _first_step(series: TimeSeries | None, since: str | None, at: Path) -> int:
    if since is None:
        return 0
    if series is None or series.times is None:
        remedy = "give site: time_series with times, or leave it out"
        raise refusal("needs a time series with times", remedy=remedy, at=(*at, "from"), value=since)
    times, moment = series.moments, datetime.fromisoformat(since)
    if (moment.tzinfo is None) != (times[0].tzinfo is None):
        wrong = "has a time zone where the times of the series have none, or none where they have one"
        raise refusal(wrong, remedy=f"write it like {series.times[0]}", at=(*at, "from"), value=since)
    return bisect_left(times, moment)
