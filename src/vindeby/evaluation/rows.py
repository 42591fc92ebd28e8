"""Which neighbouring farms stand, as a study file says it: rows of farm, type, seed and date, in one of four forms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, Strict, model_validator

from vindeby.campaign.sections.values import Name, OneOf, Section, refusal

MOST_IN_SUBSETS = 12
MOST_COMBINATIONS = 1_000_000
_LONGEST_LABEL = 1_000


def _seed(value: Any) -> int | str:
    if value == "best":
        return "best"
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise refusal("is no seed", remedy="write best, or a whole number from 0 on", value=value)
    return value


def _date(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise refusal(
            "is no date", remedy="write it like 2015-01-31 or 2015-01-31T13:00", value=text
        ) from None
    return text


def _label(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise refusal("is no name of a combination", remedy="write a word or a number", value=value)
    text = str(value).strip()
    if len(text) > _LONGEST_LABEL or not text.isprintable():
        told = "is no name of a combination: it is too long, or holds characters that cannot be printed"
        raise refusal(
            told,
            remedy=f"use at most {_LONGEST_LABEL:,} printable characters",
            value=text[:40].encode("ascii", "backslashreplace").decode(),
        )
    return text


class Row(Section):
    """A farm of the database that stands, with one of its layouts; from a date on, or always."""

    farm: Name
    type: Name | None = None
    seed: Annotated[int | Literal["best"], BeforeValidator(_seed)] = "best"
    since: Annotated[str, Strict(), AfterValidator(_date)] | None = Field(None, alias="from")


class TableRow(Section):
    """A row of a table: one farm that stands in a combination; without a farm, a combination may be empty."""

    combination: Annotated[str, BeforeValidator(_label)]
    farm: Name | None = None
    type: Name | None = None
    seed: Annotated[int | Literal["best"], BeforeValidator(_seed)] = "best"
    since: Annotated[str, Strict(), AfterValidator(_date)] | None = Field(None, alias="from")

    @model_validator(mode="after")
    def _nothing_without_a_farm(self) -> Self:
        if self.farm is None and (self.type is not None or self.since is not None or self.seed != "best"):
            raise refusal(
                "says a type, seed or date of no farm", remedy="name the farm", value=self.combination
            )
        return self

    def row(self) -> Row | None:
        """The same without the combination; None where nothing stands."""
        if self.farm is None:
            return None
        return Row.model_construct(farm=self.farm, type=self.type, seed=self.seed, since=self.since)


Rows = Annotated[tuple[Row, ...], Field(min_length=1)]


class Neighbours(OneOf):
    """The combinations of neighbours, in one of the ways to say them."""

    together: Rows | None = None
    one_by_one: Rows | None = None
    subsets: Rows | None = None
    table: Annotated[tuple[TableRow, ...], Field(min_length=1, max_length=MOST_COMBINATIONS)] | None = None

    @model_validator(mode="after")
    def _each_farm_once(self) -> Self:
        for name in ("together", "one_by_one", "subsets"):
            rows: Sequence[Row] = getattr(self, name) or ()
            for index, row in enumerate(rows):
                if row.farm in [other.farm for other in rows[:index]]:
                    raise refusal(
                        "is listed twice",
                        remedy="list each farm once",
                        at=(name, index, "farm"),
                        value=row.farm,
                    )
                if name == "one_by_one" and row.since is not None:
                    raise refusal(
                        "has no meaning here: farms stand in the order of the list",
                        remedy="leave it out, or use together, where each farm stands from its date on",
                        at=(name, index, "from"),
                        value=row.since,
                    )
        if self.subsets is not None and len(self.subsets) > MOST_IN_SUBSETS:
            raise refusal(
                f"{len(self.subsets)} farms have {2 ** len(self.subsets):,} subsets",
                remedy=f"list at most {MOST_IN_SUBSETS}, or write the combinations as a table",
                at=("subsets",),
            )
        self._refuse_twice_in_a_combination()
        return self

    def _refuse_twice_in_a_combination(self) -> None:
        seen: set[tuple[str, str | None]] = set()
        for index, row in enumerate(self.table or ()):
            if (row.combination, row.farm) in seen:
                raise refusal(
                    f"combination {row.combination!r} lists it twice",
                    remedy="list each farm once in a combination",
                    at=("table", index, "farm"),
                    value=row.farm,
                )
            seen.add((row.combination, row.farm))
        empty = {name for name, farm in seen if farm is None}
        for index, row in enumerate(self.table or ()):
            if row.farm is not None and row.combination in empty:
                raise refusal(
                    f"combination {row.combination!r} has a row without a farm, in which nothing stands",
                    remedy="remove one of them",
                    at=("table", index, "combination"),
                    value=row.combination,
                )


def no_neighbours(value: Any) -> Any:
    """``none`` is a word for no neighbours."""
    if isinstance(value, str):
        if value != "none":
            raise refusal(
                "is not known",
                remedy="write none, or one of together, one_by_one, subsets, table",
                value=value,
            )
        return None
    return value
