"""A farm of several areas with a number of turbines each.

Each turbine belongs to one zone and must stay in it; the spacing holds across all of them. The turbines of a
layout stand zone by zone, in the order of the zones, so the zone of a turbine follows from its place in the
list.

Compiled loops get the boundaries of all zones in one frame (``Areas``), with the edges and circles of each
zone next to each other. A plain boundary is one zone there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError
from vindeby.layout.area.boundary import Boundary
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.text import plural


@dataclass(frozen=True, eq=False)
class Zone:
    """An area and how many turbines stand in it."""

    boundary: Boundary
    n_turbines: int
    name: str = ""

    def __post_init__(self) -> None:
        if self.n_turbines < 1:
            raise ArgumentError(f"zone {self.name}: n_turbines must be at least 1, not {self.n_turbines!r}")


class Zones:
    """The zones of a farm: where its turbines may stand, each in its own. Used in place of a ``Boundary``."""

    def __init__(self, zones: Sequence[Zone]) -> None:
        if not zones:
            raise ArgumentError("a farm of zones needs at least one zone")
        self.zones = tuple(zones)
        corners = np.array([zone.boundary.bounds for zone in self.zones])
        west, south = (float(value) for value in corners[:, :2].min(axis=0))
        east, north = (float(value) for value in corners[:, 2:].max(axis=0))
        self.bounds: tuple[float, float, float, float] = (west, south, east, north)
        self.origin = np.array([west + east, south + north]) / 2

    @property
    def n_turbines(self) -> int:
        """How many turbines stand in all zones together."""
        return sum(zone.n_turbines for zone in self.zones)

    def inside(self, x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether each point is in any of the zones, or on an edge but for rounding."""
        return np.any([zone.boundary.inside(x, y) for zone in self.zones], axis=0)

    def __repr__(self) -> str:
        west, south, east, north = self.bounds
        size = f"{(east - west) / 1000:.3g} km x {(north - south) / 1000:.3g} km"
        return f"<Zones: {plural(len(self.zones), 'zone')}, {plural(self.n_turbines, 'turbine')}, {size}>"


class Areas(NamedTuple):
    """Boundaries for compiled loops, relative to one origin; those of zone z from ``first[z]`` to ``first[z + 1]``.

    ``edges``, ``discs`` and ``inverted`` are those of ``Boundary.parts``.
    """

    edges: FloatArray
    first_edge: IntArray
    discs: FloatArray
    first_disc: IntArray
    inverted: npt.NDArray[np.bool_]


def areas_of(boundaries: Sequence[Boundary], origin: FloatArray) -> Areas:
    """The boundaries of all zones, in one frame."""
    edges, discs = [], []
    for boundary in boundaries:
        shift = boundary.origin - origin
        edges.append(boundary.edges + np.tile(shift, 2))
        discs.append(boundary.discs + np.append(shift, (0.0, 0.0)))
    return Areas(
        np.concatenate(edges),
        np.cumsum([0, *map(len, edges)]),
        np.concatenate(discs),
        np.cumsum([0, *map(len, discs)]),
        np.array([boundary.inverted for boundary in boundaries]),
    )
