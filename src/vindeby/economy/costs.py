"""What a layout costs: turbines by type, foundations by depth, cables, and what does not depend on the layout.

``Costs`` are all figures. What depends on the place of each turbine is summed up turbine by turbine (``places``), so
that a search which moves one needs to look at that one only. Cables are routed now and then, by ``economy.cables``; in
between a search keeps the tree that was routed (``CableTree``), whose cost follows the places of its ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import FloatArray, IntArray
from vindeby.economy.depth import DepthGrid
from vindeby.economy.finance import capital_recovery, lcoe_eur_per_mwh, npv_eur
from vindeby.errors import ArgumentError

Sloped = tuple[FloatArray, FloatArray, FloatArray]
"""A quantity of each turbine, and how it changes as that one goes to the east and to the north, per metre."""


@dataclass(frozen=True, eq=False)
class Foundation:
    """The cost (EUR) of one foundation by depth (m): a table, or a polynomial.

    ``table`` are depths, which increase, and the cost at each; straight lines between them, and beyond the ends the
    cost at the end. ``polynomial`` are the coefficients, the constant first. Of masses, pass masses times the price per
    kg. ``fixed`` is added to each, e.g. a transition piece.
    """

    grid: DepthGrid
    table: tuple[Sequence[float], Sequence[float]] | None = None
    polynomial: Sequence[float] | None = None
    fixed: float = 0.0
    depths: FloatArray = field(init=False)
    """Of the table; empty with a polynomial."""
    numbers: FloatArray = field(init=False)
    """The costs of the table, or the coefficients, with the fixed part."""

    def __post_init__(self) -> None:
        if (self.table is None) == (self.polynomial is None):
            raise ArgumentError("a foundation has a table or a polynomial of depth; give one of the two")
        by_depth, given = self.table or ((), self.polynomial or ())
        depths, numbers = np.array(by_depth, np.float64), np.array(given, np.float64)
        if self.table is not None and not (
            depths.ndim == 1
            and depths.shape == numbers.shape
            and len(depths) > 1
            and (np.diff(depths) > 0.0).all()
        ):
            raise ArgumentError(
                "the table of a foundation needs two or more depths that increase, and as many costs"
            )
        if not (len(numbers) and np.isfinite([*depths, *numbers, self.fixed]).all()):
            raise ArgumentError("the depths and costs of a foundation must be finite numbers")
        numbers[: None if len(depths) else 1] += self.fixed
        object.__setattr__(self, "depths", depths)
        object.__setattr__(self, "numbers", numbers)

    def at_depth(self, depth: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The cost at each depth (EUR), and how it changes with the depth (EUR per m)."""
        d = np.asarray(depth, np.float64)
        depths, numbers = self.depths, self.numbers
        if len(depths):
            step = np.clip(np.searchsorted(depths, d, side="right") - 1, 0, len(depths) - 2)
            slope = (numbers[step + 1] - numbers[step]) / (depths[step + 1] - depths[step])
            within = np.clip(d, depths[0], depths[-1])
            return numbers[step] + slope * (within - depths[step]), np.where(within == d, slope, 0.0)
        eur, slope = np.zeros(d.shape), np.zeros(d.shape)
        for number in numbers[::-1]:
            eur, slope = eur * d + number, slope * d + eur
        return eur, slope

    def at(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Sloped:
        """The cost at each place (EUR), and its gradient (EUR per m)."""
        depth, east, north = self.grid.at(x, y)
        eur, by_depth = self.at_depth(depth)
        return eur, by_depth * east, by_depth * north


@dataclass(frozen=True, eq=False)
class CableTree:
    """Cables as they were routed for some layout, kept while its turbines move a little: each stays between its ends.

    ``ends`` (edges, 2) are the two ends of each cable: ``i`` is turbine ``i`` of the layout, ``-1 - s`` is substation
    ``s``. ``eur_per_m`` (edges) is what a metre of it costs, by its type. ``substations`` (substations, 2) are places
    (m). ``detour_m`` (edges) is how much longer the routed cable is than the straight line, e.g. around an obstacle;
    it is kept, so that ``eur`` of the layout that was routed is what its routes cost.

    A router is a function of all places ``(x, y)`` that gives such a tree. Its order of turbines is that of the
    layout, with what stands already of the same farm after it.
    """

    ends: IntArray
    eur_per_m: FloatArray
    substations: FloatArray
    detour_m: FloatArray

    def _lines(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """From the first to the second end of each cable, (2, edges), and how far apart they are."""
        east = np.concatenate([x, self.substations[::-1, 0]])  # -1 - s counts from the end
        north = np.concatenate([y, self.substations[::-1, 1]])
        first, second = self.ends.T
        line = np.stack([east[second] - east[first], north[second] - north[first]])
        return line, np.hypot(line[0], line[1])

    def eur(self, x: FloatArray, y: FloatArray) -> float:
        """What the cables cost with turbines at these places."""
        return float(self.eur_per_m @ (self._lines(x, y)[1] + self.detour_m))

    def gradient(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How the cost changes as each turbine goes to the east and to the north (EUR per m)."""
        line, length = self._lines(x, y)
        pull = self.eur_per_m * line / np.where(length > 0.0, length, 1.0)
        many = len(x) + len(self.substations)
        first, second = (self.ends % many).T
        east, north = np.zeros((2, many))
        for total, part in ((east, pull[0]), (north, pull[1])):
            np.add.at(total, second, part)
            np.subtract.at(total, first, part)
        return east[: len(x)], north[: len(x)]


@dataclass(frozen=True)
class CostParts:
    """What a layout costs, by part: all in EUR, but ``opex`` in EUR per year."""

    turbines: float
    foundations: float
    cables: float
    fixed: float
    opex: float

    @property
    def capex(self) -> float:
        """All that is spent before the first year."""
        return self.turbines + self.foundations + self.cables + self.fixed


@dataclass(frozen=True, eq=False)
class Costs:
    """All figures that make the cost of a layout.

    ``turbine_capex`` (EUR) and ``turbine_opex`` (EUR per year) are one number for all turbine types or one for each.
    ``fixed`` (EUR) does not depend on the layout. ``discount`` is a fraction, see ``finance``.
    """

    turbine_capex: float | Sequence[float] | FloatArray
    turbine_opex: float | Sequence[float] | FloatArray
    discount: float
    years: float
    foundation: Foundation | None = None
    fixed: float = 0.0

    def __post_init__(self) -> None:
        for name in ("turbine_capex", "turbine_opex", "fixed"):
            if not np.isfinite(np.asarray(getattr(self, name), np.float64)).all():
                raise ArgumentError(f"{name} must be finite, not {getattr(self, name)!r}")
        object.__setattr__(self, "_recovery", capital_recovery(self.discount, self.years))

    @property
    def recovery(self) -> float:
        """The capital recovery factor: the share of the capex that is repaid each year."""
        return self._recovery  # type: ignore[attr-defined, no-any-return]

    def of_type(self, types: IntArray) -> FloatArray:
        """The yearly cost (EUR) of each turbine, but for its foundation."""
        capex, opex = (np.asarray(given, np.float64) for given in (self.turbine_capex, self.turbine_opex))
        yearly = self.recovery * capex + opex
        return yearly[types] if yearly.ndim else np.full(len(types), float(yearly))

    def places(self, x: FloatArray, y: FloatArray, types: IntArray) -> Sloped:
        """What each turbine costs per year where it stands (EUR), with its foundation; and the gradient (EUR per m)."""
        yearly = self.of_type(types)
        if self.foundation is None:
            return yearly, np.zeros(len(x)), np.zeros(len(x))
        eur, east, north = self.foundation.at(x, y)
        return yearly + self.recovery * eur, self.recovery * east, self.recovery * north

    def parts(self, x: FloatArray, y: FloatArray, types: IntArray, cables_eur: float = 0.0) -> CostParts:
        """What a layout costs, by part."""
        each = [np.asarray(given, np.float64) for given in (self.turbine_capex, self.turbine_opex)]
        capex, opex = (
            float((given[types] if given.ndim else np.full(len(types), given)).sum()) for given in each
        )
        foundations = 0.0 if self.foundation is None else float(self.foundation.at(x, y)[0].sum())
        return CostParts(capex, foundations, cables_eur, self.fixed, opex)

    def yearly_eur(self, parts: CostParts) -> float:
        """The yearly cost: capex times the capital recovery factor, and opex."""
        return self.recovery * parts.capex + parts.opex

    def lcoe_eur_per_mwh(self, parts: CostParts, aep_gwh: float) -> float:
        """The levelised cost of energy."""
        return lcoe_eur_per_mwh(parts.capex, parts.opex, aep_gwh, self.discount, self.years)

    def npv_eur(self, parts: CostParts, aep_gwh: float, price_eur_per_mwh: float) -> float:
        """The net present value where energy is sold at a price."""
        return npv_eur(parts.capex, parts.opex, aep_gwh, self.discount, self.years, price_eur_per_mwh)


def hull_area_m2(x: FloatArray, y: FloatArray) -> float:
    """The area that a layout uses: that of the convex hull of its turbines."""
    return float(shapely.MultiPoint(np.column_stack([x, y])).convex_hull.area)
