"""The cost of a layout: turbines by type, foundations by depth, cables, and costs of any layout.

``Costs`` are all figures. Cables are routed now and then, by ``economy.cables``; in between a search keeps the tree
that was routed (``CableTree``), whose cost follows the places of its ends. What moves of turbines change in the cost of
foundations and cables, and gradients, are computed by ``layout.moves.place_costs``.

Money over the years is in the annuity form: what is spent before the first year is repaid in equal yearly amounts, each
discounted from the end of its year. Yearly cost and yearly energy are the same in every year. Then the levelised cost
of energy (LCOE) is the price of energy at which the net present value (NPV) is 0 (W. Short, D. J. Packey and T. Holt,
"A manual for the economic evaluation of energy efficiency and renewable energy technologies", NREL/TP-462-5173, 1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import expm1, inf, isfinite, log1p

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.units import MWH_PER_GWH, TOLERANCE_M

Numbers = Sequence[float] | FloatArray


def capital_recovery(discount: float, years: float) -> float:
    """Return the share of an investment repaid each year: r / (1 - (1 + r)^-years), and 1 / years for r = 0.

    ``discount`` is a fraction: 0.0661 for 6.61 %.
    """
    if not (isfinite(discount) and discount > -1.0):
        raise ArgumentError(f"discount must be a fraction above -1, e.g. 0.0661 for 6.61 %, not {discount!r}")
    if not (isfinite(years) and years > 0.0):
        raise ArgumentError(f"years must be above 0, not {years!r}")
    return 1.0 / years if discount == 0.0 else discount / -expm1(-years * log1p(discount))


@dataclass(frozen=True, eq=False)
class DepthGrid:
    """Water depths (m, positive below the surface) at the points of a grid, bilinear between them.

    ``x`` and ``y`` (metres, in the frame of the layouts) increase, in steps of any size. ``depth`` is over (x, y), in
    this order.
    """

    x: FloatArray
    y: FloatArray
    depth: FloatArray

    def __post_init__(self) -> None:
        """Check the values and replace them by arrays."""
        for name in ("x", "y", "depth"):
            array = np.ascontiguousarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, array)
            if not np.isfinite(array).all():
                raise ArgumentError(f"{name} of a depth grid must be finite numbers")
        for name, axis in (("x", self.x), ("y", self.y)):
            if axis.ndim != 1 or len(axis) < 2 or not (np.diff(axis) > 0.0).all():
                raise ArgumentError(f"{name} of a depth grid must be two or more numbers that increase")
        shape = (len(self.x), len(self.y))
        if self.depth.shape != shape:
            raise ArgumentError(f"the depths must be over (x, y), of shape {shape}, not {self.depth.shape}")

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The west, south, east and north ends of the grid."""
        return float(self.x[0]), float(self.y[0]), float(self.x[-1]), float(self.y[-1])

    def at(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the depth at each position; beyond the grid, the nearest cell is extrapolated."""
        i, right = _cell(self.x, np.asarray(x, np.float64))
        j, up = _cell(self.y, np.asarray(y, np.float64))
        below, above = (
            self.depth[i, k] + right * (self.depth[i + 1, k] - self.depth[i, k]) for k in (j, j + 1)
        )
        return np.asarray(below + up * (above - below))

    def refuse_outside(self, bounds: Sequence[float], what: str) -> None:
        """Raise ArgumentError for an area that is not within the grid, except for rounding."""
        (west, south, east, north), slack = self.bounds, 10 * TOLERANCE_M
        low_x, low_y, high_x, high_y = bounds
        if low_x < west - slack or low_y < south - slack or high_x > east + slack or high_y > north + slack:
            raise ArgumentError(
                f"{what}, from ({low_x:.10g}, {low_y:.10g}) to ({high_x:.10g}, {high_y:.10g}), is outside the grid of "
                f"depths, from ({west:.10g}, {south:.10g}) to ({east:.10g}, {north:.10g}); give a larger grid"
            )


def _cell(axis: FloatArray, value: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the interval of an axis that contains a value, and its position in that (0 to 1)."""
    step = np.clip(np.searchsorted(axis, value, side="right") - 1, 0, len(axis) - 2)
    return step, (value - axis[step]) / (axis[step + 1] - axis[step])


@dataclass(frozen=True, eq=False)
class Foundation:
    """The cost (EUR) of one foundation by depth (m): a table, or a polynomial.

    ``table`` are depths, which increase, and the cost at each; straight lines between them, and beyond the ends the
    cost at the end. ``polynomial`` are the coefficients, the constant first. Of masses, pass masses times the price per
    kg. ``fixed`` is added to each, e.g. a transition piece.
    """

    grid: DepthGrid
    table: tuple[Numbers, Numbers] | None = None
    polynomial: Numbers = (0.0,)
    fixed: float = 0.0
    depths: FloatArray = field(init=False)
    """The depths of the table; empty with a polynomial."""
    numbers: FloatArray = field(init=False)
    """The costs of the table, or the coefficients, with the fixed part."""

    def __post_init__(self) -> None:
        given = ((), self.polynomial) if self.table is None else self.table
        depths, numbers = (np.array(one, np.float64) for one in given)
        rising = depths.shape == numbers.shape and len(depths) > 1 and (np.diff(depths) > 0.0).all()
        if self.table is not None and not rising:
            raise ArgumentError(
                "the table of a foundation needs two or more depths that increase, and as many costs"
            )
        if not (len(numbers) and np.isfinite([*depths, *numbers, self.fixed]).all()):
            raise ArgumentError("the depths and costs of a foundation must be finite numbers")
        numbers[: None if len(depths) else 1] += self.fixed
        object.__setattr__(self, "depths", depths)
        object.__setattr__(self, "numbers", numbers)

    def at_depth(self, depth: npt.ArrayLike) -> FloatArray:
        """Return the cost at each depth (EUR)."""
        given = np.asarray(depth, np.float64)
        if len(self.depths):
            return np.asarray(np.interp(given, self.depths, self.numbers))
        return np.asarray(np.polynomial.polynomial.polyval(given, self.numbers))


@dataclass(frozen=True, eq=False)
class CableTree:
    """Cables routed for some layout, which follow their turbines while these move a little.

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

    def eur(self, x: FloatArray, y: FloatArray) -> float:
        """Return the cost of the cables (EUR) with turbines at these positions."""
        # -1 - s counts from the end
        first, second = np.vstack([np.column_stack([x, y]), self.substations[::-1]])[self.ends.T]
        return float(self.eur_per_m @ (np.hypot(*(second - first).T) + self.detour_m))


@dataclass(frozen=True)
class CostParts:
    """The cost of a layout by part: all in EUR, except ``opex`` in EUR per year."""

    turbines: float
    foundations: float
    cables: float
    fixed: float
    opex: float

    @property
    def capex(self) -> float:
        """All costs before the first year (EUR)."""
        return self.turbines + self.foundations + self.cables + self.fixed


@dataclass(frozen=True, eq=False)
class Costs:
    """All figures that determine the cost of a layout.

    ``turbine_capex`` (EUR) and ``turbine_opex`` (EUR per year) are one number for all turbine types or one for each.
    ``fixed`` (EUR) does not depend on the layout. ``discount`` is a fraction.
    """

    turbine_capex: float | Numbers
    turbine_opex: float | Numbers
    discount: float
    years: float
    foundation: Foundation | None = None
    fixed: float = 0.0
    recovery: float = field(init=False)
    """The capital recovery factor: the share of the capex that is repaid each year."""

    def __post_init__(self) -> None:
        for name in ("turbine_capex", "turbine_opex", "fixed"):
            if not np.isfinite(np.asarray(getattr(self, name), np.float64)).all():
                raise ArgumentError(f"{name} must be finite, not {getattr(self, name)!r}")
        object.__setattr__(self, "recovery", capital_recovery(self.discount, self.years))

    def foundations(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the cost of each turbine's foundation (EUR)."""
        if self.foundation is None:
            return np.zeros(len(x))
        return self.foundation.at_depth(self.foundation.grid.at(x, y))

    def places(self, x: FloatArray, y: FloatArray, types: IntArray) -> FloatArray:
        """Return the yearly cost of each turbine at its position (EUR per year), with its foundation."""
        capex, opex = (_of_type(given, types) for given in (self.turbine_capex, self.turbine_opex))
        return self.recovery * (capex + self.foundations(x, y)) + opex

    def parts(self, x: FloatArray, y: FloatArray, types: IntArray, cables_eur: float = 0.0) -> CostParts:
        """Return the cost of a layout by part."""
        capex, opex = (
            float(_of_type(given, types).sum()) for given in (self.turbine_capex, self.turbine_opex)
        )
        return CostParts(capex, float(self.foundations(x, y).sum()), cables_eur, self.fixed, opex)

    def yearly_eur(self, parts: CostParts) -> float:
        """Return the yearly cost: capex times the capital recovery factor, plus opex."""
        return self.recovery * parts.capex + parts.opex

    def lcoe_eur_per_mwh(self, parts: CostParts, aep_gwh: float) -> float:
        """Return the levelised cost of energy: yearly cost per yearly energy; infinite without energy."""
        return inf if aep_gwh <= 0.0 else self.yearly_eur(parts) / (MWH_PER_GWH * aep_gwh)

    def npv_eur(self, parts: CostParts, aep_gwh: float, price_eur_per_mwh: float) -> float:
        """Return the net present value (EUR) if energy is sold at a price."""
        yearly = MWH_PER_GWH * aep_gwh * price_eur_per_mwh - parts.opex
        return yearly / self.recovery - parts.capex


def _of_type(given: float | Numbers, types: IntArray) -> FloatArray:
    rates = np.asarray(given, np.float64)
    return rates[types] if rates.ndim else np.full(len(types), float(rates))


def hull_area_m2(x: FloatArray, y: FloatArray) -> float:
    """Return the area of the turbines' convex hull (A. M. Andrew, Information Processing Letters 9 (1979) 216)."""
    # The hull of GEOS 3.14 lacks corners of turned lattices.
    places, twice = np.sort_complex(x - x[0] + 1j * (y - y[0])).tolist(), 0.0
    for way in (places, places[::-1]):
        corners: list[complex] = []
        for z in way:
            while corners[1:] and ((z - corners[-2]) * (corners[-1] - corners[-2]).conjugate()).imag <= 0.0:
                corners.pop()
            corners.append(z)
        twice += sum((a.conjugate() * b).imag for a, b in pairwise(corners))
    return 0.5 * twice
