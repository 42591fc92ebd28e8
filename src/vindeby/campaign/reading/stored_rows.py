"""The layouts that a campaign of stored layouts takes from a database, and the neighbours that stand around them.

Neighbours are rows: a farm of the database, with one of its layouts, from a date on or always. An axis ``neighbours``
has such rows under the name of each combination, or writes many combinations in a short form, of which a table may be a
CSV file of its own. Messages show the lines of such a file, and none of its text: a campaign file may come from
elsewhere and name any file.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations as subsets_of
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from vindeby.campaign.reading.files import NamedFile
from vindeby.campaign.reading.tables import TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.method import Seed, Step, StoredSection, one_step_is_a_pipeline
from vindeby.campaign.sections.values import Date, Name, OneOf, Section, one_is_a_list, require

NOBODY = "none"
"""The name of the combination without neighbours."""
_AXIS: DataPath = ("vary", "neighbours")
_TABLE: DataPath = (*_AXIS, "table")
COLUMNS = ("combination", "farm", "type", "seed", "from")


def stored_in(data: Any) -> dict[str, Any] | None:
    """Return what data of a campaign hold under ``method: stored``, a mapping in its place; None for others."""
    steps = data.get("method") if isinstance(data, dict) else None
    step = steps[0] if isinstance(steps, list) and len(steps) == 1 else steps
    if step == "stored":
        data["method"] = step = {"stored": {}}
    if not isinstance(step, dict) or [*step] != ["stored"]:
        return None
    if isinstance(step["stored"], str):
        step["stored"] = {"database": step["stored"]}
    if step["stored"] is None:
        step["stored"] = {}
    return step["stored"] if isinstance(step["stored"], dict) else None


def with_database(document: Document, database: str) -> None:
    """Name the database whose layouts are evaluated, whatever the campaign names."""
    if "method" not in document.data:
        document.data["method"] = {"stored": {}}
    if (stored := stored_in(document.data)) is None:
        remedy = "write method: {stored: {...}}, or leave method out; `vindeby run` runs other campaigns"
        document.refuse(("method",), "does not evaluate stored layouts", remedy)
    if "layouts" in stored:
        remedy = "give the campaign file that was written by hand"
        document.refuse(("method", "stored", "layouts"), "is chosen already", remedy)
    stored["database"] = database


def _label(value: Any) -> str:
    text = str(value).strip()
    is_name = isinstance(value, str | int) and not isinstance(value, bool) and text.isprintable()
    remedy = "write a word or a number of at most 120 printable characters"
    require(is_name and 0 < len(text) <= 120, "is not a name of a combination", remedy)
    return text


def _by_name(value: Any) -> Any:
    """Accept a farm's name for the farm with its best layout; anything else must be a mapping."""
    return {"farm": value} if isinstance(value, str) else value


class Row(Section):
    """A farm of the database that is a neighbour with one of its layouts; from a date on, or always."""

    farm: Name
    type: Name | None = None
    seed: Seed | Literal["best"] = "best"
    since: Date | None = Field(None, alias="from")


class TableRow(Row):
    """A row of a table: a farm that is a neighbour in a combination; without a farm, the combination may be empty."""

    farm: Name | None = None  # type: ignore[assignment]
    combination: Annotated[str, BeforeValidator(_label)]

    @model_validator(mode="after")
    def _nothing_without_a_farm(self) -> Self:
        is_empty = self.type is None and self.since is None and self.seed == "best"
        require(self.farm is not None or is_empty, "says a type, seed or date of no farm", "name the farm")
        return self


_Rows = Annotated[tuple[Annotated[Row, BeforeValidator(_by_name)], ...], Field(min_length=1)]


class Combinations(OneOf):
    """Many combinations of neighbours, in one of the short forms."""

    one_by_one: _Rows | None = None
    """Farms in the order in which they are built: none, the first, the first two, ..."""
    subsets: Annotated[_Rows, Field(max_length=12)] | None = None
    """The farms of which every subset is a combination."""
    table: Annotated[tuple[TableRow, ...], Field(min_length=1)] | None = None
    """Rows with the name of a combination and of a farm in it."""


def _kind_of_entry(value: Any) -> str:
    is_row = isinstance(value, str) or (isinstance(value, dict) and "farm" in value and "stored" not in value)
    return "row" if is_row else "group"


def _entries(value: Any) -> Any:
    remedy = f"write {NOBODY}, or a list of farms"
    require(not isinstance(value, str) or value == NOBODY, "is not known", remedy)
    return () if value == NOBODY else one_is_a_list(value)


_Entry = Annotated[
    Annotated[Annotated[Row, BeforeValidator(_by_name)], Tag("row")] | Annotated[Any, Tag("group")],
    Discriminator(_kind_of_entry),
]
Entries = Annotated[tuple[_Entry, ...], BeforeValidator(_entries)]
"""Farms of the database, among groups of turbines, which stay as they are."""
Placed = tuple[Any, DataPath]
"""An entry, with the place where it is written."""


def _is_short(value: Any) -> str:
    is_one = isinstance(value, dict) and len(value) == 1 and {*value} <= {*Combinations.model_fields}
    return "axis" if is_one else "values"


class _Axes(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    neighbours: (
        Annotated[
            Annotated[Combinations, Tag("axis")] | Annotated[dict[Name, Entries], Tag("values")],
            Discriminator(_is_short),
        ]
        | None
    ) = None


class AskedOfStored(BaseModel):
    """The parts of a campaign file that name layouts of a database."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    method: Annotated[tuple[Step, ...], BeforeValidator(one_step_is_a_pipeline)]
    neighbours: Entries | None = None
    vary: _Axes | None = None

    @property
    def stored(self) -> StoredSection:
        """The section on the stored layouts to evaluate."""
        found = self.method[0].stored
        assert found is not None, "only campaigns of stored layouts are read in this way"
        return found

    def entries(self) -> dict[str, list[Placed]]:
        """Return the neighbours in each combination of the axis, and under the name "" those of all combinations."""
        found: dict[str, list[Placed]] = {}
        if self.neighbours is not None:
            found[""] = [(one, ("neighbours", index)) for index, one in enumerate(self.neighbours)]
        axis = None if self.vary is None else self.vary.neighbours
        if isinstance(axis, dict):
            for name, given in axis.items():
                found[name] = [(one, (*_AXIS, name, index)) for index, one in enumerate(given)]
        elif axis is not None:
            form, rows = axis.chosen
            placed = [(row, (*_AXIS, form, index)) for index, row in enumerate(rows)]
            found |= _by_name_in_table(placed) if form == "table" else _named(form, placed)
        return found


def _by_name_in_table(rows: Sequence[Placed]) -> dict[str, list[Placed]]:
    found: dict[str, list[Placed]] = {}
    for row, at in rows:
        found.setdefault(row.combination, []).extend([(row, at)] if row.farm is not None else [])
    return found


def _named(form: str, rows: Sequence[Placed]) -> dict[str, list[Placed]]:
    """Return the combinations of a list, named by their farms."""
    sizes = range(len(rows) + 1)
    chosen = (
        [rows[:size] for size in sizes]
        if form == "one_by_one"
        else [some for size in sizes for some in subsets_of(rows, size)]
    )
    return {"+".join(row.farm for row, _ in some) or NOBODY: [*some] for some in chosen}


def with_combination_file(document: Document, folder: Path) -> Document:
    """Put the rows of a table of combinations that stands in a file of its own into the document."""
    stored = stored_in(document.data)
    if stored is None:
        return document
    if isinstance(stored.get("database"), str):
        stored["database"] = str((folder / stored["database"]).absolute())
    vary = document.data.get("vary")
    axis = vary.get("neighbours") if isinstance(vary, dict) else None
    table = axis.get("table") if isinstance(axis, dict) and len(axis) == 1 else None
    if not isinstance(axis, dict) or not isinstance(table, dict):
        return document
    if set(table) != {"file"} or not isinstance(table["file"], str):
        message, remedy = "is neither a list of rows nor a file", "write file: COMBINATIONS.csv, or a list"
        document.refuse(_TABLE, message, remedy)
    named = NamedFile(document, table, _TABLE, folder)
    reader = TableReader(str(named.path), f"{named.field}.file")
    given = reader.read(named.text(latin=True), COLUMNS, COLUMNS[:2])
    if reader.unused:
        message, remedy = "names a column that is not known", f"name the columns {','.join(COLUMNS)}"
        reader.refuse(given.header.line, message, f"{remedy}; type, seed and from may be left out")
    cells = zip(*given.words.values(), strict=True)
    axis["table"] = [_row(zip(given.words, row, strict=True)) for row in cells]
    document.origins[_TABLE] = Origin(str(named.path), rows=given.lines)
    return document


def _row(cells: Iterable[tuple[str, str]]) -> dict[str, Any]:
    row: dict[str, Any] = {name: cell for name, cell in cells if cell}
    if row.get("seed", "").isdecimal():
        row["seed"] = int(row["seed"])
    return row
