"""The checks of a layout: finite positions in metres, within the site, of known turbine types.

Checked layouts are copies, so that their arrays can be written to: loops are compiled again for arrays that cannot (see
``wind_of``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.wake.sites.gridded_site import GriddedSite
from vindeby.wake.sites.site import Site
from vindeby.wake.turbines.turbine import Turbine

Places = tuple[FloatArray, FloatArray, IntArray]
"""x, y and type of every turbine, neighbours last."""


class LayoutChecks:
    """The checks of layouts for a site and its turbine types; ArgumentError for an invalid layout."""

    def __init__(self, site: Site, turbines: Sequence[Turbine]) -> None:
        self._site, self._turbines = site, turbines

    def layout(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike, what: str = "turbine"
    ) -> Places:
        """Return x, y and types of a layout, each of shape (turbines,)."""
        px, py = _numbers(x), _numbers(y)
        if px.ndim != 1 or px.shape != py.shape:
            raise ArgumentError(
                f"x and y must be lists of the same length, not of shapes {px.shape} and {py.shape}"
            )
        for name, values in (("x", px), ("y", py)):
            if not np.isfinite(values).all():
                place = int(np.argmin(np.isfinite(values)))
                raise ArgumentError(
                    f"{name}[{place}] is {values[place]}; positions must be finite numbers of metres"
                )
        if isinstance(self._site, GriddedSite):
            self._site.grid.refuse_outside(px, py, what)
        return px, py, self.types(types, len(px))

    def types(self, types: npt.ArrayLike, count: int) -> IntArray:
        given = _indices(types)
        if given.shape not in ((), (count,)) or (given.dtype.kind not in "iu" and given.size):
            raise ArgumentError(f"types must be one index or {count}, whole numbers, not {types!r}")
        checked = np.array(np.broadcast_to(given, (count,)), np.int64, order="C")
        if count and (checked.min() < 0 or checked.max() >= len(self._turbines)):
            raise ArgumentError(f"types must be from 0 to {len(self._turbines) - 1}, not {types!r}")
        return checked

    def batch(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike) -> Places:
        """Return x, y and types of many layouts, each (layouts, turbines), checked together for speed."""
        east, north, kinds = _numbers(x), _numbers(y), _indices(types)
        if east.ndim != 2 or east.shape != north.shape:
            raise ArgumentError(
                f"x and y must both have the shape (layouts, turbines), not {east.shape} and {north.shape}"
            )
        if kinds.ndim == 2 and kinds.shape != east.shape:
            raise ArgumentError(f"types of all layouts must have the shape {east.shape}, not {kinds.shape}")
        if kinds.ndim != 2:
            kinds = np.broadcast_to(self.types(kinds, east.shape[1]), east.shape)
        try:
            px, py, kinds_of_all = self.layout(east.ravel(), north.ravel(), kinds.ravel())
        except ArgumentError:
            if len(east) == 1:
                raise
            for number, layout in enumerate(zip(east, north, kinds, strict=True)):
                try:
                    self.layout(*layout)
                except ArgumentError as wrong:  # with the index of the turbine in its own layout
                    raise ArgumentError(f"layout {number}: {wrong}") from None
            raise
        return px.reshape(east.shape), py.reshape(east.shape), kinds_of_all.reshape(east.shape)

    def refuse_impossible_places(self, x: npt.ArrayLike, y: npt.ArrayLike) -> None:
        """Raise ArgumentError for coincident turbines, and for layouts smaller than a rotor."""
        # Lists of few numbers are faster than arrays.
        east, north = _numbers(x).tolist(), _numbers(y).tolist()
        places = list(zip(east, north, strict=True))
        if len(set(places)) < len(places):
            other = next(i for i, place in enumerate(places) if place in places[:i])
            at = places[other]
            raise ArgumentError(
                f"turbines {places.index(at)} and {other} both stand at ({at[0]:g}, {at[1]:g}); "
                "give each a place of its own"
            )
        radius = 0.5 * min(turbine.rotor_diameter_m for turbine in self._turbines)
        if len(places) > 1 and (extent := max(max(east) - min(east), max(north) - min(north))) < radius:
            raise ArgumentError(
                f"all {len(places)} turbines stand within {extent:.3g} m, less than the radius of a rotor, "
                f"{radius:g} m; give x and y in metres, not in degrees or kilometres"
            )


def _numbers(values: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.array(values, np.float64, order="C", ndmin=1)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ArgumentError(f"x and y must be numbers: {problem}") from None


def _indices(types: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.asarray(types)
    except ValueError as problem:
        raise ArgumentError(f"types must be one index, or one for each turbine: {problem}") from None
