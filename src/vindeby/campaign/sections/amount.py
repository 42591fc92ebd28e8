"""How much stands in a farm: a number of turbines, a capacity, or a number of each type."""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from vindeby.campaign.sections.values import Count, Name, Positive, Section, refusal

MAX_TURBINES = 10_000


class Amount(Section):
    """How many turbines: a number, or a capacity that they may not exceed, or so many of each type.

    Said for a campaign, for a farm or for a zone of a farm.
    """

    n_turbines: Annotated[Count, Field(le=MAX_TURBINES)] | None = None
    capacity_mw: Positive | None = None
    mix: Annotated[dict[Name, Count], Field(min_length=1)] | None = None
    """How many of each turbine type, by the name it has in the campaign."""

    @property
    def amount_is_said(self) -> bool:
        """Whether this level says it at all."""
        return self.n_turbines is not None or self.capacity_mw is not None or self.mix is not None

    def count(self, rated_power_mw: float) -> int:
        """How many turbines of this power that makes; a capacity is met exactly or from below."""
        if self.n_turbines is not None:
            return self.n_turbines
        if self.mix is not None:
            return sum(self.mix.values())
        rounding = 1.0 + 1e-12  # so that 0.3 MW hold three turbines of 0.1 MW
        return math.floor((self.capacity_mw or 0.0) / rated_power_mw * rounding)

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        given = [name for name in ("n_turbines", "capacity_mw", "mix") if getattr(self, name) is not None]
        if len(given) > 1:
            raise refusal(f"{given[0]} and {given[1]} exclude each other", remedy="give one", at=(given[1],))
        return self
