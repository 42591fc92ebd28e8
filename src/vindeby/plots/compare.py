"""Two layouts of a farm in one picture: where each turbine went, and what that was worth."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from vindeby.errors import ArgumentError
from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, draw_surroundings, prepare
from vindeby.plots.style import FAINT, figure, style
from vindeby.results.result_set import ResultSet

FloatArray = NDArray[np.float64]


def compare(result_set: ResultSet, before: str, after: str, *, axes: Axes | None = None) -> Axes:
    """Before in outline, after in full, an arrow from each place to the one that took it over.

    Turbines have no identity across layouts; they are paired so that the squares of the ways sum to the least.
    Where one layout has more turbines, what is left over has no arrow.
    """
    first, second = prepare(result_set, before), prepare(result_set, after)
    if result_set.place(before)[0] != result_set.place(after)[0]:
        raise ArgumentError(f"{before} and {after} are in different farms; compare two layouts of one farm")
    with style():
        if axes is None:
            left, bottom, right, top = _box(first, second)
            width, height = shapes.paper_for(right - left, top - bottom)
            axes = figure(max(width, 5.6), height + 0.8).add_subplot()
            _draw(axes, first, second)
            axes.figure.legend(loc="outside lower center", ncols=2)
        else:
            _draw(axes, first, second)
            axes.legend(loc="best")
    return axes


def _box(first: Drawn, second: Drawn) -> tuple[float, ...]:
    return shapes.frame(first.area, np.hstack([first.places, second.places, first.neighbours]))


def _draw(axes: Axes, first: Drawn, second: Drawn) -> None:
    old, new = ((drawn.places - np.array(first.origin)[:, None]) * shapes.KM for drawn in (first, second))
    draw_surroundings(axes, first, _box(first, second))
    axes.plot(
        *old, "o", markersize=6, markerfacecolor="none", markeredgecolor="#5b7fa6", label=f"{first.key}"
    )
    axes.plot(*new, "o", markersize=5, color="#00224e", label=f"{second.key}")
    for one, other in zip(*pair(old, new), strict=True):
        axes.annotate(
            "",
            tuple(new[:, other]),
            tuple(old[:, one]),
            arrowprops={"arrowstyle": "-|>", "color": FAINT, "linewidth": 0.8, "shrinkA": 3, "shrinkB": 3},
            zorder=1,
        )
    axes.set_title(f"{first.key} → {second.key}\n" + _worth(first, second))


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
