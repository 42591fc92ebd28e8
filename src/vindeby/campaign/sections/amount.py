"""How much stands in a farm: a number of turbines, a capacity, or a number of each type; a number may be a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Discriminator, Field, Strict, Tag, model_validator

from vindeby.campaign.sections.values import Count, Name, Positive, Section, refusal

MAX_TURBINES = 10_000


class CountRange(Section):
    """A number that the search may choose, both ends included: ``{from: 60, to: 66}``."""

    fewest: Annotated[int, Strict(), Field(ge=0, alias="from")]
    """The fewest."""
    most: Annotated[Count, Field(le=MAX_TURBINES, alias="to")]
    """The most."""

    @model_validator(mode="after")
    def _begins_with_the_smaller(self) -> Self:
        if self.fewest > self.most:
            raise refusal(
                f"from {self.fewest} to {self.most} is no range",
                remedy="begin with the smaller",
                at=("from",),
            )
        return self

    def __str__(self) -> str:
        return f"{self.fewest} to {self.most}"


def _not_none(value: int | CountRange) -> int | CountRange:
    if isinstance(value, CountRange) and value.fewest == 0:
        raise refusal("a farm has at least one turbine", remedy="begin with 1", at=("from",), value=0)
    return value


def _one_number(value: int | CountRange) -> int | CountRange:
    """A range of one number is that number."""
    return value.most if isinstance(value, CountRange) and value.fewest == value.most else value


def _form(value: Any) -> str:
    return "range" if isinstance(value, dict | CountRange) else "number"


_NumberOrRange = Annotated[
    Annotated[Count, Field(le=MAX_TURBINES), Tag("number")] | Annotated[CountRange, Tag("range")],
    Discriminator(_form),
    AfterValidator(_one_number),
]


def even_shares(ranges: Sequence[tuple[int, int]], total: int) -> list[int]:
    """Numbers within ranges that sum to the total, as equal as can be; where two are alike, the first has more."""
    shares = [few for few, _ in ranges]
    while sum(shares) < total:
        _, index = min((share, index) for index, share in enumerate(shares) if share < ranges[index][1])
        shares[index] += 1
    return shares


class Amount(Section):
    """How many turbines: a number, or a capacity that they may not exceed, or so many of each type.

    Said for a campaign, for a farm or for a zone of a farm. A number may be a range, from which the search chooses;
    a mix with ranges needs ``n_turbines`` beside it.
    """

    n_turbines: Annotated[_NumberOrRange, AfterValidator(_not_none)] | None = None
    """How many turbines, or a range from which the search chooses."""
    capacity_mw: Positive | None = None
    """How much in MW: as many turbines as do not exceed it."""
    mix: Annotated[dict[Name, _NumberOrRange], Field(min_length=1)] | None = None
    """How many of each turbine type, by the name it has in the campaign."""

    @property
    def amount_is_said(self) -> bool:
        """Whether this level says it at all."""
        return self.n_turbines is not None or self.capacity_mw is not None or self.mix is not None

    @property
    def count_range(self) -> CountRange | None:
        """The numbers of turbines to choose from; None where it is not chosen."""
        return self.n_turbines if isinstance(self.n_turbines, CountRange) else None

    @property
    def mix_is_chosen(self) -> bool:
        """Whether the search chooses how many of each type there are."""
        return any(isinstance(count, CountRange) for count in (self.mix or {}).values())

    def count(self, rated_power_mw: float) -> int:
        """How many turbines of this power that makes, of a range the most; a capacity is met exactly or from below."""
        if isinstance(self.n_turbines, CountRange):
            return self.n_turbines.most
        if self.n_turbines is not None:
            return self.n_turbines
        if self.mix is not None:
            return sum(self.fixed_mix().values())
        rounding = 1.0 + 1e-12  # so that 0.3 MW hold three turbines of 0.1 MW
        return math.floor((self.capacity_mw or 0.0) / rated_power_mw * rounding)

    def mix_ranges(self) -> dict[str, tuple[int, int]]:
        """The fewest and the most of each type of the mix; the same number twice where it is not chosen."""
        return {
            name: (count.fewest, count.most) if isinstance(count, CountRange) else (count, count)
            for name, count in (self.mix or {}).items()
        }

    def fixed_mix(self) -> dict[str, int]:
        """How many of each type, where that is not chosen."""
        return {name: many for name, (_, many) in self.mix_ranges().items()}

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        given = [name for name in ("n_turbines", "capacity_mw", "mix") if getattr(self, name) is not None]
        if self.mix_is_chosen:
            self._refuse_chosen_mix()
        elif len(given) > 1:
            raise refusal(f"{given[0]} and {given[1]} exclude each other", remedy="give one", at=(given[1],))
        return self

    def _refuse_chosen_mix(self) -> None:
        if self.capacity_mw is not None:
            raise refusal("capacity_mw and mix exclude each other", remedy="give one", at=("mix",))
        if self.n_turbines is None:
            raise refusal(
                "a mix with ranges needs the number of all turbines",
                remedy="give n_turbines beside it",
                at=("mix",),
            )
        if isinstance(self.n_turbines, CountRange):
            raise refusal(
                "the search chooses either the number of turbines or the mix",
                remedy="give n_turbines as one number, or a mix without ranges",
                at=("n_turbines",),
            )
        ranges = self.mix_ranges().values()
        few, many = sum(few for few, _ in ranges), sum(many for _, many in ranges)
        if not few <= self.n_turbines <= many:
            raise refusal(
                f"makes {few:,} to {many:,} turbines, but n_turbines is {self.n_turbines:,}",
                remedy="make the two agree",
                at=("mix",),
            )
