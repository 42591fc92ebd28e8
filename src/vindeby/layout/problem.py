"""A layout problem: the number of turbines, the area, the spacing, and the objective.

A ``LayoutProblem`` holds no search state. Everything a method may return is checked against it, so that no layout
that breaks its rules ever leaves this part.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.area.boundary import Boundary, Zone, Zones, worst_pair
from vindeby.layout.valuation import Valuation
from vindeby.text import plural
from vindeby.units import MWH_PER_GWH, TOLERANCE_M
from vindeby.wake import GriddedSite, WindFarm, WindGrid
from vindeby.wake.gathering import AtOnce, Evaluator


@dataclass(frozen=True, eq=False)
class Layout:
    """Turbine positions (metres) and the type of each turbine."""

    x: FloatArray
    y: FloatArray
    types: IntArray

    def __repr__(self) -> str:
        count = len(set(np.asarray(self.types).tolist()))
        several = f" of {count} types" if count > 1 else ""
        km = [f"{np.ptp(at) / 1000:.3g} km" for at in (self.x, self.y) if len(at)]
        return f"<Layout: {plural(len(self.x), 'turbine')}{several}{', ' if km else ''}{' x '.join(km)}>"

    @staticmethod
    def of(x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> Layout:
        """Return a layout of lists; a single type may stand for all turbines."""
        px, py = np.array(x, np.float64), np.array(y, np.float64)
        each = np.array(np.broadcast_to(np.asarray(types, np.int64), px.shape))
        if px.ndim != 1 or px.shape != py.shape:
            raise ArgumentError(f"x and y must be lists of one length, not of shapes {px.shape}, {py.shape}")
        return Layout(px, py, each)


def joined(first: Layout, second: Layout) -> Layout:
    return Layout(
        np.append(first.x, second.x), np.append(first.y, second.y), np.append(first.types, second.types)
    )


GUESSED = 64
"""Places in each zone from which the price of an LCOE is guessed."""


def _refuse_area_outside(grid: WindGrid, area: Boundary, name: str) -> None:
    """Raise ArgumentError if an area is not within the grid of the local wind, so that no search leaves it."""
    if area.circle is None:
        corners = area.edges[:, :2] + area.origin
        what, x, y = "corner", corners[:, 0], corners[:, 1]
    else:
        west, south, east, north = area.bounds
        what, (mid_x, mid_y) = "end (west, south, east, north)", area.circle[0]
        x, y = np.array([west, mid_x, east, mid_x]), np.array([mid_y, south, mid_y, north])
    grid.refuse_outside(x, y, f"farm {name}: boundary {what}")


class Report(threading.local):
    """A counter of a search's progress, which does not affect the search, with a listener.

    Searches in several threads are counted apart. ``tell`` is that of the thread in which it was set.

    ``tell`` gets the name of the step, its iterations so far and at most, and the energy of the best layout so far (in
    the wind of ``farm``), or None where that is not known.
    """

    def __init__(self, names: Sequence[str] = (), farm: WindFarm | None = None) -> None:
        self._names, self._farm = names, farm
        self.tell: Callable[..., None] = lambda *_: None
        self.step(0, 0, None)

    def step(self, number: int, of: int, aep_gwh: float | None) -> None:
        """Begin a step of a pipeline, from a layout with this energy."""
        name = self._names[number - 1] if self._names else ""
        self._stage, self._aep = f"{name} (step {number} of {of})" if of > 1 else name, aep_gwh
        self.begin(0)

    def begin(self, iterations: int) -> None:
        """Start counting from 0, up to ``iterations``."""
        self._done, self._iterations = 0, iterations
        self.advance(0)

    def advance(self, iterations: int = 1, farm: WindFarm | None = None, aep: float | None = None) -> None:
        """Count more iterations, which led to an energy (GWh) in the wind states of this farm."""
        self._done += iterations
        if farm is self._farm and aep is not None:
            self._aep = max(aep, self._aep or aep)
        self.tell(self._stage, min(self._done, self._iterations), self._iterations, self._aep)


@dataclass(frozen=True, eq=False)
class LayoutProblem:
    """A farm whose layout is to be found.

    Args:
        farm: What a layout is worth; it also holds the neighbours, if any.
        boundary: Where turbines may stand. With ``Zones`` they stand zone by zone, each in its own.
        n_turbines: How many turbines.
        spacing_m: The least distance between two turbines, or one such distance per turbine type, of which a pair keeps
            the mean; neighbours are kept clear of in the same way.
        name: The name of the farm in messages.
        types: The type of each turbine in the order in which they are placed, shape (n_turbines,); without it all
            are of type 0, or, for smart start with several types, of any.
        mix: Instead, how many of each type there are: for the farm, or a row for each zone.
        standing: Turbines of the same farm that this search does not move: their energy counts.
        report: Counts how far a search is, for a listener.
        stated: The same farm in finer wind states, in which the energy of what was found is stated; by default
            ``farm``.
        valuation: What is searched for other than the most energy.
        evaluate: What evaluates layouts: each at once, or together with those of other searches.
    """

    farm: WindFarm
    boundary: Boundary | Zones
    n_turbines: int
    spacing_m: float | Sequence[float] = 0.0
    name: str = "farm"
    types: Sequence[int] | None = None
    mix: Sequence[int] | Sequence[Sequence[int]] | None = None
    standing: Layout | None = None
    stated: WindFarm | None = None
    report: Report = field(default_factory=Report)
    valuation: Valuation | None = None
    evaluate: Evaluator = field(default_factory=AtOnce)

    def __post_init__(self) -> None:
        if self.n_turbines < 1:
            raise ArgumentError(f"n_turbines must be a whole number >= 1, not {self.n_turbines!r}")
        given = np.asarray(self.spacing_m, np.float64)
        if (
            given.shape not in ((), (len(self.farm.turbines),))
            or not (np.isfinite(given) & (given >= 0)).all()
        ):
            raise ArgumentError(
                f"spacing_m must be one distance >= 0, or one for each of {len(self.farm.turbines)} turbine types, "
                f"not {self.spacing_m!r}"
            )
        if isinstance(self.boundary, Zones) and self.boundary.n_turbines != self.n_turbines:
            raise ArgumentError(
                f"n_turbines is {self.n_turbines}, but the zones have {self.boundary.n_turbines}"
            )
        if self.types is not None and (self.mix is not None or len(self.zones) > 1):
            raise ArgumentError(
                "types are for one boundary and no mix; with zones or several types, give a mix"
            )
        if self.mix is not None:
            check_mix(self.mix, [zone.n_turbines for zone in self.zones], len(self.farm.turbines))
        if self.types is not None:
            types = np.asarray(self.types)
            if types.shape != (self.n_turbines,) or types.min() < 0 or types.max() >= len(self.farm.turbines):
                raise ArgumentError(
                    f"types must hold one type index for each of {self.n_turbines} turbines, not {self.types!r}"
                )
        for zone in self.zones:
            self._refuse_outside_grids(zone.boundary)

    def _refuse_outside_grids(self, area: Boundary) -> None:
        if isinstance(self.farm.site, GriddedSite):
            _refuse_area_outside(self.farm.site.grid, area, self.name)
        if self.valuation is not None and (foundation := self.valuation.costs.foundation) is not None:
            foundation.grid.refuse_outside(area.bounds, f"farm {self.name}: its boundary")

    def __repr__(self) -> str:
        low, high = self.spacing_by_type.min(), self.spacing_by_type.max()
        spacing = f"{low:g} m" if low == high else f"{low:g} to {high:g} m"
        count = plural(self.n_turbines, "turbine")
        return f"<LayoutProblem {self.name!r}: {count}, spacing {spacing}, in {self.boundary!r}>"

    @cached_property
    def spacing_by_type(self) -> FloatArray:
        """The spacing of each turbine type in metres; a pair satisfies the mean of both."""
        return np.array(np.broadcast_to(np.asarray(self.spacing_m, np.float64), (len(self.farm.turbines),)))

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """The zones of the farm; a plain boundary is a single zone."""
        if isinstance(self.boundary, Zones):
            return self.boundary.zones
        return (Zone(self.boundary, self.n_turbines),)

    @cached_property
    def zone_of(self) -> IntArray:
        """The zone of each turbine."""
        return np.repeat(np.arange(len(self.zones)), [zone.n_turbines for zone in self.zones])

    @cached_property
    def neighbours(self) -> Layout:
        """The existing turbines: first those of the same farm, then those of others."""
        beside = self.farm.neighbours
        others = Layout.of([], []) if beside is None else Layout.of(beside.x, beside.y, beside.types)
        return others if self.standing is None else joined(self.standing, others)

    @property
    def counted(self) -> int:
        """The number of turbines whose energy counts: placed ones, and existing ones of the same farm."""
        return self.n_turbines + (0 if self.standing is None else len(self.standing.x))

    def remaining(self) -> Remaining:
        """Return the turbines to be placed in each zone and of each type, before any is placed."""
        return Remaining([zone.n_turbines for zone in self.zones], self.mix, len(self.farm.turbines))

    def types_in_order(self) -> IntArray:
        """Return the type of each turbine, if it is fixed; for a mix, one way to distribute it."""
        if self.mix is not None:
            return self.remaining().types_in_order()
        return np.array(np.zeros(self.n_turbines) if self.types is None else self.types, np.int64)

    def aep(self, layout: Layout) -> float:
        """Return the yearly energy of a layout in GWh, with existing turbines of the same farm."""
        whole = self.whole(layout)
        return self.evaluate.aep(self.farm, whole.x, whole.y, whole.types)

    def aep_and_gradient(self, layout: Layout) -> tuple[float, FloatArray, FloatArray]:
        """Return the yearly energy in GWh and its slopes (GWh/m) with x and y, existing turbines included."""
        whole = self.whole(layout)
        return self.evaluate.aep_and_gradient(self.farm, whole.x, whole.y, whole.types)

    def stated_aep(self, layout: Layout) -> float:
        """Return the energy (GWh) to state in a result: in finer wind if there is any, on processors."""
        whole = self.whole(layout)  # not by farm.aep: here places are judged by the spacing, which may be 0
        return float((self.stated or self.farm).turbine_aep(whole.x, whole.y, whole.types).sum())

    @cached_property
    def by_place(self) -> Valuation | None:
        """The valuation if it affects the best positions of turbines of given types; None if only energy counts.

        As long as there is no layout, the price of an LCOE is a guess: for turbines in the free wind all over the area.
        """
        valuation = self.valuation
        if valuation is None or not valuation.by_place:
            return None
        if valuation.objective != "lcoe" or valuation.price is not None:
            return valuation
        places = self._all_over
        each = valuation.costs.places(places.x, places.y, places.types).mean()
        yearly = self.n_turbines * each + valuation.costs.recovery * valuation.costs.fixed
        lcoe = float(yearly / (MWH_PER_GWH * self.free_aep_gwh))
        return replace(valuation, price=lcoe / valuation.weight)

    @cached_property
    def _all_over(self) -> Layout:
        drawn = [zone.boundary.sample(np.random.default_rng(0), GUESSED) for zone in self.zones]
        x, y = np.hstack([np.stack(places) for places in drawn])
        return Layout(x, y, np.resize(self.types_in_order(), len(x)))

    @cached_property
    def free_aep_gwh(self) -> float:
        """The approximate yearly energy (GWh) of the farm without wakes, with turbines all over the area."""
        places = self._all_over
        return self.farm.free_aep_at(places.x, places.y, places.types) / len(places.x) * self.n_turbines

    def valued_at(self, layout: Layout) -> Valuation | None:
        """Return the valuation for a stage that begins with this layout; None if only energy counts."""
        if self.by_place is None:
            return None
        whole = self.whole(layout)
        needs_aep = self.by_place.objective == "lcoe"
        return self.by_place.at(whole.x, whole.y, whole.types, self.aep(layout) if needs_aep else 0.0)

    def worth(self, layout: Layout, aep_gwh: float | None = None) -> float:
        """Return the value by which layouts of the same turbines are compared, the larger the better.

        Cables are routed for it.
        """
        aep_gwh = self.aep(layout) if aep_gwh is None else aep_gwh
        if self.by_place is None:
            return aep_gwh
        whole = self.whole(layout)
        return self.by_place.worth(self.by_place.parts(whole.x, whole.y, whole.types), aep_gwh)

    def objective(self, layout: Layout, aep_gwh: float) -> float:
        """Return the objective of a layout with this energy, in its unit; without a valuation, the energy."""
        if self.valuation is None:
            return aep_gwh
        whole = self.whole(layout)
        parts = self.valuation.parts(whole.x, whole.y, whole.types)
        return self.valuation.objective_of(parts, aep_gwh)

    def whole(self, layout: Layout) -> Layout:
        """Return the layout followed by the existing turbines of the same farm."""
        return layout if self.standing is None else joined(layout, self.standing)

    def shortfalls(self, layout: Layout) -> tuple[float, float]:
        """Return how far (m) the outermost turbine is outside and the closest pair too close; 0 if feasible."""
        room = np.stack([zone.boundary.distances(layout.x, layout.y) for zone in self.zones])
        has_zones = len(layout.x) == self.n_turbines  # a layout of another size has none
        room = room[self.zone_of, np.arange(self.n_turbines)] if has_zones else room.max(axis=0)
        outside = float(max(0.0, -room.min()))
        beside = self.neighbours
        x, y = np.append(layout.x, beside.x), np.append(layout.y, beside.y)
        need = self.spacing_by_type[np.append(layout.types, beside.types)]
        return outside, float(max(0.0, worst_pair(x, y, need, len(layout.x))))

    def is_feasible(self, layout: Layout) -> bool:
        """Return whether a layout satisfies the constraints, except for rounding."""
        try:
            self.refuse_infeasible(layout, "")
        except TaskError:
            return False
        return True

    def refuse_infeasible(self, layout: Layout, method: str) -> None:
        """Raise TaskError unless the layout satisfies the constraints."""
        if len(layout.x) != self.n_turbines:
            raise TaskError(
                f"farm {self.name}: {method} returned {len(layout.x)} turbines, not {self.n_turbines}; "
                "this is a mistake in the method"
            )
        left = self.remaining().by_type
        np.subtract.at(left, (self.zone_of * (len(left) > 1), layout.types), 1)
        if self.mix is not None and left.any():
            raise TaskError(
                f"farm {self.name}: {method} changed how many turbines of each type there are; "
                "this is a mistake in the method"
            )
        outside, too_near = self.shortfalls(layout)
        if not max(outside, too_near) <= TOLERANCE_M:
            raise TaskError(
                f"farm {self.name}: {method} found no layout that keeps to the rules (a turbine {outside:.3g} m "
                f"outside, a pair {too_near:.3g} m too near); begin with smart-start, or use fewer turbines or a "
                "smaller spacing"
            )


Mix = Sequence[int] | Sequence[Sequence[int]]


def check_mix(mix: Mix, zones: Sequence[int], types: int) -> None:
    """Raise ArgumentError for a mix whose turbines or types are not as many as there are."""
    rows = np.atleast_2d(np.asarray(mix))
    totals = [sum(zones)] if np.ndim(mix) == 1 else list(zones)
    if (
        np.ndim(mix) not in (1, 2)
        or rows.dtype.kind not in "iu"
        or rows.shape != (len(totals), types)
        or rows.min() < 0
        or rows.sum(axis=1).tolist() != totals
    ):
        raise ArgumentError(
            f"mix must hold the number of turbines of each of {types} types, {sum(zones)} in all, for the farm or for "
            f"each zone; not {mix!r}"
        )


class Remaining:
    """The turbines still to be placed: in each zone, and of each type."""

    def __init__(self, zones: Sequence[int], mix: Mix | None, types: int) -> None:
        self.zone = np.array(zones, np.int64)
        many = int(self.zone.sum())
        self.by_type = np.atleast_2d(np.array([many] * types if mix is None else mix, np.int64))

    def open(self) -> BoolArray:
        """Return whether another turbine of a type can be placed in a zone; (zones, types)."""
        return np.asarray((self.zone[:, None] > 0) & (self.by_type > 0))

    def types(self) -> IntArray:
        """Return the types of which any turbine is left to be placed."""
        return np.flatnonzero(self.by_type.any(axis=0))

    def take(self, zone: int, type_index: int) -> None:
        """Count a turbine of a type as placed in a zone."""
        self.zone[zone] -= 1
        self.by_type[zone if len(self.by_type) > 1 else 0, type_index] -= 1

    def types_in_order(self) -> IntArray:
        """Return a type for each turbine, zone by zone; a farm's mix is spread evenly over its turbines."""
        parts = []
        for row in self.by_type:
            types = np.repeat(np.arange(len(row)), row)
            if len(self.by_type) == 1 and len(self.zone) > 1:
                # Where in its type's own sequence each turbine stands decides, so that every zone gets its share.
                share = np.concatenate([(np.arange(many) + 0.5) / max(many, 1) for many in row])
                types = types[np.argsort(share, kind="stable")]
            parts.append(types)
        return np.concatenate(parts)
