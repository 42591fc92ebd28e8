"""Seeds of a farm and type beside each other, with what differs from the best marked."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, prepare
from vindeby.plots.style import FAINT, figure, ink, strong, style
from vindeby.results.result_set import ResultSet

_MOST = 120
_MOST_CELLS = 12
_SAME_PLACE = 0.5
"""Rotor diameters within which a turbine stands in the same place as one of the best layout."""


def gallery(
    result_set: ResultSet, pattern: str, *, every: bool = False, most: int = _MOST
) -> NDArray[np.object_]:
    """Best, median and worst of the results that ``pattern`` names, such as ``farm0_t5_*``; their axes.

    One row for each farm and type. With ``every`` all results beside each other, best first. In each layout the
    turbines that do not stand where the best of its farm and type has one are highlighted.
    """
    keys = result_set.matching(pattern)
    return _every(result_set, pattern, keys, most) if every else _chosen(result_set, pattern, keys)


def _chosen(result_set: ResultSet, pattern: str, keys: list[str]) -> NDArray[np.object_]:
    cells = _cells(result_set, keys)
    shown = list(cells.values())[:_MOST_CELLS]
    rows = [_best_median_worst(mine) for mine in shown]
    columns = max(len(row) for row in rows)
    drawn = [[(place, prepare(result_set, key)) for place, key in row] for row in rows]
    left, bottom, right, top = drawn[0][0][1].box
    shape = min(max((top - bottom) / (right - left), 0.4), 2.2)
    with style():
        width = 3.4 if shape < 1.4 else 2.9
        whole = figure(max(columns * width + 0.6, 5.2), len(rows) * (width * shape + 0.75) + 0.9)
        grid = whole.subplots(len(rows), columns, squeeze=False)
        for line, row in zip(grid, drawn, strict=True):
            for axes in line[len(row) :]:
                axes.set_visible(False)
            for axes, (place, one) in zip(line, row, strict=False):
                _panel(axes, one, row[0][1], place)
            for axes in line[1 : len(row)]:
                axes.set_ylabel("")
        name = drawn[0][0][1].cell if len(cells) == 1 else ""
        more = f", {len(keys):,} results" + (
            "" if len(cells) == len(shown) else f", {len(shown)} of {len(cells)} cells"
        )
        whole.suptitle(f"{pattern}{f': {name}' if name else ''}{more}", fontsize=10, fontweight="bold")
        if columns > 1:
            whole.legend(handles=_legend(drawn[0][0][1]), loc="outside lower center", ncols=2, fontsize=8)
    return np.array(
        [axes for line, row in zip(grid, drawn, strict=True) for axes in line[: len(row)]], object
    )


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
    origin = drawn.origin
    _draw(axes, drawn, best, origin, 4.0)
    axes.grid(visible=False)
    axes.tick_params(labelsize=7)
    shapes.label_axes(axes, origin)
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


def same_place(drawn: Drawn, best: Drawn) -> NDArray[np.bool_]:
    """Which turbines stand where the best layout has one too."""
    apart = np.hypot(*(drawn.places[:, :, None] - best.places[:, None, :]))
    near: NDArray[np.bool_] = apart.min(axis=1) <= _SAME_PLACE * drawn.diameter_m
    return near


def _draw(axes: Axes, drawn: Drawn, best: Drawn, origin: tuple[float, float], size: float) -> None:
    def in_km(layout: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((layout - np.array(origin)[:, None]) * shapes.KM)

    if drawn.area is not None:
        axes.add_patch(
            shapes.area_patch(drawn.area, origin, facecolor="none", edgecolor=ink(), linewidth=0.8)
        )
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
    beside = Line2D([], [], linestyle="none", marker="^", markersize=4, color="none", markeredgecolor=ink(),
                    markeredgewidth=0.6, label="neighbours")  # fmt: skip
    return [
        *([beside] if drawn.neighbours.size else []),
        Line2D([], [], linestyle="none", marker="o", markersize=4, color=strong(), markeredgewidth=0,
               label="not where the best has one (in the best: all)"),
        Line2D([], [], linestyle="none", marker="o", markersize=2.6, color=FAINT, markeredgewidth=0,
               label=f"where the best has one (within {_SAME_PLACE:g} D)"),
        Line2D([], [], linestyle="none", marker="o", markersize=4, color="none", markeredgecolor=strong(),
               markeredgewidth=0.6, label="only in the best"),
    ]  # fmt: skip


def _every(result_set: ResultSet, pattern: str, every: list[str], most: int) -> NDArray[np.object_]:
    keys = every[:most]
    drawn = [prepare(result_set, key) for key in keys]
    best = {cell: prepare(result_set, mine[0]) for cell, mine in _cells(result_set, keys).items()}
    left, bottom, right, top = drawn[0].box
    shape = (top - bottom) / (right - left)
    columns = min(len(keys), max(1, round(math.sqrt(len(keys) * 1.5 * shape))), 10)
    lines = math.ceil(len(keys) / columns)
    width = min(1.75, 16.0 / columns) if columns > 3 else 3.2
    with style():
        whole = figure(max(columns * width + 0.2, 5.2), lines * (width * shape + 0.42) + 0.95)
        grid = whole.subplots(lines, columns, squeeze=False)
        for place, axes in enumerate(grid.flat):
            axes.axis("off")
            if place < len(drawn):
                one = drawn[place]
                _draw(axes, one, best[result_set.place(one.key)[:2]], one.origin, 2.6)
                axes.set_title(_title(one, one), fontsize=7.5, pad=2,
                               fontweight="bold" if place == 0 else "normal")  # fmt: skip
        more = (
            f", {len(keys)} results" if len(every) == len(keys) else f", the best {len(keys)} of {len(every)}"
        )
        worst = drawn[-1].aep_gwh
        if drawn[0].aep_gwh and worst:
            more += f", {100 * (1 - worst / drawn[0].aep_gwh):.2f} % apart"
        name = drawn[0].cell if len(best) == 1 else ""
        whole.suptitle(f"{pattern}{f': {name}' if name else ''}{more}", fontsize=10, fontweight="bold")
        whole.legend(handles=_legend(drawn[0]), loc="outside lower center", ncols=2, fontsize=8)
    return np.array(grid.flat[: len(keys)], object)
