"""The farms, turbine types and seeds of a dataset, in order and with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.outline import Outline, outline_of, read_outline
from vindeby.errors import CampaignError


def outline_in(campaign_text: str | None, outline_text: str | None) -> Outline | None:
    """The outline of the campaign that is kept with results; None where there is none that can be used."""
    if campaign_text is None:
        return None
    found = read_outline(outline_text, campaign_text)
    if found is not None:
        return found
    from vindeby.campaign import (
        Campaign,
    )  # loads pydantic and shapely, which a kept outline makes unnecessary

    try:
        return outline_of(Campaign.loads(campaign_text))
    except CampaignError:
        return None


@dataclass(frozen=True)
class Axis:
    """Numbers along one dimension, and the name of each."""

    numbers: NDArray[np.int64]
    names: tuple[str, ...]

    @classmethod
    def of(cls, known: Sequence[str], found: NDArray[np.int64], prefix: str) -> Axis:
        """Everything that a campaign names, then what only the results have."""
        others = np.setdiff1d(found, np.arange(len(known)))
        names = list(known)
        for number in others.tolist():
            name = f"{prefix}{number}"
            while name in names:
                name += "'"
            names.append(name)
        return cls(np.concatenate([np.arange(len(known)), others]).astype(np.int64), tuple(names))

    @classmethod
    def of_seeds(cls, known: Sequence[int], found: NDArray[np.int64]) -> Axis:
        """The seeds in the order of the campaign, then those that only the results have."""
        first = np.array(known, np.int64)
        numbers = np.concatenate([first, np.setdiff1d(found, first)])
        return cls(numbers, tuple(map(str, numbers.tolist())))

    def __len__(self) -> int:
        return len(self.numbers)

    def positions(self, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where these numbers are along the axis; all of them must be there."""
        order = np.argsort(self.numbers)
        return np.asarray(order[np.searchsorted(self.numbers[order], numbers)], np.intp)


def axes_of(places: NDArray[np.int64], outline: Outline | None) -> tuple[Axis, Axis, Axis]:
    """Farms, types and seeds of a campaign and of these results (a row of three numbers each)."""
    farms, types, seeds = (np.unique(places[:, column]) for column in range(3))
    if outline is None:
        return Axis.of((), farms, "farm"), Axis.of((), types, "t"), Axis.of_seeds((), seeds)
    return (
        Axis.of(outline.farms, farms, "farm"),
        Axis.of(outline.types, types, "t"),
        Axis.of_seeds(outline.seeds, seeds),
    )
