"""The study file: which stored layouts are evaluated, in what wind, with which wakes, among which neighbours.

It is read and checked like a campaign file: unknown keys are refused, files that it names are read once, and every
problem says where it is. What only the database can tell (is there such a farm, such a seed) is in ``selection``.
A table of combinations may be a CSV file of its own. Its cells are shown in messages by their line only: a study file
may come from elsewhere and name any file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from vindeby.campaign.reading import source
from vindeby.campaign.reading.files import NamedFile
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.tables import Header, TableLine, TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin, write
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.values import (
    PACKED,
    Date,
    Name,
    OneOf,
    Section,
    Text,
    one_is_a_list,
    require,
)
from vindeby.campaign.sections.wake_model import WakeModel
from vindeby.errors import InputError

MOST_IN_SUBSETS = 12
MOST_COMBINATIONS = 1_000_000
_LONGEST_LABEL = 1_000


def _seed(value: Any) -> int | str:
    require(value == "best" or _is_seed(value), "is not a seed", "write best, or a whole number from 0 on")
    found: int | str = value
    return found


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _label(value: Any) -> str:
    text = str(value).strip()
    is_name = isinstance(value, str | int) and not isinstance(value, bool) and text.isprintable()
    remedy = f"write a word or a number of at most {_LONGEST_LABEL:,} printable characters"
    require(is_name and 0 < len(text) <= _LONGEST_LABEL, "is not a name of a combination", remedy)
    return text


def _by_name(value: Any) -> Any:
    """A farm that stands with its best layout is named; what else there is to say of it takes a mapping."""
    return {"farm": value} if isinstance(value, str) else value


class Row(Section):
    """A farm of the database that stands, with one of its layouts; from a date on, or always."""

    farm: Name
    type: Name | None = None
    seed: Annotated[int | Literal["best"], BeforeValidator(_seed)] = "best"
    since: Date | None = Field(None, alias="from")


class TableRow(Row):
    """A row of a table: one farm that stands in a combination; without a farm, a combination may be empty."""

    farm: Name | None = None  # type: ignore[assignment]
    combination: Annotated[str, BeforeValidator(_label)]

    @model_validator(mode="after")
    def _nothing_without_a_farm(self) -> Self:
        is_empty = self.type is None and self.since is None and self.seed == "best"
        require(self.farm is not None or is_empty, "says a type, seed or date of no farm", "name the farm")
        return self


Rows = Annotated[tuple[Annotated[Row, BeforeValidator(_by_name)], ...], Field(min_length=1)]


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
                first = row.farm not in [other.farm for other in rows[:index]]
                require(first, "is listed twice", "list each farm once", name, index, "farm")
                unused = name != "one_by_one" or row.since is None
                wrong = "has no meaning here: farms stand in the order of the list"
                remedy = "leave it out, or use together, where each farm stands from its date on"
                require(unused, wrong, remedy, name, index, "from")
        count = len(self.subsets or ())
        remedy = f"list at most {MOST_IN_SUBSETS}, or write the combinations as a table"
        require(count <= MOST_IN_SUBSETS, f"{count} farms have {2**count:,} subsets", remedy, "subsets")
        self._refuse_twice_in_a_combination()
        return self

    def _refuse_twice_in_a_combination(self) -> None:
        seen: set[tuple[str, str | None]] = set()
        for index, row in enumerate(self.table or ()):
            wrong = f"combination {row.combination!r} lists it twice"
            first = (row.combination, row.farm) not in seen
            require(first, wrong, "list each farm once in a combination", "table", index, "farm")
            seen.add((row.combination, row.farm))
        empty = {name for name, farm in seen if farm is None}
        for index, row in enumerate(self.table or ()):
            wrong = f"combination {row.combination!r} has a row without a farm, in which nothing stands"
            alone = row.farm is None or row.combination not in empty
            require(alone, wrong, "remove one of them", "table", index, "combination")


def no_neighbours(value: Any) -> Any:
    """``none`` is a word for no neighbours."""
    remedy = "write none, or one of together, one_by_one, subsets, table"
    require(not isinstance(value, str) or value == "none", "is not known", remedy)
    return None if value == "none" else value


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


def _seeds(value: Any) -> str | tuple[int, ...]:
    if value in ("best", "all"):
        return str(value)
    if _is_seed(value):
        return (value,)
    is_list = isinstance(value, list | tuple) and len(value) > 0
    require(is_list, "does not name seeds", "write best, all, a seed from 0 on, or a list of seeds")
    for index, seed in enumerate(value):
        require(_is_seed(seed), "is not a seed", "write a whole number from 0 on", index)
        require(seed not in value[:index], "a seed is listed twice", "list each seed once", index)
    return tuple(value)


def _wakes(value: Any) -> Any:
    names = {True: "on", False: "off", "both": "both", "on": "on", "off": "off"}
    is_known = isinstance(value, bool | str) and value in names
    require(is_known, "is not known", "write true, false or both")
    return names[value]


Names = Annotated[tuple[Name, ...], BeforeValidator(one_is_a_list), Field(min_length=1)]


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
    def load(cls, study: str | Path | dict[str, Any], overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Read a study file, or its content as plain data, with overrides such as ``"output=power"``.

        The document says where each value was written.
        """
        if isinstance(study, dict):
            document = Document(study, {(): Origin("study")})
        elif Path(study).is_file():
            document = with_combination_file(source.load_study(Path(study)), Path(study).parent)
        else:
            raise InputError(f"{study}: there is no such study file; --with names a YAML file")
        source.override(document, overrides)
        return checked(cls, document), document

    @model_validator(mode="after")
    def _power_type_needs_powers(self) -> Self:
        is_used = self.power_type == "float32" or self.output == "power"
        require(is_used, "has a meaning only with output: power", "leave it out", "power_type")
        return self

    def dumps(self) -> str:
        """The study as YAML text; nothing in it refers to another file."""
        return write(self.model_dump(mode="json", by_alias=True, exclude_none=True, context={PACKED: True}))
