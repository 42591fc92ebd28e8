"""Mistakes that people make with costs, depths and objectives: wrong files, and the words that messages must have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.campaign.costed import COSTED, DEPTH, write_netcdf, write_table


class BrokenCosts(NamedTuple):
    """A wrong campaign file, the words that must be said about it, and a file that it names."""

    text: str
    words: tuple[str, ...]
    write: Callable[[Path], object] = Path.exists
    name: str = ""


def _with(old: str, new: str, *words: str) -> BrokenCosts:
    assert COSTED.count(old) == 1, old
    return BrokenCosts(COSTED.replace(old, new), words)


def _objective(given: str, *words: str) -> BrokenCosts:
    return _with("objective: lcoe", f"objective: {given}", *words)


def _depth(name: str, write: Callable[[Path], object], *words: str, options: str = "") -> BrokenCosts:
    given = f"{{file: {name}{options}}}"
    return BrokenCosts(COSTED.replace(DEPTH, given), ("costs.foundation.depth", *words), write, name)


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def _mass(text: str, *words: str) -> BrokenCosts:
    changed = COSTED.replace("[[10, 5.0e+5], [60, 2.0e+6]]", "pile.csv")
    return BrokenCosts(changed, ("costs.foundation.mass", *words), _text(text), "pile.csv")


_MASS = "    mass: [[10, 5.0e+5], [60, 2.0e+6]]\n    price_per_kg: 3.36\n"
_TABLE = "[[10, 5.0e+5], [60, 2.0e+6]]"
_COSTS_BEGIN = COSTED.index("costs:")
_LINE = COSTED[:_COSTS_BEGIN].count("\n") + 1
"""The line of ``costs:``."""

BROKEN_COSTS: dict[str, BrokenCosts] = {
    # what holds for the whole farm
    "a discount in percent": _with("0.0661", "6.61", f":{_LINE + 1}:", "costs.discount", "less than 1", "got 6.61"),
    "a negative discount": _with("0.0661", "-0.05", "costs.discount", "at least 0", "got -0.05"),
    "no discount": _with("  discount: 0.0661\n", "", "costs.discount", "is missing", "add it"),
    "no years": _with("  years: 25\n", "", "costs.years", "is missing"),
    "years of 0": _with("years: 25", "years: 0", "costs.years", "at least 1", f":{_LINE + 2}:"),
    "years of 1e-300": _with("years: 25", "years: 1.0e-300", "costs.years", "at least 1"),
    "a date for years": _with("years: 25", "years: 2050", "costs.years", "at most 200", "got 2050"),
    "years in words": _with("years: 25", "years: 25 years", "costs.years", "must be a number", "'25 years'"),
    "a negative fixed cost": _with("1.2e+9", "-1", "costs.fixed", "at least 0", "got -1"),
    "a fixed cost of infinity": _with("1.2e+9", ".inf", "costs.fixed", "finite number"),
    "an unknown key": _with("  fixed: 1.2e+9", "  fix: 1.2e+9", "costs.fix", "did you mean 'fixed'?"),
    "a list of costs": BrokenCosts(
        COSTED[:_COSTS_BEGIN] + "costs: [1, 2]\nobjective: lcoe\n", ("costs", "must be a mapping", f":{_LINE}:")
    ),
    # turbines
    "no turbine": _with(
        "  turbine: {capex: 8.9e+7, opex: {five: 2.0e+6, tabulated: 1.0e+6}}\n", "", "costs.turbine", "is missing"
    ),
    "no capex": _with("capex: 8.9e+7, ", "", "costs.turbine.capex", "is missing", f":{_LINE + 3}:"),
    "a capex of 0": _with("8.9e+7", "{five: 5, tabulated: 0}", "costs.turbine.capex", "greater than 0", "got 0"),
    "a negative capex": _with("8.9e+7", "-8.9e+7", "costs.turbine.capex", "greater than 0", "got -89000000"),
    "a capex in words": _with("8.9e+7", "89 million", "costs.turbine.capex", "must be a number", "'89 million'"),
    "the opex of a type left out": _with(
        ", tabulated: 1.0e+6", "", "costs.turbine.opex", "of type 'tabulated' costs", "give every type its cost"
    ),
    "the opex of an unknown type": _with(
        "tabulated: 1.0e+6", "tabulatd: 1.0e+6", "costs.turbine.opex", "does not say what a turbine of type 'tabulated'"
    ),
    "the capex of a type that there is not": _with(
        "8.9e+7", "{five: 5, tabulated: 1, sixx: 2}", "costs.turbine.capex", "no turbine type has the name 'sixx'",
        "name one of five, tabulated",
    ),
    "no type at all": _with("{five: 2.0e+6, tabulated: 1.0e+6}", "{}", "costs.turbine.opex", "at least 1 entries"),
    # foundations
    "cost and mass": _with(
        "    price_per_kg", "    cost: [[1, 2], [9, 3]]\n    price_per_kg", "costs.foundation.mass",
        "cost excludes mass",
    ),
    "a mass without a price": _with("    price_per_kg: 3.36\n", "", "costs.foundation.mass", "belong together"),
    "a price without a mass": _with(
        f"    mass: {_TABLE}\n", "", "costs.foundation.mass", "belong together", "give cost, or mass and price_per_kg"
    ),
    "a negative price": _with("3.36", "-3.36", "costs.foundation.price_per_kg", "at least 0", "got -3.36"),
    "no depth": _with(f"    depth: {DEPTH}\n", "", "costs.foundation.depth", "is missing"),
    "a table of one row": _with(_TABLE, "[[10, 5.0e+5]]", "costs.foundation.mass", "at least 2 entries"),
    "a table that is not sorted": _with(
        _TABLE, "[[60, 2.0e+6], [10, 5.0e+5]]", "costs.foundation.mass", "must increase", "10 follows 60"
    ),
    "a row of three": _with(
        _TABLE, "[[10, 5.0e+5, 1], [60, 2.0e+6]]", "costs.foundation.mass", "at most 2 entries"
    ),
    "a table that ends above the water's depth": _with(
        _TABLE, "[[10, 5.0e+5], [30, 2.0e+6]]", "costs.foundation.mass", "has no value", "at a depth of 30.0",
        "farm 'north' is 20 m deep at (-500, -9500) and 40 m elsewhere", "extend the table, limit the depth",
    ),
    "a cost that is negative where farms are": _with(
        _MASS, "    cost: {polynomial: [0, -1.0e+5]}\n", "costs.foundation.cost", "below 0, at a depth of 20 m",
        "begin a polynomial with its constant",
    ),
    "a cost that is negative between the points of the grid": _with(
        _MASS, "    cost: {polynomial: [1.224e+5, -7.0e+3, 100.0]}\n", "costs.foundation.cost",
        "below 0, at a depth of 34.0", "farm 'north'",
    ),
    "land in a farm": BrokenCosts(
        COSTED.replace(_TABLE, "{polynomial: [1.0e+6]}").replace(
            DEPTH, "{x: [-500, 10000], y: [-9500, 9000], values: [[20, 25], [-9999, 40]]}"
        ),
        ("costs.foundation.depth", "is -9999 m deep at (10000, -9500): it is land", "farm 'north'", "positive: up"),
    ),
    "a table and a polynomial": _with(
        _MASS, "    cost: {table: [[10, 1], [60, 2]], polynomial: [1]}\n", "costs.foundation.cost", "exclude each other"
    ),
    "a polynomial without coefficients": _with(
        _MASS, "    cost: {polynomial: []}\n", "costs.foundation.cost.polynomial", "at least 1 entries"
    ),
    # depths in the campaign file
    "a grid that falls": _with(
        "[-500, 10000]", "[10000, -500]", "costs.foundation.depth.x[1]", "must increase", "-500 follows 10000"
    ),
    "a grid of one column": _with("[-500, 10000]", "[-500]", "costs.foundation.depth.values", "(x, y) has 1 x 2"),
    "too few depths": _with(
        "[[20, 25], [30, 40]]", "[[20, 25]]", "costs.foundation.depth.values", "has 1 x 2 entries", "(x, y) has 2 x 2"
    ),
    "rows of different lengths": _with(
        "[[20, 25], [30, 40]]", "[[20, 25], [30]]", "costs.foundation.depth.values", "rows of different lengths"
    ),
    "heights instead of depths": _with(
        "[[20, 25], [30, 40]]", "[[-20, -25], [-30, -40]]", "costs.foundation.depth", "is -40 m deep", "it is land",
    ),
    "a depth that no sea has": _with(
        "[[20, 25], [30, 40]]", "[[20, 25], [30, 99999]]", "costs.foundation.depth.values", "at most 12000", "got 99999"
    ),
    "a farm beside the grid": _with(
        "[-500, 10000]", "[100, 10000]", "farms[0].boundary", "corner 0 of farm 'north' at (0, 0)",
        "outside the grid of depths around the farms", "from x 100 to 10000", "give a larger grid",
    ),
    "limits the wrong way round": _with(
        "least: 10, most: 60", "least: 60, most: 10", "costs.foundation.depth", "outside the limits"
    ),
    "limits that no farm has": _with(
        "least: 10, most: 60", "least: 50, most: 60", "costs.foundation.depth", "farm 'north' is 20 m deep",
        "40 m elsewhere", "outside the limits", "change least and most",
    ),
    "a negative limit": _with("least: 10", "least: -10", "costs.foundation.depth.least", "at least 0", "got -10"),
    "an option of files without a file": _with(
        "least: 10", "positive: up, least: 10", "costs.foundation.depth.positive", "is not a known key"
    ),
    # objectives
    "an unknown objective": _objective("lcoh", "objective", "must be 'aep'", "'lcoe'", "got 'lcoh'"),
    "npv without a price": _objective("npv", "objective.price", "belong together", "{of: npv, price: 80}"),
    "a price of 0": _objective("{of: npv, price: 0}", "objective.price", "greater than 0"),
    "a price for the LCOE": _objective("{of: lcoe, price: 80}", "objective.price", "npv and price belong together"),
    "the LCOE without costs": BrokenCosts(
        COSTED[:_COSTS_BEGIN] + "objective: lcoe\n", ("objective", "needs costs", "add costs:", f":{_LINE}:")
    ),
    # files
    "no such file of depths": _depth("lost.nc", Path.exists, "no such file", "lost.nc"),
    "depths beside a file": _depth(
        "d.csv", write_table, "is given beside file", options=", x: [0, 1]"
    ),
    "a variable of a table": _depth("d.csv", write_table, "variable", "is not a known key", options=", variable: a"),
    "a farm beyond a grid with a gap": BrokenCosts(
        COSTED.replace("[0, 0]", "[-3000, 0]", 1).replace(DEPTH, "d.nc"),
        ("farms[0].boundary", "corner 0 of farm 'north' at (-3000, 0)", "from x -1000 to 9000"),
        partial(write_netcdf, names={"depth": 1.0}, gap=(2, 5)),
        "d.nc",
    ),
    "a table without depths": _depth("d.csv", partial(write_table, header="x,y,d"), "names no column of depth"),
    "a table of depths in feet": _depth("d.csv", partial(write_table, header="x,y,depth [ft]"), "is in ft"),
    "a table with a point twice": _depth(
        "d.csv", _text("x,y,depth\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n1,0,5\n"), "is not a grid: 5 points",
        "give each point once",
    ),
    "scattered soundings": _depth(
        "d.csv", _text("x,y,depth\n0,0,1\n10,11,2\n21,22,3\n33,34,4\n"), "is not a grid", "gdal_grid"
    ),
    "a column of heights": _depth(
        "d.csv", partial(write_table, header="x,y,elevation", sign=-1.0), "names no column of depth"
    ),
    "heights with a limit": _depth(
        "d.csv", partial(write_table, sign=-1.0), "it is land", "positive: up", options=", least: 10"
    ),
    "a variable of depths or heights": _depth(
        "d.nc", partial(write_netcdf, names={"elevation": -1.0}), ".variable", "positive: up beside it for heights",
        options=", variable: elevation",
    ),
    "netCDF over kilometres": _depth(
        "d.nc", partial(write_netcdf, names={"depth": 1.0}, axis_units="km"), "has y in km", "convert it to metres"
    ),
    "one depth as both limits": _with("least: 10, most: 60", "least: 30, most: 30", "outside the limits"),
    "a mistyped positive": _depth(
        "d.csv", write_table, ".positive", "must be up or down (got 'upp')", options=", positive: upp"
    ),
    "heights in a table of depths": _depth(
        "d.csv", partial(write_table, sign=-1.0), "it is land", "positive: up"
    ),
    "a table of depths with a gap": _depth(
        "d.csv", _text("x,y,depth\n0,0,1\n0,1,\n1,0,3\n1,1,4\n"), "d.csv:3", "has no depth"
    ),
    "netCDF without depths": _depth(
        "d.nc", partial(write_netcdf, names={"salt": 1.0}), "has no variable depth", "with variable: salt"
    ),
    "netCDF without the variable that is named": _depth(
        "d.nc", partial(write_netcdf, names={"depth": 1.0}), "has no variable salt",
        options=", variable: salt, positive: down",
    ),
    "netCDF in degrees": _depth(
        "d.nc", partial(write_netcdf, names={"depth": 1.0}, axes=("lat", "lon")), "over lat and lon, not over x and y",
        "gdalwarp",
    ),
    "netCDF in feet": _depth(
        "d.nc", partial(write_netcdf, names={"depth": 1.0}, units="feet"), "has depth in feet", "convert it to metres"
    ),
    "text that is called netCDF": _depth("d.nc", _text("hello"), "is neither netCDF nor HDF5"),
    "a grid in degrees": BrokenCosts(
        COSTED.replace(DEPTH, "d.csv"),
        ("farms[0].boundary", "outside the grid of depths", "from x 3 to 4", "in the campaign's coordinates"),
        _text("x,y,depth\n3,54,20\n3,55,20\n4,54,20\n4,55,20\n"),
        "d.csv",
    ),
    "netCDF with a gap in a farm": _depth(
        "d.nc", partial(write_netcdf, names={"depth": 1.0}, gap=(2, 5)), "is -9999 m", "at (1000, 0)", "fill gaps"
    ),
    "a GeoTIFF": _depth(
        "d.tif", _text("II*"), "is neither netCDF nor HDF5", "gdal_translate -of netCDF -co FORMAT=NC4"
    ),
    "masses without depths": _mass("mass\n5\n6\n", "pile.csv:1", "names no column of depth"),
    "masses in pounds": _mass("depth,mass [lb]\n10,5\n60,6\n", "in lb", "kg"),
    "a mass that is missing": _mass("depth,mass\n10,5\n60,\n", "pile.csv:3", "has no mass"),
}  # fmt: skip
