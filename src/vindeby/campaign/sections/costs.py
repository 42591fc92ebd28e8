"""The sections ``costs`` and ``objective``: the cost of a wind farm, and the value that layouts are compared by.

Costs are in EUR, depths in metres below the water line. What a file holds is read when the campaign file is, so that
here and in the stored campaign there are only numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from pydantic import AfterValidator, Field, Strict, WithJsonSchema, model_validator
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.packed_lists import digest_of_numbers
from vindeby.campaign.sections.boundary import Vertex
from vindeby.campaign.sections.values import (
    Coordinates,
    Count,
    Depths,
    Name,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Section,
    Text,
    Weights,
    flattened,
    increasing,
    length_of,
    require,
    require_length,
)

if TYPE_CHECKING:
    from vindeby.campaign.sections.farm import Farm

_Figure = TypeVar("_Figure")
ByType: TypeAlias = _Figure | Annotated[dict[Name, _Figure], Field(min_length=1)]
"""A number for all turbine types, or a number for each type by its name."""
Grid = tuple[FloatArray, FloatArray, FloatArray]
"""x, y, and numbers over (x, y)."""


def for_type(given: ByType[float], name: str) -> float:
    """Return the number for a turbine type."""
    return given[name] if isinstance(given, dict) else given


def cropped(x: FloatArray, y: FloatArray, values: FloatArray, area: BaseGeometry) -> Grid:
    """Return the smallest part of a grid that encloses the bounds of an area."""
    west, south, east, north = area.bounds
    columns, rows = _steps_around(x, west, east), _steps_around(y, south, north)
    return x[columns], y[rows], values[columns, rows]


def _steps_around(axis: FloatArray, low: float, high: float) -> slice:
    """Return the slice of an axis, of two points or more, that encloses a range."""
    first = min(max(0, int(axis.searchsorted(low, "right")) - 1), len(axis) - 2)
    return slice(first, max(first + 1, int(axis.searchsorted(high))) + 1)


class TurbineCost(Section):
    """The cost of each turbine: EUR once (capex) and EUR per year (opex), without its foundation."""

    capex: ByType[Positive]
    """EUR for each turbine: one number, or one for each type."""
    opex: ByType[NotNegative] = 0.0
    """EUR per year for each turbine: one number, or one for each type."""


class Depth(Section):
    """Water depth over a grid, linear between its points; and the depths at which turbines may stand."""

    may_be_in_a_file = True
    short_form = {"type": "string", "description": "A netCDF or CSV file."}  # noqa: RUF012

    x: Coordinates
    """Eastings of the grid in metres."""
    y: Coordinates
    """Northings of the grid in metres."""
    values: Annotated[Depths, WithJsonSchema({"type": ["array", "string"]})]
    """Depths in metres, positive below the water line: for each x those of every y, as one list or nested lists."""
    least: NotNegative | None = None
    """No turbine stands where the water is shallower than this, in metres."""
    most: Positive | None = None
    """No turbine stands where the water is deeper than this, in metres."""
    source: Text | None = None
    """The origin of the grid, in words."""

    @property
    def limits(self) -> tuple[float, float] | None:
        """The least and the most depth at which turbines may stand, infinite where only one is limited, if any is."""
        if self.least is None and self.most is None:
            return None
        return -np.inf if self.least is None else self.least, np.inf if self.most is None else self.most

    def array(self) -> FloatArray:
        """Return the depths over (x, y)."""
        return np.array(self.values, np.float64).reshape(len(self.x), len(self.y))

    def around(self, area: BaseGeometry) -> Grid:
        """Return the part of the grid in and around the bounds of an area: x, y, and the depths over (x, y)."""
        return cropped(np.array(self.x), np.array(self.y), self.array(), area)

    def identity_for(self, farm: Farm) -> dict[str, Any]:
        """Return the data that decide a result of this farm: the depths around it and the limits."""
        grid = [digest_of_numbers(part.ravel().tolist()) for part in self.around(farm.boundary.shape())]
        return {"grid": grid, "limits": [self.least, self.most]}

    @model_validator(mode="before")
    @classmethod
    def _nested_lists(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "values" not in data:
            return data
        lengths = {axis: length_of(data.get(axis)) for axis in "xy"}
        return {**data, "values": flattened(data["values"], lengths, "values")}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require_length(len(self.values), "the grid", len(self.x) * len(self.y), "values")
        return self


_Pairs = tuple[tuple[NotNegative, NotNegative], ...]


def _by_depth(pairs: _Pairs) -> _Pairs:
    increasing(tuple(depth for depth, _ in pairs), "sort the table by depth, each once")
    return pairs


class DepthCurve(OneOf):
    """Something that depends on depth: a table of ``[depth, value]``, or a polynomial of the depth in metres."""

    may_be_in_a_file = True
    bare = ("table", (list, tuple))
    short_form = {"type": ["array", "string"]}  # noqa: RUF012

    table: Annotated[_Pairs, Field(min_length=2, max_length=10_000), AfterValidator(_by_depth)] | None = None
    """Pairs of depth in metres and value, linear between them."""
    polynomial: Annotated[tuple[Number, ...], Field(min_length=1, max_length=8)] | None = None
    """The coefficients c0, c1, c2, ... of c0 + c1 d + c2 d^2 + ..."""

    def at(self, depths: FloatArray) -> FloatArray:
        """Return the values at depths; NaN if a table has none."""
        if self.table is not None:
            known, values = np.array(self.table).T
            found: FloatArray = np.interp(depths, known, values, np.nan, np.nan)
        else:
            found = np.polynomial.polynomial.polyval(depths, np.array(self.polynomial))
        return found


class FoundationSection(Section):
    """The cost of each foundation in EUR: by water depth, and a fixed part such as a transition piece."""

    depth: Depth
    """The water depth: a netCDF or CSV file, or a grid; with limits, least and most."""
    cost: DepthCurve | None = None
    """EUR for each foundation by depth."""
    mass: DepthCurve | None = None
    """Mass of each foundation in kg by depth, instead of its cost."""
    price_per_kg: NotNegative | None = None
    """EUR for each kg of the mass."""
    fixed: NotNegative = 0.0
    """EUR for each foundation, whatever the depth."""

    @property
    def curve(self) -> DepthCurve | None:
        """The curve by depth that the cost follows, if any; a mass is to be multiplied by the price per kg."""
        return self.cost or self.mass

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        priced = (self.mass is None) == (self.price_per_kg is None)
        alone = self.cost is None or self.mass is None
        wrong = "cost excludes mass and price_per_kg, which belong together"
        require(priced and alone, wrong, "give cost, or mass and price_per_kg", "mass")
        return self


Substations = (
    Annotated[Count, Field(le=50)] | Annotated[tuple[Vertex, ...], Field(min_length=1, max_length=50)]
)
"""How many substations are placed by the search, or where they stand: ``[x, y]`` each, in metres."""


class Cables(Section):
    """Cables from the turbines to substations, which cost so much per metre and never cross."""

    substations: Substations | Annotated[dict[Name, Substations], Field(min_length=1)]
    """The substations' positions, [x, y] in metres, or their number; or either of these by the name of the farm."""
    types: Annotated[
        tuple[tuple[Annotated[Count, Field(le=1000)], NotNegative], ...], Field(min_length=1, max_length=20)
    ]
    """The cables to choose from: [turbines that the cable carries, EUR per metre]."""
    router: Literal["heuristic", "hgs", "milp"] = "heuristic"
    """How the final cables are found: in about 0.1 s, some seconds, or a minute."""
    seconds: Positive | None = None
    """A time limit for hgs and milp, by the clock; the cables may then differ from run to run."""
    within_area: Annotated[bool, Strict()] = False
    """True if cables must stay inside the farm; they avoid exclusions in any case."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        capacities, prices = zip(*self.types, strict=True)
        rises = list(capacities) == sorted({*capacities}) and list(prices) == sorted(prices)
        remedy = "list the cables by capacity, and leave out those that are not worth it"
        require(rises, "larger cables must cost the same or more", remedy, "types")
        timed = self.seconds is None or self.router != "heuristic"
        require(timed, "the heuristic router has no time limit", "remove it, or write router: hgs", "seconds")
        return self

    def substations_of(self, farm: str) -> int | tuple[Vertex, ...] | None:
        """Return the substations of a farm; None if only other farms have any."""
        return self.substations.get(farm) if isinstance(self.substations, dict) else self.substations

    def identity_for(self, farm: str) -> dict[str, Any]:
        """Return the data that decide a result of this farm; its name does not."""
        rest = self.model_dump(exclude_none=True, exclude={"substations"})
        return {**rest, "substations": [self.substations_of(farm)]}


class CostsSection(Section):
    """The costs of the farm: capex once and opex per year, over its life and at a discount rate."""

    discount: Annotated[Number, Field(ge=0.0, lt=1.0)]
    """The discount rate per year as a fraction, such as 0.0661."""
    years: Annotated[Number, Field(ge=1.0, le=200.0)]
    """The life of the farm in years, 1 or more."""
    turbine: TurbineCost
    """The cost of each turbine."""
    foundation: FoundationSection | None = None
    """The cost of each foundation, and the water depth."""
    cables: Cables | None = None
    """The cables between turbines and substations, and what they cost."""
    fixed: NotNegative = 0.0
    """EUR once for the whole farm, whatever the layout."""

    @property
    def depth(self) -> Depth | None:
        """The water depth, if it is known."""
        return None if self.foundation is None else self.foundation.depth

    def identity_for(self, farm: Farm, turbines: Sequence[str]) -> dict[str, Any]:
        """Return the data that decide a result of this farm with these turbine types; their names do not."""
        rates = [
            [for_type(given, name) for name in turbines] for given in (self.turbine.capex, self.turbine.opex)
        ]
        found = {"finance": [self.discount, self.years], "turbines": rates, "fixed": self.fixed}
        if self.foundation is not None:
            curve = self.foundation.model_dump(exclude_none=True, exclude={"depth"})
            found["foundation"] = {**curve, "depth": self.foundation.depth.identity_for(farm)}
        return found

    @property
    def title(self) -> str:
        """The costs in words: ``25 years at 6 % per year; foundations in 12 to 46 m of water; cables by heuristic``."""
        parts = [f"{self.years:g} years at {100.0 * self.discount:.6g} % per year"]
        if self.depth is not None:
            depths = self.depth.values
            parts.append(f"foundations in {min(depths):.3g} to {max(depths):.3g} m of water")
        parts += [] if self.cables is None else [f"cables by {self.cables.router}"]
        return "; ".join(parts)


_WORDS = {
    "aep": "the most AEP",
    "lcoe": "the lowest levelised cost of energy (LCOE)",
    "npv": "the largest net present value (NPV)",
}
Price = Annotated[
    Positive | Weights,
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array"}, {"type": "string"}]}),
]
"""EUR per MWh: one number, or one for each step of a time series or each state."""
Over = Literal["mean", "worst"]


class Against(NamedTuple):
    """The second of two objectives, to be small: the attribute of results that has it, and its name with the unit."""

    attribute: str
    label: str


AGAINST = {
    "cable_length": Against("cable_length_m", "cable length, m"),
    "lcoe": Against("lcoe_eur_per_mwh", "LCOE, EUR per MWh"),
    "area": Against("area_km2", "area, km2"),
}
"""The second objectives, by their names in a campaign file."""
_OTHER_FORMS = [
    {"enum": [word for word in _WORDS if word != "npv"]},
    {"type": "array", "prefixItems": [{"const": "aep"}, {"enum": [*AGAINST]}]},
]


class Objective(Section):
    """``aep``, ``lcoe``, or ``{of: npv, price: 80}``.

    ``[aep, cable_length]`` are two objectives: each seed is a search with other weights.
    """

    short_form = {"anyOf": _OTHER_FORMS}  # noqa: RUF012

    of: Literal["aep", "lcoe", "npv"] = "aep"
    """The most AEP or NPV, or the lowest LCOE."""
    price: Price | None = None
    """The price of energy in EUR per MWh, for npv: one number, a list, or the name of a CSV file."""
    against: Literal["cable_length", "lcoe", "area"] | None = None
    """The second of two objectives, beside AEP."""
    over: Over | None = None
    """Over scenarios: their mean (by default), or the worst of them."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"of": data}
        if isinstance(data, list | tuple):
            require(len(data) == 2, "is not a pair of objectives", "write two, e.g. [aep, cable_length]")
            return {"of": data[0], "against": data[1]}
        return data

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        wrong = f"{self.of} and against exclude each other"
        require(self.against is None or self.of == "aep", wrong, "give one of them", "against")
        remedy = "write objective: {of: npv, price: 80}, in EUR per MWh"
        together = (self.of == "npv") == (self.price is not None)
        require(together, "npv and price belong together", remedy, "price")
        require(self.price is None or self.mean_price > 0.0, "all prices are 0", "give some above 0", "price")
        return self

    @property
    def mean_price(self) -> float:
        """The mean of all prices; 0 without any."""
        return float(np.mean(self.price or 0.0))

    @property
    def is_priced_by_state(self) -> bool:
        """Return whether the price depends on the wind state."""
        return isinstance(self.price, tuple)

    @property
    def is_of_costs(self) -> bool:
        """Return whether results are compared by their costs, too."""
        return self.of in ("lcoe", "npv")

    @property
    def is_of_energy(self) -> bool:
        """Return whether the value of a result follows from its energy and turbines alone."""
        return not self.is_of_costs and self.over in (None, "mean")

    @property
    def needs_costs(self) -> bool:
        """Return whether the search needs the costs of layouts."""
        return self.is_of_costs or self.against in ("lcoe", "cable_length")

    @property
    def sign(self) -> float:
        """The sign of the objective: 1 if more is better, -1 if less is."""
        return -1.0 if self.of == "lcoe" else 1.0

    @property
    def title(self) -> str:
        """The objective in words."""
        words = _WORDS[self.of]
        if self.against is not None:
            words = f"AEP against {AGAINST[self.against].label}, by a weight for each seed"
        elif self.price is not None:
            words += f" at {self.mean_price:g} EUR per MWh"
        return words if self.over is None else f"{words}, {self.over} over the scenarios"
