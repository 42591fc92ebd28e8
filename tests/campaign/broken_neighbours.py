"""Mistakes that people make with neighbours: each a wrong file, what stands beside it, and the words that help."""

from __future__ import annotations

from typing import NamedTuple

from tests.campaign.examples import SMALL


class BrokenNeighbours(NamedTuple):
    """A campaign, a table beside it, and what the message must have."""

    text: str
    table: str
    words: tuple[str, ...]


def _with(lines: str, *words: str, table: str = "") -> BrokenNeighbours:
    return BrokenNeighbours(SMALL + lines, table, words)


_FILE = "neighbours: {file: east.csv, type: five}\n"
_LINE = f":{SMALL.count(chr(10)) + 1}:"
"""Where what is added begins."""

BROKEN_NEIGHBOURS: dict[str, BrokenNeighbours] = {
    "no type": _with("neighbours: {positions: [[5000, 0]]}\n", _LINE, "neighbours", "is missing", "give type"),
    "unknown type": _with(
        "neighbours: {type: fife, positions: [[5000, 0]]}\n",
        _LINE, "neighbours[0].type", "got 'fife'", "known: five, tabulated",
    ),
    "unknown type of one turbine": _with(
        "neighbours: {type: [five, six], positions: [[5000, 0], [6000, 0]]}\n",
        "neighbours[0].type[1]", "got 'six'", "known: five",
    ),
    "as many types as positions": _with(
        "neighbours: {type: [five, five], positions: [[5000, 0], [6000, 0], [7000, 0]]}\n",
        "neighbours.type", "has 2 names, but there are 3 positions",
    ),
    "no positions": _with("neighbours: {type: five}\n", "neighbours.positions", "is missing", "add it"),
    "an empty list of positions": _with(
        "neighbours: {type: five, positions: []}\n", "neighbours.positions", "at least 1 entries"
    ),
    "no neighbours": _with("neighbours: []\n", "neighbours", "at least 1 entries", _LINE),
    "a position of three numbers": _with(
        "neighbours: {type: five, positions: [[5000, 0, 90]]}\n", "neighbours.positions[0]", "at most 2"
    ),
    "a position in words": _with(
        "neighbours: {type: five, positions: [[5000, north]]}\n",
        "neighbours.positions[0][1]", "must be a number", "'north'",
    ),
    "a position far away": _with(
        "neighbours: {type: five, positions: [[5.0e+9, 0]]}\n", "neighbours.positions[0][0]", "is farther", "UTM"
    ),
    "the same turbine twice": _with(
        "neighbours:\n  - {type: five, positions: [[5000, 0]]}\n  - {type: five, positions: [[6000, 0], [5000, 0]]}\n",
        "neighbours[1].positions[1]", "stands where neighbours[0].positions[0] stands", "list each turbine once",
        ":41:",
    ),
    "two descriptions of one name": _with(
        "neighbours:\n  turbines:\n"
        "    - {name: a, generic: {rated_power_mw: 2, rotor_diameter_m: 80, hub_height_m: 70}}\n"
        "    - {name: a, generic: {rated_power_mw: 3, rotor_diameter_m: 80, hub_height_m: 70}}\n"
        "  type: a\n  positions: [[5000, 0]]\n",
        "neighbours.turbines[1].name", "names must differ", ":42:",
    ),
    "a key misspelt": _with(
        "neighbours: {typ: five, positions: [[5000, 0]]}\n", "neighbours.typ", "did you mean 'type'?"
    ),
    "a file that is not there": _with(
        "neighbours: {file: west.csv, type: five}\n", "neighbours.file", "no such file", "west.csv", _LINE
    ),
    "a file and positions": _with(
        "neighbours: {file: east.csv, type: five, positions: [[5000, 0]]}\n",
        "neighbours.positions", "is given beside file", "not both", table="x,y\n5000,0\n",
    ),
    "a table in degrees": _with(_FILE, "degrees", "east.csv:2:", "UTM", table="x,y\n7.9,55.5\n7.8,55.4\n"),
    "a table of longitudes": _with(_FILE, "longitude", "east.csv:1:", table="lon,lat\n7.9,55.5\n7.8,55.4\n"),
    "a table without positions": _with(_FILE, "has no rows below a header", "neighbours.file", table="x,y\n"),
    "a table without names of columns": _with(
        _FILE, "has no header that says which column is what", "east.csv:1:", table="1,5000,0\n2,6000,0\n"
    ),
    "a table with a word for a number": _with(
        _FILE, "east.csv:3:", "the y is not a number", table="x,y\n5000,0\n6000,oh\n7000,3\n"
    ),
    "a table with types, and a type": _with(
        _FILE, "neighbours.type", "a column of types", table="x,y,type\n5000,0,five\n"
    ),
    "a table with a type that is not known": _with(
        "neighbours: {file: east.csv}\n",
        "east.csv:3:", "names a type that is not described", "known: five, tabulated",
        table="x,y,type\n5000,0,five\n6000,0,secret\n",
    ),
    "a table with two columns of types": _with(
        "neighbours: {file: east.csv}\n", "columns 3 and 4 both name the type", "east.csv:1:",
        table="x,y,type,model\n5000,0,five,five\n",
    ),
    "a table without a type": _with(
        "neighbours: {file: east.csv}\n", "neighbours", "is missing", table="x,y\n5000,0\n"
    ),
    "a database that is not there": _with(
        "neighbours: {database: west.h5, farm: north}\n", "neighbours.database", "no such database", _LINE
    ),
    "a farm that is no name": _with(
        "neighbours: {database: west.h5, farm: 1}\n", "neighbours.farm", "got 1", "write the name"
    ),
    "a seed that is neither a number nor the best": _with(
        "neighbours: {database: west.h5, seed: worst}\n", "neighbours.seed", "'worst'", "write best, or the number"
    ),
    "neighbours of a farm": BrokenNeighbours(
        SMALL.replace("  - name: south\n", "    neighbours: {type: six, positions: [[5000, 0]]}\n  - name: south\n"),
        "",
        (":5:", "farms[0].neighbours[0].type", "got 'six'"),
    ),
}  # fmt: skip
