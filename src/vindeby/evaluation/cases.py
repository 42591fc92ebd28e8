"""A case: one of the evaluated layouts among one combination of neighbours, as a line of text.

The campaign of a study lists its cases, one for each seed. The text is what a result's fingerprint is made of, so it
holds what decides: the neighbours with the checksums of their layouts, their dates, and the steps of the series that
these dates are (the times of a series are no part of what its own fingerprint is made of).
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from vindeby.evaluation.stored_layouts import Pinned


@dataclass(frozen=True)
class Neighbour:
    """A stored layout that stands, from a date on or always."""

    pinned: Pinned
    since: str | None = None
    first_step: int = 0
    """Of the time series, the first at the date or later; as many as it has where all are before."""

    def __str__(self) -> str:
        return self.pinned.key if self.since is None else f"{self.pinned.key} from {self.since}"


@dataclass(frozen=True)
class Case:
    """Which of the layouts of its farm and type is evaluated (from 0), and what stands around it."""

    layout: int
    combination: str
    neighbours: tuple[Neighbour, ...]

    def dumps(self) -> str:
        """As text, the same for equal cases."""
        rows = [
            [str(one.pinned), one.since, one.first_step] if one.since else [str(one.pinned)]
            for one in self.neighbours
        ]
        return json.dumps([self.layout, self.combination, rows], separators=(",", ":"))

    @classmethod
    def loads(cls, text: str) -> Case:
        """From text."""
        layout, combination, rows = json.loads(text)
        neighbours = [Neighbour(Pinned.parse(text), *date) for text, *date in rows]
        return cls(layout, combination, tuple(neighbours))
