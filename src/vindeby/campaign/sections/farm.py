"""A farm, and how much stands in it."""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from vindeby.campaign.sections.boundary import Boundary
from vindeby.campaign.sections.neighbours import Neighbours
from vindeby.campaign.sections.values import Count, Name, Positive, Section, refusal
from vindeby.text import plural

MAX_TURBINES = 10_000


class Amount(Section):
    """How many turbines: a number, or a capacity that they may not exceed. Said for a campaign or for a farm."""

    n_turbines: Annotated[Count, Field(le=MAX_TURBINES)] | None = None
    capacity_mw: Positive | None = None

    @property
    def amount_is_said(self) -> bool:
        """Whether this level says it at all."""
        return self.n_turbines is not None or self.capacity_mw is not None

    def count(self, rated_power_mw: float) -> int:
        """How many turbines of this power that makes; a capacity is met exactly or from below."""
        if self.n_turbines is not None:
            return self.n_turbines
        rounding = 1.0 + 1e-12  # so that 0.3 MW hold three turbines of 0.1 MW
        return math.floor((self.capacity_mw or 0.0) / rated_power_mw * rounding)

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        if self.n_turbines is not None and self.capacity_mw is not None:
            raise refusal(
                "n_turbines and capacity_mw exclude each other", remedy="give one", at=("capacity_mw",)
            )
        return self


class Farm(Amount):
    """A farm: a name, an area and, where it differs from the campaign's, how much stands in it."""

    name: Name
    boundary: Boundary
    neighbours: Neighbours | None = None
    """Turbines that stand already, besides the campaign's."""

    def __repr__(self) -> str:
        amount = ""
        if self.n_turbines is not None:
            amount = f", {plural(self.n_turbines, 'turbine')}"
        elif self.capacity_mw is not None:
            amount = f", {self.capacity_mw:g} MW"
        return f"<Farm {self.name!r}: {self.boundary.area_km2:.4g} km2{amount}>"
