"""Yearly energy across farms, turbine types and seeds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from vindeby.errors import DataError
from vindeby.plots.style import MARKERS, figure, ink, paper, shades, style
from vindeby.results.result_set import ResultSet

_MOST_FARMS = 24


def _with_energy(result_set: ResultSet) -> NDArray[Any]:
    rows: NDArray[Any] = result_set.rows[
        ~np.isnan(result_set.rows["aep"]) & (result_set.rows["farm_idx"] >= 0)
    ]
    if not len(rows):
        raise DataError(f"{result_set.path}: holds no energies that could be drawn")
    return rows


def energy(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Every seed a point: one panel a farm, one column a type; a bar marks the median, a triangle the best."""
    rows = _with_energy(result_set)
    farms = [int(farm) for farm in np.unique(rows["farm_idx"])][:_MOST_FARMS]
    types = [int(kind) for kind in np.unique(rows["type_idx"])]
    with style(dark=dark):
        columns = min(5, len(farms))
        lines = math.ceil(len(farms) / columns)
        whole = figure(max(4.5, 2.1 * columns + 0.5), 2.5 * lines + 0.7)
        grid = whole.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        colours, random = shades(len(types)), np.random.default_rng(1)
        for place, axes in enumerate(grid.flat):
            if place >= len(farms):
                axes.set_visible(False)
                continue
            mine = rows[rows["farm_idx"] == farms[place]]
            for column, kind in enumerate(types):
                _column(axes, mine["aep"][mine["type_idx"] == kind], column, colours[column], column, random)
            axes.set_title(result_set.farm_name(farms[place]), fontsize=8)
            axes.set_xticks(range(len(types)), [f"t{kind}" for kind in types])
            axes.grid(visible=False, axis="x")
        for axes in grid[:, 0]:
            axes.set_ylabel("AEP, GWh")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        names = ", ".join(
            f"t{kind} {result_set.type_name(kind)}"
            for kind in types
            if result_set.type_name(kind) != f"t{kind}"
        )
        whole.suptitle("AEP of every seed; bar: median, triangle: best", fontsize=10, fontweight="bold")
        if names:
            whole.supxlabel(names, fontsize=8)
    axes = grid.flat[0]
    assert isinstance(axes, Axes)
    return axes


def _column(
    axes: Axes, values: np.ndarray[tuple[int], np.dtype[np.float64]], at: int, colour: object, number: int,
    random: np.random.Generator,
) -> None:  # fmt: skip
    if not len(values):
        return
    spread = random.uniform(-0.26, 0.26, len(values))
    axes.plot(at + spread, values, MARKERS[number % len(MARKERS)], markersize=2.2, color=colour, alpha=0.75,
              markeredgewidth=0)  # fmt: skip
    axes.plot([at - 0.36, at + 0.36], [np.median(values)] * 2, color=ink(), linewidth=1.3)
    axes.plot(at, values.max(), "^", markersize=5, color=ink(), markeredgecolor=paper(), markeredgewidth=0.5)


def best_and_median(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Two tables, farm by type: the best energy, and how far the median of the seeds stays below it."""
    rows = _with_energy(result_set)
    farms, types = (np.unique(rows[name]) for name in ("farm_idx", "type_idx"))
    best = np.full((len(farms), len(types)), np.nan)
    below = best.copy()
    for line, farm in enumerate(farms):
        for column, kind in enumerate(types):
            values = rows["aep"][(rows["farm_idx"] == farm) & (rows["type_idx"] == kind)]
            if len(values):
                best[line, column] = values.max()
                below[line, column] = 100 * (1 - np.median(values) / values.max())
    with style(dark=dark):
        whole = figure(3.2 + 1.25 * len(types), max(2.2, 1.3 + 0.3 * len(farms)))
        left, right = whole.subplots(1, 2, sharey=True)
        _table(left, best, "best AEP, GWh", "{:,.0f}")
        _table(right, below, "median below best, %", "{:.2f}")
        for axes in (left, right):
            axes.set_xticks(range(len(types)), [f"t{kind}" for kind in types])
        left.set_yticks(range(len(farms)), [result_set.farm_name(int(farm)) for farm in farms])
    assert isinstance(left, Axes)
    return left


def _table(
    axes: Axes, values: np.ndarray[tuple[int, int], np.dtype[np.float64]], title: str, form: str
) -> None:
    axes.imshow(values, cmap="cividis", aspect="auto")
    low, high = np.nanmin(values), np.nanmax(values)
    for (line, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            light = high > low and (value - low) / (high - low) > 0.55
            axes.text(column, line, form.format(value), ha="center", va="center", fontsize=7.5,
                      color="#000000" if light else "#ffffff")  # fmt: skip
    axes.set_title(title)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
