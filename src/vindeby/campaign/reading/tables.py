"""Text tables with a header: wind series and roses, turbine curves, prices, depths, vertices, positions, layouts.

``COLUMNS`` is the one list of columns: for each quantity, the headings that people write and the unit that vindeby
needs. ``TableReader.read`` finds the header and the wanted columns, and returns numbers and words with their lines.
It splits by commas, semicolons or tabs, with comments, blank lines, a preamble above the header, and decimal commas.
What is refused is described, not shown: a campaign file may come from elsewhere and name any file of this machine.

A transposed boundary, or one in degrees, is a valid polygon of the wrong farm, so nothing is guessed about x and y:
what can be read in two ways is refused with its line. Only a table of two columns without a header is taken as x, y.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, NoReturn

from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.errors import CampaignError, Problem
from vindeby.text import plural

_UNITS = {
    "deg": ("deg", "degree", "degrees", "°", "degn", "°n", "degtrue", "dd"),
    "m/s": ("m/s", "ms-1", "mps", "ms", "m/sec"),
    "kW": ("kw",),
    "%": ("%", "percent", "pct"),
    "km/h": ("km/h", "kmh", "kph", "kmh-1"),
    "knots": ("kn", "kt", "kts", "knot", "knots"),
    "mph": ("mph", "mi/h"),
    "ft/s": ("ft/s", "fps"),
    "rad": ("rad", "radian", "radians"),
    "W": ("w",),
    "MW": ("mw",),
    "-": ("-", "1", "fraction"),
    "m": ("m", "metre", "metres", "meter", "meters"),
    **{unit: (unit,) for unit in ("km", "ft", "feet", "foot", "mi", "nm", "yd", "cm", "mm")},
}
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names}
_IN_WORDS = {"-": "a fraction", "m": "metres", "deg": "degrees"}
_FORCES = ("n", "mn", "knots")
"""Units of a thrust that is a force and not a coefficient; in lower case, kN reads as a knot."""
_BRACKETS = re.compile(r"[\[(<{]\s*([^\])>}]*?)\s*[\])>}]")
_FILLERS = re.compile(
    r"at|hub|mean|avg|average|height|\d+(?:\.\d+)?m?|utm(?![xyen]$)\w*|epsg\d*|etrs\d*|wgs\d*|\d+n?|coords?|"
    r"coordinates?|pos|position|point|vertex|corner"
)
METRES_WANTED = "project them to metres first, to UTM for example, with QGIS or pyproj"
MOST_TURBINES = 100_000
"""In a table of a layout."""


class Column:
    """A column of a table: the unit of its values, or ``text``, and its usual names, joined and in lower case.

    ``also`` are other units that it may be in, with how many of each make one of ``unit``.
    """

    def __init__(self, unit: str, names: str, also: Mapping[str, float] | None = None) -> None:
        self.unit, self.names, self.also = unit, frozenset(names.split()), also or {}

    def is_named_by(self, heading: str) -> bool:
        """Return whether a heading is one of the usual names of this column."""
        name, unit = name_and_unit(heading)
        return name in self.names and (unit not in _FORCES or unit in self.also)


@lru_cache(4096)
def name_and_unit(heading: str) -> tuple[str, str]:
    """Return the name without unit, fillers and separators, and the unit.

    ``Wind speed [m/s]`` is a windspeed, ``X_UTM32N`` and ``x coordinate [m]`` are x.
    """
    before, slash, last = heading.strip().lstrip("#").strip().lower().rpartition("/")
    text = f"{before} {last}" if last.strip() in _UNIT_OF else f"{before}{slash}{last}"
    bracketed = [one for one in _BRACKETS.findall(text) if not _FILLERS.fullmatch(re.sub(r"[\s:_]", "", one))]
    known = [_UNIT_OF[one] for one in (re.sub(r"[\s.^*·]", "", one) for one in bracketed) if one in _UNIT_OF]
    unit = next(iter([*known, *bracketed]), "")
    words = [word for word in re.split(r"[\s_\-,:]+", _BRACKETS.sub(" ", text)) if word]
    if words[-2:] == ["m", "s"]:
        words[-2:] = ["m/s"]
    is_height = words[-1:] == ["m"] and words[-2:-1] and words[-2][0].isdigit()
    if len(words) > 1 and words[-1] in _UNIT_OF and not words[-1].isdecimal() and not is_height:
        unit = unit or _UNIT_OF[words[-1]]
        words.pop()
    return "".join([word for word in words if not _FILLERS.fullmatch(word)] or words), unit


_SPEEDS = {"km/h": 3.6, "knots": 3.6 / 1.852, "mph": 1.0 / 0.44704, "ft/s": 1.0 / 0.3048}
_DIRECTION = Column(
    "deg", "winddirection winddirections direction wd dir winddir wdir", {"rad": math.pi / 180.0}
)
_FREQUENCY = "probability probabilities p frequency frequencies freq freqval freqvals"
_DEPTH = "depth waterdepth bathymetry"
COLUMNS = {
    "wind direction": _DIRECTION,
    "wind speed": Column("m/s", "windspeed windspeeds speed ws wspd wsp u", _SPEEDS),
    "turbulence intensity": Column(
        "-", "turbulenceintensity turbulenceintensities ti turbulence turb", {"%": 100.0}
    ),
    "frequency": Column("-", _FREQUENCY, {"%": 100.0}),
    "probability": Column("-", _FREQUENCY, {"%": 100.0}),
    "weight": Column("", "weight weights w"),
    "time": Column("text", "time times timestamp date datetime timeutc utc"),
    "direction": _DIRECTION,
    "sector": Column("", "sector sectors sectornumber", {"deg": 1.0, "-": 1.0}),
    "a": Column("m/s", "a weibulla scale scaleparameter", _SPEEDS),
    "k": Column("-", "k weibullk shape shapeparameter"),
    "sector frequency": Column("-", f"{_FREQUENCY} f sectorfrequency", {"%": 100.0}),
    "power": Column("kW", "power p powerkw electricalpower", {"W": 1000.0, "MW": 0.001}),
    "ct": Column("-", "ct thrustcoefficient thrust thrustct"),
    "cp": Column("-", "cp powercoefficient"),
    "x": Column("m", "x xcoord utmx easting eastings east utme e"),
    "y": Column("m", "y ycoord utmy northing northings north utmn n"),
    "longitude": Column("deg", "lon long lng longitude"),
    "latitude": Column("deg", "lat latitude"),
    "depth": Column("m", _DEPTH),
    "height": Column("m", f"{_DEPTH} elevation altitude height z"),
    "mass": Column("kg", "mass masskg monopilemass monopilemasskg", {"t": 1e-3}),
    "cost": Column("eur", "cost costeur eur", {"meur": 1e-6}),
    "price": Column("eur/mwh", "price priceeurpermwh spotprice dayaheadprice"),
    "type": Column("text", "type turbinetype turbine wtgtype wtg model"),
    "farm": Column("text", "farm farmname windfarm"),
    "combination": Column("text", "combination"),
    "seed": Column("text", "seed"),
    "from": Column("text", "from"),
}  # fmt: skip
WIND = ("wind direction", "wind speed", "turbulence intensity")
_DEGREES = ("longitude", "latitude")
_IDENTIFIERS = re.compile(
    r"(?:id|fid|oid|gid|objectid|name|part|ring|polygon|farm|area|site|zone|shape|feature|block|lot|tender|label|"
    r"number|no|nr)"
)
"""Words in the heading of a column that may tell one area from another."""
_SEPARATORS = (";", "\t", ",")
_DECIMAL_COMMA = re.compile(r"[-+]?(\d+),(\d+)([eE][-+]?\d+)?")
_LONGEST_PREAMBLE = 300
_GAPS = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
_LARGEST_LONGITUDE, _LARGEST_LATITUDE = 360.0, 90.0

Refuse = Callable[[str, str], NoReturn]
"""Raises with what a header leaves open, and what to do about it."""


def named_columns(header: Sequence[str], wanted: Sequence[str]) -> dict[str, list[int]]:
    """Return where each quantity is named by one of its usual names."""
    found: dict[str, list[int]] = {}
    letters = {name_and_unit(cell)[0] for cell in header} & {"e", "n"}
    lone = letters if len(letters) == 1 else ()  # n without e counts something
    for index, cell in enumerate(header):
        for key in wanted:
            if COLUMNS[key].is_named_by(cell) and name_and_unit(cell)[0] not in lone:
                found.setdefault(key, []).append(index)
    return found


def find_columns(header: Sequence[str], wanted: Sequence[str], refuse: Refuse) -> dict[str, int]:
    """Return where each quantity stands; refuses two columns of one quantity, and an unknown unit."""
    named = named_columns(header, wanted)
    for quantity, (index, *others) in named.items():
        if others:
            places = f"columns {index + 1} and {others[0] + 1}"
            refuse(
                f"{places} both name the {quantity}: which of them to use is not clear", "keep one of them"
            )
        column = COLUMNS[quantity]
        unit, needed = name_and_unit(header[index])[1], column.unit
        if needed != "text" and unit not in ("", needed, *column.also):
            given, into = (_IN_WORDS.get(one, one) for one in (unit, needed))
            message = f"the column of {quantity} is in {given}; vindeby needs {into}"
            convert = f"convert it, and name the unit in the header: [{needed}]"
            refuse(message, METRES_WANTED if unit == "deg" else convert)
    return {quantity: index for quantity, (index,) in named.items()}


class TableLine(NamedTuple):
    """A line of a table, without the empty cells at its end."""

    line: int
    cells: list[str]

    def cell(self, index: int) -> str:
        """One of the cells; empty where the line ends before it."""
        return self.cells[index] if index < len(self.cells) else ""

    @property
    def is_comment(self) -> bool:
        """Return whether the line begins with ``#``."""
        return self.cells[0].startswith("#")

    @property
    def has_numbers(self) -> bool:
        """Return whether one of the cells is a number."""
        return any(_parsed(cell) is not None for cell in self.cells)


class Header(NamedTuple):
    """A header: the line it stands on, its cells, what separates them, and how many rows stand above it."""

    line: int
    cells: list[str]
    separator: str
    above: int


class Table(NamedTuple):
    """The columns that were found, by quantity: numbers, and words where the column holds text; and the rows."""

    columns: dict[str, list[float]]
    words: dict[str, list[str]]
    units: dict[str, str]
    """The unit in the heading of each column; empty where it has none."""
    rows: list[TableLine]
    header: Header

    @property
    def lines(self) -> list[int]:
        """The line of each row."""
        return [row.line for row in self.rows]


class TableReader:
    """Reads tables; ``source`` and ``field`` are used in messages, and ``notes`` collects what must be reported.

    ``gaps`` is what the user says about rows with gaps: "drop" or nothing; None where they cannot be dropped.
    """

    def __init__(self, source: str, field: str, gaps: object = None) -> None:
        self.source, self.field, self.gaps = source, field, gaps
        self.most = math.inf
        """How many rows a table may have."""
        self.notes: list[str] = []
        self.unused: list[str] = []
        """The columns of the last table that are not among the wanted ones."""
        self.lines: Sequence[int] = ()
        """The line of each entry of what was made of the last table."""
        if gaps not in ("drop", "", None):
            at = f"{field}.gaps".lstrip(".")
            raise CampaignError([Problem(source, at, "is not drop", None, "write gaps: drop")])

    def refuse(self, line: int, message: str, remedy: str) -> NoReturn:
        """Raise with the file and line."""
        raise CampaignError([Problem(self.source, self.field, message, None, remedy, line)]) from None

    def read(self, text: str, wanted: Sequence[str], required: Sequence[str]) -> Table:
        """Return the wanted columns, by their names in ``COLUMNS``; each of those in ``required`` must be there.

        Words may be missing in a row, numbers and times not. A table of x and y needs no header if it has two columns.
        """
        header = self.find_header(text, wanted, required)
        rows = self._below(text, header)
        if not rows:
            self.refuse(1, "has no rows below a header", "is it the right file?")
        if header.above:
            self.notes.append(f"not used: {plural(header.above, 'line')} above the header")
        places = self._places(header, wanted, required)
        self.unused = [
            cell or f"column {index + 1}, which has no name"
            for index, cell in enumerate(header.cells)
            if index not in places.values()
        ]
        self._refuse_longer_rows(rows, len(header.cells))
        numbers = {one: place for one, place in places.items() if COLUMNS[one].unit != "text"}
        if self.gaps == "drop":
            rows = self._without_gaps(
                rows, [place for one, place in places.items() if one in {*numbers, "time"}]
            )
        self._refuse_doubtful_commas(rows, list(numbers.values()))
        units = {one: name_and_unit(header.cells[place])[1] for one, place in places.items()}
        columns = {one: self._numbers(rows, place, one, units[one]) for one, place in numbers.items()}
        words = {one: [row.cell(places[one]) for row in rows] for one in places if one not in numbers}
        self.lines = [row.line for row in rows]
        return Table(columns, words, units, rows, header)

    def find_header(self, text: str, wanted: Sequence[str], required: Sequence[str]) -> Header:
        """Return the row that names most of what is required: the first of them, a comment only where no other does.

        A table of x and y may have no header, and then nothing above its rows but comments.
        """
        best, most = None, (-1, False, False)
        for separator in _SEPARATORS:
            above = 0
            for row in self._rows(islice(io.StringIO(text, newline=None), _LONGEST_PREAMBLE), separator):
                cells = [cell.lstrip("# ") for cell in row.cells]  # savetxt writes "# x,y"
                named = named_columns(cells, wanted)
                fit = (sum(one in named for one in required), not row.is_comment, len(cells) > 1)
                if fit > most and (fit[0] or not row.is_comment):
                    best, most = Header(row.line, cells, separator, above), fit
                if "x" in wanted and row.has_numbers and not row.is_comment:
                    break
                above += not row.is_comment
        if best is None:
            self.refuse(1, "has no rows below a header", "is it the right file?")
        is_row = "x" in wanted and best.above == 0 and len(best.cells) == 2
        if is_row and any(_parsed(cell) is not None for cell in best.cells):
            return best._replace(line=best.line - 1, cells=["x", "y"])
        return best

    def _below(self, text: str, header: Header) -> list[TableLine]:
        rows: list[TableLine] = []
        for row in self._rows(io.StringIO(text, newline=None), header.separator):
            if row.line > header.line and not row.is_comment:
                if len(rows) == self.most:
                    self.refuse(row.line, f"is one row more than {self.most:,}", "is it the right file?")
                rows.append(row)
        return rows

    def _rows(self, lines: Iterable[str], separator: str) -> Iterator[TableLine]:
        reader, line = csv.reader(lines, delimiter=separator, skipinitialspace=True), 1
        try:
            for cells in reader:
                stripped = [cell.strip() for cell in cells]
                while stripped and not stripped[-1]:
                    stripped.pop()  # what a separator at the end of the line makes
                if stripped:
                    yield TableLine(line, stripped)
                if reader.line_num > line:
                    self.refuse(line, "a quotation mark is not closed on its line", "close it or remove it")
                line = reader.line_num + 1
        except csv.Error:
            self.refuse(line, "cannot be split into columns", "is it the right file?")

    def _places(self, header: Header, wanted: Sequence[str], required: Sequence[str]) -> dict[str, int]:
        def refuse(message: str, remedy: str) -> NoReturn:
            self.refuse(header.line, message, remedy)

        names = ",".join(one.replace(" ", "_") for one in required)
        remedy = f"name the columns in a header, e.g. {names}"
        if any(_parsed(cell) is not None for cell in header.cells):
            refuse("has no header that says which column is what", remedy)
        places = find_columns(header.cells, wanted, refuse)
        for quantity in required:
            if quantity not in places and "x" in required and named_columns(header.cells, _DEGREES):
                refuse(
                    "the columns are longitude and latitude, in degrees; vindeby needs metres", METRES_WANTED
                )
            if quantity not in places:
                refuse(f"names no column of {quantity}", remedy)
        return places

    def _refuse_longer_rows(self, rows: Sequence[TableLine], width: int) -> None:
        """Refuse rows with more cells than there are columns, as decimal commas between commas make them."""
        for row in rows:
            if len(row.cells) > width:
                message = f"has {len(row.cells)} columns instead of {width}"
                remedy = "give one value for each column; with decimal commas, separate columns by semicolons"
                self.refuse(row.line, message, remedy)

    def _refuse_doubtful_commas(self, rows: Sequence[TableLine], places: Sequence[int]) -> None:
        """Refuse commas in the cells of these columns that may separate thousands instead of decimals."""
        cells = [(row.line, row.cell(place)) for row in rows for place in places]
        found = [(line, cell) for line, cell in cells if "," in cell]
        remedy = "write decimal points, and no separators of thousands"
        for line, cell in found:
            if not _DECIMAL_COMMA.fullmatch(cell):
                self.refuse(line, "a number has a comma that is not a decimal comma", remedy)
        if found and not any(_is_surely_decimal(cell) for _, cell in found):
            message = "a comma before three digits may be a decimal comma or separate thousands"
            self.refuse(found[0][0], message, remedy)
        if found and any("." in cell for _, cell in cells):
            self.refuse(found[0][0], "decimal commas and decimal points are mixed in one file", remedy)

    def _numbers(self, rows: Sequence[TableLine], place: int, quantity: str, unit: str) -> list[float]:
        """Return the numbers of a column, in the unit that vindeby needs."""
        numbers, drop = [], "" if self.gaps is None else ", or write gaps: drop"
        for row in rows:
            cell = row.cell(place)
            value = _parsed(cell)
            if value is None or not math.isfinite(value):
                wrong = "a number" if value is None else "a finite number"
                message = f"the {quantity} is not {wrong}" if cell else f"has no {quantity}"
                self.refuse(
                    row.line, message, f"write a number with a decimal point, or remove the line{drop}"
                )
            numbers.append(value)
        column = COLUMNS[quantity]
        divisor = column.also.get(unit, 1.0)
        if divisor == 1.0:
            return numbers
        into = _IN_WORDS.get(column.unit, column.unit)
        self.notes.append(f"the {quantity} is converted from {unit} to {into}")
        return [value / divisor for value in numbers]

    def _without_gaps(self, rows: list[TableLine], places: Sequence[int]) -> list[TableLine]:
        """Return the rows without gaps in these columns."""
        whole = [row for row in rows if not any(row.cell(place).lower() in _GAPS for place in places)]
        if not whole:
            self.refuse(rows[0].line, "is the first, and every line has a gap", "is it the right file?")
        if lost := len(rows) - len(whole):
            self.notes.append(f"dropped for gaps: {lost:,} of {len(rows):,} steps ({lost / len(rows):.1%})")
        return whole

    def check_range(self, table: Table, quantity: str, low: float, high: float, remedy: str) -> None:
        """Refuse the first value of a column that is not from ``low`` to ``high``."""
        for row, value in zip(table.rows, table.columns.get(quantity, ()), strict=False):
            if not low <= value <= high:
                self.refuse(row.line, f"the {quantity} {value:g} is not from {low:g} to {high:g}", remedy)

    def check_wind(self, table: Table) -> None:
        """Refuse directions, speeds and turbulence intensities that cannot be."""
        self.check_range(table, "wind direction", 0.0, 360.0, "give it in degrees, clockwise from north")
        self.check_range(table, "wind speed", 0.0, 100.0, "give it in m/s")
        remedy = "give it as a fraction between 0 and 1, not in percent"
        self.check_range(table, "turbulence intensity", 1e-9, 1.0 - 1e-9, remedy)


def read_layout_table(text: str, reader: TableReader, known: Iterable[str] = (), remedy: str = "") -> Table:
    """Return a table of turbines: x and y, and maybe ``type``, which must be one of the ``known``, and ``farm``.

    Refuses, with the line: no columns x and y, a cell too few or too many, NaN, degrees, an empty type or farm in a
    column of them, and more than ``MOST_TURBINES`` rows.
    """
    reader.most = MOST_TURBINES
    table, types = read_coordinates(text, reader, ("type", "farm")), [*known]
    for name, words in table.words.items():
        for line, word in zip(table.lines, words, strict=True):
            if not word:
                reader.refuse(line, f"names no {name}", f"name it, or remove the column {name}")
            if name == "type" and types and word not in types:
                message = "names a type that is not described"
                reader.refuse(line, message, f"known: {', '.join(types)}{remedy}")
    return table


def read_coordinates(text: str, reader: TableReader, words: Sequence[str] = ()) -> Table:
    """Return a table with x and y, and what it has of ``words``; refuses coordinates that look like degrees."""
    table = reader.read(text, ("x", "y", *words), ("x", "y"))
    x, y = table.columns["x"], table.columns["y"]
    if {table.units["x"], table.units["y"]} != {"m"} and look_like_degrees(x, y):
        message = "the coordinates look like degrees of longitude and latitude; vindeby needs metres"
        remedy = f"{METRES_WANTED}; if they are metres, name the columns x [m],y [m]"
        reader.refuse(table.rows[0].line, message, remedy)
    return table


def read_vertices(text: str, source: str, field: str) -> Document:
    """Return the vertices of a table as data, with the line of each; ``source`` and ``field`` are used in messages."""
    reader = TableReader(source, field)
    table = read_coordinates(text, reader)
    for index, heading in enumerate(table.header.cells):
        words = [word for word in re.findall(r"[^\W_]+", heading.lower()) if _IDENTIFIERS.fullmatch(word)]
        values = {row.cell(index) for row in table.rows}
        if words and heading in reader.unused and 2 <= len(values) <= len(table.rows) / 2:
            message = f"the column {words[0]!r} has {len(values)} values for {len(table.rows)} vertices"
            remedy = "write one file for each area, or polygons in a YAML file"
            reader.refuse(table.rows[0].line, f"{message}: it may hold several areas", remedy)
    pairs = zip(table.columns["x"], table.columns["y"], strict=True)
    return Document([list(pair) for pair in pairs], {(): Origin(source, rows=table.lines)})


def look_like_degrees(x: Sequence[float], y: Sequence[float]) -> bool:
    """Return whether all coordinates may be longitudes and latitudes, in either order."""
    low, high = sorted(max(map(abs, column)) for column in (x, y))
    return low <= _LARGEST_LATITUDE and high <= _LARGEST_LONGITUDE


def _parsed(cell: str) -> float | None:
    if "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return float(cell.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(cell) else None


def _is_surely_decimal(cell: str) -> bool:
    """Thousands are separated in groups of three digits, the first of one to three that does not begin with 0."""
    match = _DECIMAL_COMMA.fullmatch(cell)
    assert match is not None, "other cells were refused"
    whole, rest = match[1], match[2]
    return len(rest) != 3 or len(whole) > 3 or whole.startswith("0")


def find_time_problem(times: Sequence[str]) -> tuple[int, str, str] | None:
    """Describe the first entry that is not a time, or not later than the entry before it; None if there is none."""
    before: datetime | None = None
    for index, text in enumerate(times):
        try:
            moment = datetime.fromisoformat(text)
            disorder = before is not None and not moment > before
        except ValueError:
            return index, "is not a time", "write times like 2020-01-31T13:00"
        except TypeError:  # one has a time zone and the other has none
            message = "differs from the one before in having a time zone"
            return index, message, "give it for all times or for none"
        if disorder:
            remedy = "sort the steps; use UTC, since local times repeat an hour each autumn"
            return index, "is not after the one before", remedy
        before = moment
    return None
