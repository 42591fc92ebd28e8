"""All seeds of a farm and type beside each other, the best first."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, prepare
from vindeby.plots.style import figure, ink, style
from vindeby.results.result_set import ResultSet

_MOST = 120


def gallery(result_set: ResultSet, pattern: str, *, most: int = _MOST) -> NDArray[np.object_]:
    """Small pictures of every result that ``pattern`` names, such as ``farm0_t5_*``; their axes, best first."""
    every = result_set.matching(pattern)
    keys = every[:most]
    drawn = [prepare(result_set, key) for key in keys]
    left, bottom, right, top = shapes.frame(drawn[0].area, drawn[0].places)
    shape = (top - bottom) / (right - left)
    columns = min(len(keys), max(1, round(math.sqrt(len(keys) * 1.5 * shape))), 10)
    lines = math.ceil(len(keys) / columns)
    width = min(1.75, 16.0 / columns) if columns > 3 else 3.2
    with style():
        whole = figure(columns * width + 0.2, lines * (width * shape + 0.42) + 0.55)
        grid = whole.subplots(lines, columns, squeeze=False)
        for place, axes in enumerate(grid.flat):
            axes.axis("off")
            if place < len(drawn):
                _small(axes, drawn[place], place)
        more = (
            f", {len(keys)} results" if len(every) == len(keys) else f", the best {len(keys)} of {len(every)}"
        )
        worst = drawn[-1].aep_gwh
        if drawn[0].aep_gwh and worst:
            more += f", {100 * (1 - worst / drawn[0].aep_gwh):.2f} % apart"
        farms = {result_set.place(key)[:2] for key in keys}
        name = drawn[0].title.rsplit(", seed", 1)[0] if len(farms) == 1 else ""
        whole.suptitle(f"{pattern}{f': {name}' if name else ''}{more}", fontsize=10, fontweight="bold")
    return np.array(grid.flat[: len(keys)], object)


def _small(axes: Axes, drawn: Drawn, place: int) -> None:
    corner = drawn.area.bounds[:2] if drawn.area is not None else drawn.places.min(axis=1)
    origin = (float(corner[0]), float(corner[1]))
    places = (drawn.places - np.array(origin)[:, None]) * shapes.KM
    if drawn.area is not None:
        axes.add_patch(
            shapes.area_patch(drawn.area, origin, facecolor="none", edgecolor=ink(), linewidth=0.8)
        )
    axes.plot(*places, "o", markersize=2.6, color="#00224e" if place == 0 else "#434e6c", markeredgewidth=0)
    axes.set_aspect("equal")
    seed = drawn.key.rsplit("_", 1)[-1]
    worth = "" if drawn.aep_gwh is None else f"{drawn.aep_gwh:,.1f} GWh"
    axes.set_title(f"{seed}  {worth}", fontsize=7.5, fontweight="bold" if place == 0 else "normal", pad=2)
