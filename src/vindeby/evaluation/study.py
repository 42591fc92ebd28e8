"""The study file: which stored layouts are evaluated, in what wind, with which wakes, among which neighbours.

It is read and checked like a campaign file: unknown keys are refused, files that it names are read once, and every
problem says where it is. What only the database can tell (is there such a farm, such a seed) is in ``selection``.
A table of combinations may be a CSV file of its own. Its cells are shown in messages by their line only: a study file
may come from elsewhere and name any file.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, Strict, ValidationError, model_validator

from vindeby.campaign.reading import source
from vindeby.campaign.reading.files import NamedFile
from vindeby.campaign.reading.problems import explain
from vindeby.campaign.reading.tables import Header, TableLine, TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin, write
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.values import PACKED, Name, OneOf, Section, Text, refusal, require
from vindeby.campaign.sections.wake_model import WakeModel
from vindeby.errors import CampaignError, InputError

MOST_IN_SUBSETS = 12
MOST_COMBINATIONS = 1_000_000
_LONGEST_LABEL = 1_000


def _seed(value: Any) -> int | str:
    if value == "best":
        return "best"
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise refusal("is not a seed", remedy="write best, or a whole number from 0 on", value=value)
    return value


def _date(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise refusal(
            "is not a date", remedy="write it like 2015-01-31 or 2015-01-31T13:00", value=text
        ) from None
    return text


def _label(value: Any) -> str:
    text = str(value).strip()
    if (
        isinstance(value, bool)
        or not isinstance(value, str | int)
        or not 0 < len(text) <= _LONGEST_LABEL
        or not text.isprintable()
    ):
        raise refusal(
            "is not a name of a combination",
            remedy=f"write a word or a number of at most {_LONGEST_LABEL:,} printable characters",
            value=text[:40].encode("ascii", "backslashreplace").decode(),
        )
    return text


class Row(Section):
    """A farm of the database that stands, with one of its layouts; from a date on, or always."""

    farm: Name
    type: Name | None = None
    seed: Annotated[int | Literal["best"], BeforeValidator(_seed)] = "best"
    since: Annotated[str, Strict(), AfterValidator(_date)] | None = Field(None, alias="from")


class TableRow(Row):
    """A row of a table: one farm that stands in a combination; without a farm, a combination may be empty."""

    farm: Name | None = None  # type: ignore[assignment]
    combination: Annotated[str, BeforeValidator(_label)]

    @model_validator(mode="after")
    def _nothing_without_a_farm(self) -> Self:
        if self.farm is None and (self.type is not None or self.since is not None or self.seed != "best"):
            raise refusal(
                "says a type, seed or date of no farm", remedy="name the farm", value=self.combination
            )
        return self


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


COLUMNS = ("combination", "farm", "type", "seed", "from")
_AT = ("neighbours", "table")


def with_combination_file(document: Document, folder: Path) -> Document:
    """Put the rows of a table that stands in a file of its own into the document."""
    neighbours = document.data.get("neighbours")
    table = neighbours.get("table") if isinstance(neighbours, dict) else None
    if not isinstance(table, dict):
        return document
    if set(table) != {"file"} or not isinstance(table["file"], str):
        message, remedy = "is neither a list of rows nor a file", "write file: COMBINATIONS.csv, or a list"
        document.refuse(_AT, message, remedy)
    named = NamedFile(document, table, _AT, folder)
    reader, text = TableReader(str(named.path), f"{named.field}.file"), named.text(latin=True)
    header = reader.find_header(text, lambda cells: not cells[0].startswith("#"))
    names = _names(reader, header)
    rows = [(row.line, _row(reader, names, row)) for row in reader.rows(text, header)]
    if not rows:
        reader.refuse(1, "has no rows below a header", "is it the right file?")
    neighbours["table"] = [row for _, row in rows]
    document.origins.update(
        {(*_AT, index): Origin(str(named.path), line) for index, (line, _) in enumerate(rows)}
    )
    return document


def _names(reader: TableReader, header: Header) -> list[str]:
    names = [cell.lower() for cell in header.cells]
    for needed in ("combination", "farm"):
        if needed not in names:
            reader.refuse(header.line, f"has no column {needed}", f"name the columns {','.join(COLUMNS)}")
    twice = len(set(names)) < len(names)
    if twice or any(name not in COLUMNS for name in names):
        message = "names a column twice" if twice else "names a column that is not known"
        remedy = f"name the columns {','.join(COLUMNS)}; type, seed and from may be left out"
        reader.refuse(header.line, message, remedy)
    return names


def _row(reader: TableReader, names: list[str], given: TableLine) -> dict[str, Any]:
    if len(given.cells) > len(names):
        message = f"has {len(given.cells)} cells, but the header has {len(names)}"
        reader.refuse(given.line, message, "remove the rest")
    row: dict[str, Any] = {name: cell for name, cell in zip(names, given.cells, strict=False) if cell}
    if "combination" not in row:
        reader.refuse(given.line, "names no combination", "fill the gap, or remove the line")
    if "seed" in row and row["seed"] != "best":
        if not row["seed"].isdecimal():
            reader.refuse(given.line, "has a seed that is neither best nor a number", "write e.g. best or 12")
        row["seed"] = int(row["seed"])
    return row


InternalWakes = Literal["on", "off", "both"]


def _one_is_a_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _seeds(value: Any) -> str | tuple[int, ...]:
    if value in ("best", "all"):
        return str(value)
    values = [value] if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(values, list | tuple) or not values:
        raise refusal(
            "does not name seeds", remedy="write best, all, a seed, or a list of seeds", value=value
        )
    for index, seed in enumerate(values):
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise refusal("is not a seed", remedy="write a whole number from 0 on", at=(index,), value=seed)
        if seed in values[:index]:
            raise refusal("a seed is listed twice", remedy="list each seed once", at=(index,), value=seed)
    return tuple(values)


def _wakes(value: Any) -> Any:
    names = {True: "on", False: "off", "both": "both", "on": "on", "off": "off"}
    if not isinstance(value, bool | str) or value not in names:
        raise refusal("is not known", remedy="write true, false or both", value=value)
    return names[value]


Names = Annotated[tuple[Name, ...], BeforeValidator(_one_is_a_list), Field(min_length=1)]


class Layouts(Section):
    """Which stored layouts are evaluated: every farm with every type and seed that is named."""

    farms: Names | None = None
    types: Names | None = None
    seeds: Annotated[Literal["best", "all"] | tuple[int, ...], BeforeValidator(_seeds)] = "best"


class Study(Section):
    """What is evaluated, and how."""

    name: Name
    description: Text = ""
    layouts: Layouts = Layouts()
    site: Site | None = None
    wake: WakeModel | None = None
    neighbours: Annotated[Neighbours | None, BeforeValidator(no_neighbours)] = None
    internal_wakes: Annotated[InternalWakes, BeforeValidator(_wakes)] = "on"
    output: Literal["aep", "power"] = "aep"
    power_type: Literal["float32", "float64"] = "float32"
    run: RunOptions = RunOptions()

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Read a study file, with overrides such as ``"output=power"``; also where each value was written."""
        if not Path(path).is_file():
            raise InputError(f"{path}: there is no such study file; --with names a YAML file")
        document = source.load_study(Path(path))
        return cls.from_document(with_combination_file(document, Path(path).parent), overrides)

    @classmethod
    def from_data(cls, data: dict[str, Any], overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Make a study of plain data, as a study file has it."""
        return cls.from_document(Document(data, {(): Origin("study")}), overrides)

    @classmethod
    def from_document(cls, document: Document, overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Check data that was read, with overrides put in."""
        source.override(document, overrides)
        try:
            return cls.model_validate(document.data), document
        except ValidationError as error:
            raise CampaignError(explain(cls, error, document)) from None

    @model_validator(mode="after")
    def _power_type_needs_powers(self) -> Self:
        is_used = self.power_type == "float32" or self.output == "power"
        require(is_used, "has a meaning only with output: power", "leave it out", "power_type")
        return self

    def dumps(self) -> str:
        """The study as YAML text; nothing in it refers to another file."""
        return write(self.model_dump(mode="json", by_alias=True, exclude_none=True, context={PACKED: True}))
