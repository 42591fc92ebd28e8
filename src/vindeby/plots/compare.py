"""Layouts side by side: two of a farm in one picture, or the seeds of a farm and type in a gallery."""

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from vindeby.arrays import BoolArray, FloatArray
from vindeby.errors import ArgumentError
from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, draw_surroundings
from vindeby.plots.style import FAINT, figure, ink, legend_mark, strong, style
from vindeby.results.result_set import ResultSet


def compare(result_set: ResultSet, before: str, after: str) -> Axes:
    """Before in outline, after in full, an arrow from each place to the one that took it over.

    Turbines have no identity across layouts; they are paired so that the squares of the ways sum to the least.
    Where one layout has more turbines, what is left over has no arrow.
    """
    first, second = Drawn(result_set, before), Drawn(result_set, after)
    if result_set.place(before)[0] != result_set.place(after)[0]:
        raise ArgumentError(f"{before} and {after} are in different farms; compare two layouts of one farm")
    box = shapes.frame(first.area, np.hstack([first.places, second.places, first.neighbours]))
    old, new = (shapes.in_km(drawn.places, first.origin) for drawn in (first, second))
    with style():
        width, height = shapes.paper_for(box)
        axes = figure(max(width, 5.6), height + 0.8).add_subplot()
        draw_surroundings(axes, first, box)
        axes.plot(*old, "o", markersize=6, markerfacecolor="none", markeredgecolor="#5b7fa6", label=first.key)
        axes.plot(*new, "o", markersize=5, color="#00224e", label=second.key)
        look = {"arrowstyle": "-|>", "color": FAINT, "linewidth": 0.8, "shrinkA": 3, "shrinkB": 3}
        for one, other in zip(*pair(old, new), strict=True):
            axes.annotate("", tuple(new[:, other]), tuple(old[:, one]), arrowprops=look, zorder=1)
        axes.set_title(f"{first.key} → {second.key}\n" + _worth(first, second))
        axes.figure.legend(loc="outside lower center", ncols=2)
    return axes


def _worth(first: Drawn, second: Drawn) -> str:
    if first.aep_gwh is None or second.aep_gwh is None:
        return first.title
    change = second.aep_gwh / first.aep_gwh - 1.0
    text = f"{first.aep_gwh:,.1f} → {second.aep_gwh:,.1f} GWh ({100 * change:+.2f} %)"
    if first.farm is not None and second.farm is not None:
        text += f", wake loss {100 * first.wake_loss:.2f} → {100 * second.wake_loss:.2f} %"
    return text


def pair(old: FloatArray, new: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of places, old and new, such that the squares of their distances sum to the least.

    The Hungarian method with row and column potentials (Kuhn 1955; Jonker and Volgenant 1987): each place of
    the smaller side is joined by a shortest augmenting path.
    """
    swapped = old.shape[1] > new.shape[1]
    rows, columns = (new, old) if swapped else (old, new)
    cost = ((rows[:, :, None] - columns[:, None, :]) ** 2).sum(axis=0)
    taken = _assign(cost)
    one, other = np.arange(len(taken)), taken
    return (other, one) if swapped else (one, other)


def _assign(cost: FloatArray) -> NDArray[np.intp]:
    """The column of each row; there must be at least as many columns as rows."""
    count, width = cost.shape
    row_price, column_price = np.zeros(count), np.zeros(width)
    owner = np.full(width, -1)
    for row in range(count):
        distance = np.full(width, np.inf)
        previous = np.full(width, -1)
        visited = np.zeros(width, bool)
        current, column, reached = row, -1, 0.0
        while True:
            reduced = reached + cost[current] - row_price[current] - column_price
            better = ~visited & (reduced < distance)
            distance[better], previous[better] = reduced[better], column
            column = int(np.argmin(np.where(visited, np.inf, distance)))
            reached = float(distance[column])
            visited[column] = True
            if owner[column] < 0:
                break
            current = int(owner[column])
        row_price[row] += reached
        passed = visited & (owner >= 0)
        row_price[owner[passed]] += reached - distance[passed]
        column_price[visited] -= reached - distance[visited]
        while column >= 0:
            before = int(previous[column])
            owner[column] = row if before < 0 else owner[before]
            column = before
    result = np.empty(count, np.intp)
    result[owner[owner >= 0]] = np.flatnonzero(owner >= 0)
    return result


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
                _panel(axes, Drawn(result_set, key), best[result_set.place(key)[:2]], place)
                found.append(axes)
            for axes in row[1 : len(line)]:
                axes.set_ylabel("")
        name = f": {first.cell}" if len(cells) == 1 and first.cell else ""
        count = f"{len(keys):,} results"
        if len(found) < len(keys):
            count = f"the best {len(found)} of {len(keys):,}" if every else f"{count} ({len(found)} of them)"
        whole.suptitle(f"{pattern}{name}, {count}", fontsize=10, fontweight="bold")
        if len(found) > 1:
            whole.legend(handles=_legend(first), loc="outside lower center", ncols=2, fontsize=8)
    return np.array(found, object)


def _cells(result_set: ResultSet, keys: list[str]) -> dict[tuple[int, int], list[str]]:
    """Keys by farm and type, in this order; each list keeps the order of the keys."""
    found: dict[tuple[int, int], list[str]] = {}
    for key in keys:
        found.setdefault(result_set.place(key)[:2], []).append(key)
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
        legend_mark("o", strong(), "not where the best has one (in the best: all)", 4),
        legend_mark("o", FAINT, f"where the best has one (within {_SAME_PLACE:g} D)", 2.6),
        legend_mark("o", strong(), "only in the best", 4, is_open=True),
    ]
