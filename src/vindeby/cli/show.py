"""``vindeby show OUT.h5 KEY``: pictures of layouts and of the campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vindeby.cli.options import (
    OutputArgument,
    StaleOption,
    WhereOption,
    argument,
    given_campaign,
    one_of,
    option,
    taking,
)
from vindeby.cli.output import echo
from vindeby.errors import ArgumentError
from vindeby.text import listed

if TYPE_CHECKING:
    from vindeby.store.format.record import Record

PICTURE_NAMES = (
    *("energy", "best", "density", "map", "wind", "completion", "durations"),
    *("wakes", "losses", "counts", "search", "front", "costs", "cables", "depth", "series"),
)
"""The keys of ``plots.PICTURES``, repeated here so that matplotlib need not be loaded."""
_NAMES = ", ".join(PICTURE_NAMES)
_CURVE_LINES = 8
"""At most this many points are printed."""
_CURVE_ARRAYS = ("curve_seconds", "curve_evaluations", "curve_aep_gwh")


@taking("given", given_campaign)
def command(
    output: OutputArgument,
    key: str | None = argument("KEY", "Which result, e.g. farm0_t5_s0."),
    to: Path | None = option("-o --output FILE", "Where to; .png, .svg or .pdf."),
    direction: float | None = option(
        "--direction DEGREES", "Wakes for wind from here; else the prevailing one."
    ),
    speed: float | None = option("--speed M/S", "The free wind speed for the wakes."),
    compare_: str | None = option(
        "--compare [OTHER.h5:]KEY2", "Where turbines went from KEY to KEY2, perhaps of another database."
    ),
    gallery_: str | None = option(
        "--gallery PATTERN", "Best, median and worst of the results named so: 'farm0_t5_*'."
    ),
    best: bool = option("--best", "The best result, instead of a KEY; with --where, of some.", False),
    every: bool = option("--all", "With --gallery: every result, best first, instead of three.", False),
    picture: str | None = option(
        "--picture NAME", f"One of the campaign: {_NAMES}.", autocompletion=one_of(PICTURE_NAMES)
    ),
    where: WhereOption = None,
    stale: StaleOption = False,
    given: Any = None,
) -> None:
    """Draw one layout with its wakes, two layouts, seeds of a farm, or the campaign; writes a file."""
    from vindeby.plots import PICTURES, compare, gallery, layout, save
    from vindeby.plots.style import format_of
    from vindeby.results.result_set import ResultSet

    chosen = [key, best or None, gallery_, picture]
    if chosen.count(None) != 3:
        some = "" if any(chosen) else f", e.g. {listed(ResultSet(output, campaign=given).keys, most=3)}"
        raise ArgumentError(f"show: give one of KEY{some}, --best, --gallery PATTERN or --picture NAME")
    if compare_ is not None and key is None:
        raise ArgumentError("--compare: needs a KEY to compare with")
    if every and gallery_ is None:
        raise ArgumentError("--all: needs --gallery PATTERN")
    if picture is not None and picture not in PICTURE_NAMES:
        raise ArgumentError(f"--picture: {picture!r} is not known; use one of {_NAMES}")
    if to is not None:
        format_of(to)
    result_set = ResultSet(output, campaign=given, where=where, stale=stale)
    key = result_set.best_key() if best else key
    path = to or Path(_default_name(key, compare_, gallery_, picture))
    if picture is not None:
        axes = PICTURES[picture][0](result_set)
    elif gallery_ is not None:
        axes = gallery(result_set, gallery_, every=every)[0]
    elif compare_ is not None and key is not None:
        path_of_other, _, after = (
            ("", "", compare_) if compare_ in result_set.keys else compare_.rpartition(":")
        )
        axes = compare(result_set, key, after, ResultSet(path_of_other) if path_of_other else None)
    elif key is not None:
        axes = layout(result_set, key, direction=direction, speed=speed)
    save(axes.figure, path)
    echo(str(path))
    if key is not None and compare_ is None:
        for line in curve_lines(result_set.record(key)):
            echo(line)


def _default_name(key: str | None, compare_: str | None, gallery_: str | None, picture: str | None) -> str:
    name = picture or gallery_ or (f"{key}-{compare_}" if compare_ else key) or "picture"
    safe = "".join(letter if letter.isalnum() or letter in "_-" else "" for letter in name).strip("_-")
    return f"{safe or 'picture'}.png"


def curve_lines(record: Record) -> list[str]:
    """Lines of a table, with a heading; none for a record without a curve. A point that gains nothing is left out."""
    arrays = [record.arrays.get(name) for name in _CURVE_ARRAYS]
    if any(array is None or array.ndim != 1 or not array.size for array in arrays):
        return []
    points = list(zip(*(array.tolist() for array in arrays if array is not None), strict=False))
    last = points[-1]
    gained = [point for index, point in enumerate(points) if not index or point[2] > points[index - 1][2]]
    step = max(1, -(-len(gained) // (_CURVE_LINES - 1)))
    printed = [*gained[::step], last]
    lines = [
        f"{seconds:>13,.2f} {evaluations:>12,.0f} {aep:>13,.3f}"
        for seconds, evaluations, aep in dict.fromkeys(printed)
    ]
    return [f"{'CPU seconds':>13} {'evaluations':>12} {'AEP, GWh':>13}", *lines]
