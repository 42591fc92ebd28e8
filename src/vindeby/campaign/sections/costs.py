"""What a wind farm costs, and what layouts are compared by: the sections ``costs`` and ``objective``.

Costs are in EUR, depths in metres below the water line. What a file holds is read when the campaign file is, so that
here and in the stored campaign there are only numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, Tag, WithJsonSchema, model_validator
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.packed_lists import digest_of_numbers
from vindeby.campaign.sections.cables import Cables
from vindeby.campaign.sections.time_series import TurbulenceTable
from vindeby.campaign.sections.values import (
    Coordinates,
    Depths,
    Name,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Section,
    Text,
    Weights,
    either,
    require,
)

if TYPE_CHECKING:
    from vindeby.campaign.sections.farm import Farm

ByType = Annotated[
    Annotated[NotNegative, Tag("number")]
    | Annotated[dict[Name, NotNegative], Field(min_length=1), Tag("table")],
    either("number", "table"),
]
"""One number for all turbine types, or one for each, by name."""
PositiveByType = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[dict[Name, Positive], Field(min_length=1), Tag("table")],
    either("number", "table"),
]
Grid = tuple[FloatArray, FloatArray, FloatArray]
"""x, y, and numbers over (x, y)."""


def for_type(given: ByType, name: str) -> float:
    """The number for a turbine type."""
    return given[name] if isinstance(given, dict) else given


def cropped(x: FloatArray, y: FloatArray, values: FloatArray, area: BaseGeometry) -> Grid:
    """The part of a grid between whose points the bounds of an area lie, which it holds."""
    west, south, east, north = area.bounds
    columns, rows = _steps_around(x, west, east), _steps_around(y, south, north)
    return x[columns], y[rows], values[columns, rows]


def _steps_around(axis: FloatArray, low: float, high: float) -> slice:
    """The points of an axis between which a range lies, two or more."""
    first = min(max(0, int(axis.searchsorted(low, "right")) - 1), len(axis) - 2)
    return slice(first, max(first + 1, int(axis.searchsorted(high))) + 1)


class TurbineCost(Section):
    """What each turbine costs: EUR once (capex) and EUR per year (opex), without its foundation."""

    capex: PositiveByType
    """EUR for each turbine: one number, or one for each type."""
    opex: ByType = 0.0
    """EUR per year for each turbine: one number, or one for each type."""


class Depth(Section):
    """Water depth over a grid, linear between its points; and the depths at which turbines may stand."""

    may_be_in_a_file = True
    short_form = {"type": "string", "description": "A netCDF, GeoTIFF or CSV file."}  # noqa: RUF012

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
    """Where the grid comes from, in words."""

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north ends."""
        return self.x[0], self.y[0], self.x[-1], self.y[-1]

    @property
    def limits(self) -> tuple[float, float] | None:
        """The least and the most depth at which turbines may stand, infinite where only one is limited, if any is."""
        if self.least is None and self.most is None:
            return None
        return -np.inf if self.least is None else self.least, np.inf if self.most is None else self.most

    @property
    def in_words(self) -> str:
        """For example ``the grid given, 12 to 48 m deep; turbines stand from 14 m to 40 m``."""
        depths = f"{min(self.values):.3g} to {max(self.values):.3g} m deep"
        to = "on" if self.most is None else f"to {self.most:g} m"
        limits = f"; turbines stand from {self.least or 0.0:g} m {to}" if self.limits else ""
        return f"{self.source or 'the grid given'}, {depths}{limits}"

    def array(self) -> FloatArray:
        """Depths over (x, y)."""
        return np.array(self.values, np.float64).reshape(len(self.x), len(self.y))

    def around(self, area: BaseGeometry) -> Grid:
        """The part of the grid in and around the bounds of an area: x, y, and the depths over (x, y)."""
        return cropped(np.array(self.x), np.array(self.y), self.array(), area)

    def identity_for(self, farm: Farm) -> dict[str, Any]:
        """What decides a result of this farm: the numbers around it and the limits."""
        grid = [digest_of_numbers(part.ravel().tolist()) for part in self.around(farm.boundary.shape())]
        return {"grid": grid, "limits": [self.least, self.most]}

    @model_validator(mode="before")
    @classmethod
    def _nested_lists(cls, data: Any) -> Any:
        rows = data.get("values") if isinstance(data, dict) else None
        if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
            return data
        remedy = "give for each x the depths of every y"
        require(len({len(row) for row in rows}) == 1, "has rows of different lengths", remedy, "values")
        return {**data, "values": [number for row in rows for number in row]}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        points, count = len(self.x) * len(self.y), len(self.values)
        wrong = f"has {count} numbers, but the grid has {len(self.x)} x {len(self.y)} = {points} points"
        require(points == count, wrong, "give one for each point", "values")
        upward = max(self.values) <= 0.0 > min(self.values)
        wrong, remedy = "are all negative: they seem to be heights", "give depths as positive numbers"
        require(not upward, wrong, f"{remedy}; for a file, write positive: up", "values")
        least, most = self.limits or (0.0, 1.0)
        wrong = f"most is {most:g} m and least is {least:g} m"
        require(least < most, wrong, "give the shallower limit as least", "most")
        return self


class DepthCurve(OneOf):
    """Something that depends on depth: a table of ``[depth, value]``, or a polynomial of the depth in metres."""

    may_be_in_a_file = True
    bare = ("table", (list, tuple))
    short_form = {"type": ["array", "string"]}  # noqa: RUF012

    table: (
        Annotated[tuple[tuple[NotNegative, NotNegative], ...], Field(min_length=2, max_length=10_000)] | None
    ) = None
    """Pairs of depth in metres and value, linear between them."""
    polynomial: Annotated[tuple[Number, ...], Field(min_length=1, max_length=8)] | None = None
    """The coefficients c0, c1, c2, ... of c0 + c1 d + c2 d^2 + ..."""

    @model_validator(mode="after")
    def _deeper_and_deeper(self) -> Self:
        for index, ((before, _), (depth, _)) in enumerate(pairwise(self.table or ()), 1):
            wrong = f"depths must increase, but {depth:g} follows {before:g}"
            require(before < depth, wrong, "sort the table by depth, each once", "table", index)
        return self

    @property
    def in_words(self) -> str:
        """For example ``a table from 10 to 60 m``."""
        if self.table is None:
            return "a polynomial of the depth"
        return f"a table from {self.table[0][0]:g} to {self.table[-1][0]:g} m"


class Foundation(Section):
    """What the foundation of each turbine costs in EUR: by depth, and a fixed part such as a transition piece."""

    depth: Depth
    """The water depth: a netCDF, GeoTIFF or CSV file, or a grid; with limits, least and most."""
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
        """What the cost follows, if it depends on the depth; of a mass, to be multiplied by the price per kg."""
        return self.cost or self.mass

    @model_validator(mode="after")
    def _complete(self) -> Self:
        twice = "cost and mass exclude each other"
        require(self.cost is None or self.mass is None, twice, "give one of them", "mass")
        together = (self.mass is None) == (self.price_per_kg is None)
        require(together, "mass and price_per_kg belong together", "give both, or cost", "price_per_kg")
        return self


class Costs(Section):
    """What the farm costs: capex once and opex per year, over its life and at a discount rate."""

    discount: Annotated[Number, Field(ge=0.0, lt=1.0)]
    """The discount rate per year as a fraction, such as 0.0661."""
    years: Annotated[Number, Field(ge=1.0, le=200.0)]
    """The life of the farm in years, 1 or more."""
    turbine: TurbineCost
    """What each turbine costs."""
    foundation: Foundation | None = None
    """What each foundation costs, and the water depth."""
    cables: Cables | None = None
    """The cables between turbines and substations, and what they cost."""
    fixed: NotNegative = 0.0
    """EUR once for the whole farm, whatever the layout."""

    @property
    def depth(self) -> Depth | None:
        """The water depth, where it is known."""
        return None if self.foundation is None else self.foundation.depth

    def identity_for(self, farm: Farm, turbines: Sequence[str]) -> dict[str, Any]:
        """What decides a result of this farm with these turbine types; their names do not."""
        rates = [
            [for_type(given, name) for name in turbines] for given in (self.turbine.capex, self.turbine.opex)
        ]
        found = {"finance": [self.discount, self.years], "turbines": rates, "fixed": self.fixed}
        if self.foundation is not None:
            curve = self.foundation.model_dump(exclude_none=True, exclude={"depth"})
            found["foundation"] = {**curve, "depth": self.foundation.depth.identity_for(farm)}
        return found

    @property
    def in_words(self) -> list[str]:
        """What is counted, one line for each part."""
        lines = [f"{self.years:g} years at {100.0 * self.discount:.6g} % per year"]
        for what, given in (("capex", self.turbine.capex), ("opex per year", self.turbine.opex)):
            each = given if isinstance(given, dict) else {"": given}
            figures = ", ".join(f"{name} {value:,.0f}".strip() for name, value in each.items())
            lines.append(f"{what} of each turbine: {figures} EUR")
        if self.foundation is not None:
            parts = [] if self.foundation.curve is None else [self.foundation.curve.in_words]
            parts += [f"{self.foundation.fixed:,.0f} EUR each"] if self.foundation.fixed else []
            lines.append(f"foundations: {' and '.join(parts) or 'without cost'}")
            lines.append(f"depth: {self.foundation.depth.in_words}")
        lines += [] if self.cables is None else [f"cables: {self.cables.in_words}"]
        return [*lines, f"fixed: {self.fixed:,.0f} EUR"]


WAYS = "aep-per-turbine, or {turbine_cost_gwh: 12.5}, or with costs lcoe, or {npv: {price: 80}}"
"""The objectives that tell counts apart, for messages."""

_WORDS = {
    "aep": "the most AEP",
    "aep-per-turbine": "the most AEP per turbine",
    "lcoe": "the lowest levelised cost of energy (LCOE)",
    "npv": "the largest net present value (NPV)",
}
_Prices = Annotated[tuple[NotNegative, ...], Field(min_length=1)]


class PriceTable(TurbulenceTable):
    """EUR per MWh by wind direction, wind speed or both; linear between its points, the same beyond its wind speeds."""

    values: Annotated[
        Annotated[_Prices, Tag("list")] | Annotated[tuple[_Prices, ...], Tag("rows")], either("list", "rows")
    ]
    """One price for each point; with both axes, one row for each direction."""


Price = Annotated[
    Annotated[Positive, Tag("number")]
    | Annotated[Weights, Tag("list")]
    | Annotated[PriceTable, Tag("table")],
    either("number", "list", "table"),
]
"""EUR per MWh: one number, one for each step of a time series or each state, or a table for a wind rose."""
Aim = Literal["aep", "aep-per-turbine", "lcoe", "npv"]
_OTHER_FORMS = [
    {"enum": ["aep", "aep-per-turbine", "lcoe"]},
    {
        "type": "array",
        "prefixItems": [{"const": "aep"}, {"enum": ["cable_length", "turbines", "lcoe", "area"]}],
    },
    {"type": "object", "required": ["npv"], "description": "The net present value: {npv: {price: 80}}."},
    {"type": "object", "required": ["maximise"], "description": "The key of older versions for `of`."},
]


class Against(NamedTuple):
    """The second of two objectives, to be small: the attribute of results that has it, and what it is in words."""

    attribute: str
    title: str
    unit: str = ""

    @property
    def label(self) -> str:
        """With the unit, if it has one."""
        return ", ".join(filter(None, [self.title, self.unit]))


AGAINST = {
    "cable_length": Against("cable_length_m", "cable length", "m"),
    "turbines": Against("n_turbines", "number of turbines"),
    "lcoe": Against("lcoe_eur_per_mwh", "LCOE", "EUR per MWh"),
    "area": Against("area_km2", "area", "km2"),
}
"""By the name that a campaign file has for it."""
_PAIRS = ", ".join(f"[aep, {name}]" for name in AGAINST)


Over = Literal["mean", "worst", "regret"]
_OVER = {
    "mean": ", on average over the scenarios",
    "worst": ", in the worst scenario",
    "regret": ", with the least regret over the scenarios",
}


class Objective(Section):
    """``aep``, ``aep-per-turbine``, ``lcoe``, or ``{npv: {price: 80}}``; or AEP less so many GWh for each turbine.

    The cost ``turbine_cost_gwh`` is one for all turbine types or one for each, by name. ``[aep, cable_length]`` are two
    objectives: each seed is a search with other weights.
    """

    short_form = {"anyOf": _OTHER_FORMS}  # noqa: RUF012

    of: Aim = "aep"
    """The most AEP of the farm, AEP per turbine or NPV; or the lowest LCOE."""
    turbine_cost_gwh: ByType | None = None
    """What is taken off AEP for each turbine, in GWh per year: one number, or one for each type."""
    price: Price | None = None
    """What energy is sold for, in EUR per MWh; for npv. One number, a list, a table, or the name of a CSV file."""
    against: Literal["cable_length", "turbines", "lcoe", "area"] | None = None
    """The second of two objectives, beside AEP."""
    over: Over | None = None
    """Over scenarios: their mean (by default), the worst of them, or the largest regret."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        if isinstance(data, dict) and len(data) == 1 and isinstance(npv := data.get("npv"), dict):
            return {"of": "npv", **npv}
        if isinstance(data, list | tuple):
            known = len(data) == 2 and data[0] == "aep" and data[1] in list(AGAINST)
            require(known, "is not a pair of objectives", f"write aep, or one of {_PAIRS}")
            return {"of": data[0], "against": data[1]}
        if isinstance(data, dict):
            return {"of" if key == "maximise" else key: value for key, value in data.items()}
        known = isinstance(data, str) and data in _WORDS
        require(isinstance(data, cls) or known, "is not an objective", f"write aep, {WAYS}")
        return {"of": data} if known else data

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        wrong = f"{self.of} and turbine_cost_gwh exclude each other"
        is_one = self.of == "aep" or self.turbine_cost_gwh is None
        require(is_one, wrong, "give one", "turbine_cost_gwh")
        priced = self.of != "npv" or self.price is not None
        remedy = "write objective: {npv: {price: 80}}, in EUR per MWh"
        require(priced, "the net present value needs the price of energy", remedy)
        idle = f"the objective {self.of} needs no price"
        require(self.of == "npv" or self.price is None, idle, "remove it, or write npv", "price")
        sold = self.price is None or self.mean_price > 0.0
        require(sold, "all prices are 0", "give some above 0", "price")
        alone = self.against is None or (self.of == "aep" and self.turbine_cost_gwh is None)
        require(alone, "is for AEP alone", f"write one of {_PAIRS}", "against")
        return self

    @property
    def prices(self) -> FloatArray:
        """All prices that are given, in EUR per MWh."""
        given = self.price.values if isinstance(self.price, PriceTable) else self.price
        return np.array(0.0 if given is None else given, np.float64)

    @property
    def mean_price(self) -> float:
        """The mean of all prices that are given; 0 without any."""
        return float(self.prices.mean())

    @property
    def is_priced_by_state(self) -> bool:
        """Whether the price depends on the wind state."""
        return self.prices.ndim > 0

    @property
    def is_of_costs(self) -> bool:
        """Whether results are compared by what they cost, too."""
        return self.of in ("lcoe", "npv")

    @property
    def is_of_energy(self) -> bool:
        """Whether what a result is worth follows from its energy and turbines."""
        return not self.is_of_costs and self.over in (None, "mean")

    @property
    def needs_costs(self) -> bool:
        """Whether the search looks at what layouts cost."""
        return self.is_of_costs or self.against in ("lcoe", "cable_length")

    @property
    def sign(self) -> float:
        """1 where more of the objective is better, -1 where less is."""
        return -1.0 if self.of == "lcoe" else 1.0

    @property
    def tells_counts_apart(self) -> bool:
        """Whether more turbines can be worth less."""
        priced = self.turbine_cost_gwh is not None or self.against == "turbines"
        return self.of != "aep" or priced

    @property
    def title(self) -> str:
        """The objective in words."""
        return self._of_one_scenario + _OVER.get(self.over or "", "")

    @property
    def _of_one_scenario(self) -> str:
        cost = self.turbine_cost_gwh
        if isinstance(cost, dict):
            each = ", ".join(f"{value:g} for each {name}" for name, value in cost.items())
            return f"AEP less the cost of turbines in GWh per year: {each}"
        if cost is not None:
            return f"AEP less {cost:g} GWh per year for each turbine"
        if self.against is not None:
            return f"the most AEP against the least {AGAINST[self.against].title}, by a weight for each seed"
        low, high = (f"{price:g}" for price in (self.prices.min(), self.prices.max()))
        at = f" at {low if low == high else f'{low} to {high}'} EUR per MWh"
        return _WORDS[self.of] + ("" if self.price is None else at)

    def cost_gwh(self, turbine_name: str) -> float:
        """What a turbine of this type costs, in GWh per year."""
        return for_type(self.turbine_cost_gwh or 0.0, turbine_name)

    def worth(self, aep_gwh: float, counts: Mapping[str, int]) -> float:
        """The objective of a farm with so many turbines of each type, in GWh per year (of each turbine)."""
        if self.of == "aep-per-turbine":
            return aep_gwh / sum(counts.values())
        return aep_gwh - sum(self.cost_gwh(name) * count for name, count in counts.items())
