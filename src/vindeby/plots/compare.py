"""Layouts side by side: two of a farm in one picture, or the seeds of a farm and type in a gallery."""

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from vindeby.arrays import BoolArray
from vindeby.errors import ArgumentError
from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, draw_surroundings
from vindeby.plots.style import FAINT, figure, ink, legend_mark, strong, style
from vindeby.results.difference import unlike_sections
from vindeby.results.expected import CellPlace
from vindeby.results.result_set import ResultSet
from vindeby.text import plural


def compare(result_set: ResultSet, before: str, after: str, other: ResultSet | None = None) -> Axes:
    """Draw one layout in outline, another in full, and an arrow from each place to the one that took it over.

    Turbines have no identity across layouts; they are paired so that the squares of the ways sum to the least.
    Where one layout has more turbines, what is left over has no arrow. ``after`` may be in another database.
    """
    pair_of = (result_set, before), (other or result_set, after)
    first, second = (Drawn(results, key) for results, key in pair_of)
    names = [key if other is None else f"{results.path}: {key}" for results, key in pair_of]
    if not _is_same_farm(first, second, *(results.place(key)[0] for results, key in pair_of)):
        which = " and ".join(names)
        raise ArgumentError(f"{which} are in different farms; compare two layouts of one farm")
    box = shapes.frame(first.area, np.hstack([first.places, second.places, first.neighbours]))
    old, new = (shapes.in_km(drawn.places, first.origin) for drawn in (first, second))
    with style():
        width, height = shapes.paper_for(box)
        axes = figure(max(width, 5.6), height + 0.8).add_subplot()
        draw_surroundings(axes, first, box)
        axes.plot(*old, "o", markersize=6, markerfacecolor="none", markeredgecolor="#5b7fa6", label=names[0])
        axes.plot(*new, "o", markersize=5, color="#00224e", label=names[1])
        shapes.draw_moves(axes, old, new)
        unlike = [] if other is None else unlike_sections(*pair_of)
        axes.set_title(f"{first.key} → {second.key}\n" + _worth(first, second, unlike))
        axes.figure.legend(loc="outside lower center", ncols=2)
    return axes


def _is_same_farm(first: Drawn, second: Drawn, *numbers: int) -> bool:
    """Return whether two layouts share an area; where none is known, whether their farms have the same number."""
    if first.area is None or second.area is None:
        return numbers[0] == numbers[1]
    return bool(first.area.intersects(second.area))


def _worth(first: Drawn, second: Drawn, unlike: list[str]) -> str:
    if first.aep_gwh is None or second.aep_gwh is None:
        return first.title
    change = f"{100 * (second.aep_gwh / first.aep_gwh - 1.0):+.2f} %"
    if unlike:
        change = f"not comparable, as the campaigns differ in {', '.join(unlike)}"
    text = f"{first.aep_gwh:,.1f} → {second.aep_gwh:,.1f} GWh ({change})"
    if first.farm is not None and second.farm is not None:
        text += f", wake loss {100 * first.wake_loss:.2f} → {100 * second.wake_loss:.2f} %"
    return text


_MOST = 120
_MOST_CELLS = 12
_SAME_PLACE = 0.5
"""Rotor diameters within which a turbine stands in the same place as one of the best layout."""


def gallery(result_set: ResultSet, pattern: str, *, every: bool = False) -> NDArray[np.object_]:
    """Best, median and worst of the results that ``pattern`` names, such as ``farm0_t5_*``; their axes.

    One row for each farm and type. With ``every`` all results beside each other, best first. In each layout the
    turbines that do not stand where the best of its farm and type has one are highlighted.
    """
    keys = result_set.matching(pattern)
    shown = keys[:_MOST] if every else keys
    cells = _cells(result_set, shown)
    best = {
        cell: Drawn(result_set, mine[0])
        for cell, mine in list(cells.items())[: None if every else _MOST_CELLS]
    }
    first = Drawn(result_set, keys[0]) if every else next(iter(best.values()))
    left, bottom, right, top = first.box
    shape = min(max((top - bottom) / (right - left), 0.4), 2.2)
    if every:
        columns = min(len(shown), max(1, round(math.sqrt(len(shown) * 1.5 * shape))), 10)
        chosen = [("", key) for key in shown]
        lines = [chosen[start : start + columns] for start in range(0, len(chosen), columns)]
        width = min(1.75, 16.0 / columns) if columns > 3 else 3.2
    else:
        lines = [_best_median_worst(cells[cell]) for cell in best]
        columns, width = max(map(len, lines)), 3.4 if shape < 1.4 else 2.9
    with style():
        whole = figure(max(columns * width + 0.6, 5.2), len(lines) * (width * shape + 0.75) + 0.95)
        grid, found = whole.subplots(len(lines), columns, squeeze=False), list[Axes]()
        for row, line in zip(grid, lines, strict=True):
            for axes in row[len(line) :]:
                axes.set_visible(False)
            for axes, (place, key) in zip(row, line, strict=False):
                _panel(axes, Drawn(result_set, key), best[result_set.place(key).cell], place)
                found.append(axes)
            for axes in row[1 : len(line)]:
                axes.set_ylabel("")
        name = f": {first.cell}" if len(cells) == 1 and first.cell else ""
        count = plural(len(keys), "result")
        if len(found) < len(keys):
            count = f"the best {len(found)} of {len(keys):,}" if every else f"{count} ({len(found)} of them)"
        whole.suptitle(f"{pattern}{name}, {count}", fontsize=10, fontweight="bold")
        if len(found) > 1:
            whole.legend(handles=_legend(first), loc="outside lower center", ncols=2, fontsize=8)
    return np.array(found, object)


def _cells(result_set: ResultSet, keys: list[str]) -> dict[CellPlace, list[str]]:
    """Keys by farm and type, in this order; each list keeps the order of the keys."""
    found: dict[CellPlace, list[str]] = {}
    for key in keys:
        found.setdefault(result_set.place(key).cell, []).append(key)
    return dict(sorted(found.items()))


def _best_median_worst(keys: list[str]) -> list[tuple[str, str]]:
    """Which of results in the order of their energy are shown, and as what."""
    if len(keys) < 3:
        return list(zip(("best", "worst"), keys, strict=False))
    return [("best", keys[0]), ("median", keys[len(keys) // 2]), ("worst", keys[-1])]


def _panel(axes: Axes, drawn: Drawn, best: Drawn, place: str) -> None:
    _draw(axes, drawn, best, 4.0 if place else 2.6)
    axes.grid(visible=False)
    if not place:
        axes.axis("off")
        axes.set_title(_title(drawn, drawn), fontsize=7.5, pad=2)
        return
    axes.tick_params(labelsize=7)
    shapes.label_axes(axes, drawn.origin)
    axes.xaxis.label.set_fontsize(7)
    axes.yaxis.label.set_fontsize(7)
    axes.set_title(f"{place}: {_title(drawn, best)}", fontsize=8.5)


def _title(drawn: Drawn, best: Drawn) -> str:
    seed = drawn.key.rsplit("_", 1)[-1]
    text = seed if drawn.aep_gwh is None else f"{seed}, {drawn.aep_gwh:,.1f} GWh"
    if drawn.key == best.key:
        return text
    if drawn.aep_gwh is not None and best.aep_gwh:
        text += f" ({100 * (drawn.aep_gwh / best.aep_gwh - 1):+.2f} %)"
    moved = int(np.count_nonzero(~same_place(drawn, best)))
    return f"{text}\n{moved} of {drawn.places.shape[1]} turbines elsewhere"


def same_place(drawn: Drawn, best: Drawn) -> BoolArray:
    """Which turbines stand where the best layout has one too."""
    apart = np.hypot(*(drawn.places[:, :, None] - best.places[:, None, :]))
    near: BoolArray = apart.min(axis=1) <= _SAME_PLACE * drawn.diameter_m
    return near


def _draw(axes: Axes, drawn: Drawn, best: Drawn, size: float) -> None:
    origin, in_km = drawn.origin, partial(shapes.in_km, origin=drawn.origin)
    if drawn.area is not None:
        shapes.draw_area(axes, drawn.area, origin, 0.8)
    if drawn.section is not None:
        shapes.draw_excluded(axes, drawn.section.excluded_shape(), origin)
    axes.set_aspect("equal")
    if drawn.neighbours.size:
        axes.plot(*in_km(drawn.neighbours), "^", markersize=0.8 * size, color="none", markeredgecolor=ink(),
                  markeredgewidth=0.6, gid="neighbours")  # fmt: skip
    if drawn.key == best.key:
        axes.plot(*in_km(drawn.places), "o", markersize=size, color=strong(), markeredgewidth=0)
        return
    same = same_place(drawn, best)
    left = best.places[:, ~same_place(best, drawn)]
    axes.plot(*in_km(left), "o", markersize=size, color="none", markeredgecolor=strong(), markeredgewidth=0.6)
    axes.plot(*in_km(drawn.places[:, same]), "o", markersize=0.6 * size, color=FAINT, markeredgewidth=0)
    axes.plot(*in_km(drawn.places[:, ~same]), "o", markersize=size, color=strong(), markeredgewidth=0)


def _legend(drawn: Drawn) -> list[Line2D]:
    beside = legend_mark("^", ink(), "neighbours", 4, is_open=True)
    return [
        *([beside] if drawn.neighbours.size else []),
        legend_mark("o", strong(), "elsewhere than in the best layout (in the best: every turbine)", 4),
        legend_mark("o", FAINT, f"at the same place as in the best (within {_SAME_PLACE:g} D)", 2.6),
        legend_mark("o", strong(), "a place that only the best uses", 4, is_open=True),
    ]
