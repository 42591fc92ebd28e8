"""The parts of a map: areas, turbines to scale, circles that must not overlap, neighbours, names, scale and axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Circle, PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.patheffects import Normal, withStroke
from matplotlib.transforms import offset_copy
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar  # type: ignore[import-untyped]
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign.sections.costs import Depth
from vindeby.economy.cables import Routes
from vindeby.plots.style import FAINT, MARKERS, ink, legend_mark, paper, shades, slow_to_free
from vindeby.results.maps import Box, box_around

Origin = tuple[float, float]
"""The corner that a map is measured from, in metres."""
KM = 1e-3


def in_km(places: FloatArray, origin: Origin) -> FloatArray:
    """Positions in metres as kilometres from the origin of a map."""
    return np.asarray((places - np.array(origin)[:, None]) * KM)


def draw_area(axes: Axes, area: BaseGeometry, origin: Origin, linewidth: float) -> None:
    """The outline of an area, with its holes."""
    vertices: list[FloatArray] = []
    codes: list[int] = []
    for polygon in shapely.get_parts(area):
        for ring in (polygon.exterior, *polygon.interiors):
            points = (np.asarray(ring.coords) - origin) * KM
            vertices.append(points)
            codes += map(int, (Path.MOVETO, *[Path.LINETO] * (len(points) - 2), Path.CLOSEPOLY))
    path = Path(np.concatenate(vertices), codes)
    axes.add_patch(PathPatch(path, facecolor="none", edgecolor=ink(), linewidth=linewidth))


def draw_rotors(
    axes: Axes, places_km: FloatArray, diameter_m: float, direction: float | None, **look: Any
) -> None:
    """Rotors to scale, seen from above: lines across the wind, or circles when no direction is given."""
    radius = diameter_m * KM / 2
    if direction is None:
        discs = PatchCollection([Circle((x, y), radius) for x, y in places_km.T], **look)
        axes.add_collection(discs).set_facecolor("none")
        axes.plot(
            *places_km, "o", markersize=3.5, markeredgewidth=0, **look
        )  # a circle may be too small to be seen
        return
    across = np.deg2rad(90.0 - direction + 90.0)
    step = radius * np.array([np.cos(across), np.sin(across)])
    ends = [[(x - step[0], y - step[1]), (x + step[0], y + step[1])] for x, y in places_km.T]
    look.setdefault("linewidths", 1.6)
    axes.add_collection(LineCollection(ends, capstyle="round", **look))


def draw_spacing(axes: Axes, places_km: FloatArray, spacing_m: float) -> None:
    """Circles of half the least distance: where none overlap, the distance is kept."""
    circles = [Circle((x, y), spacing_m * KM / 2) for x, y in places_km.T]
    axes.add_collection(
        PatchCollection(circles, facecolor="none", edgecolor=FAINT, linewidth=0.5, linestyle=(0, (3, 2)))
    )


def draw_neighbours(axes: Axes, places: FloatArray, count: int, origin: Origin, size: float = 5.0) -> None:
    """Turbines that stand already (positions in metres), as open triangles with an entry in the legend.

    ``count`` is how many there are; the positions may be fewer, where some are too far away.
    """
    if not count:
        return
    shown = places.shape[1]
    label = (
        f"neighbours ({count})"
        if shown == count
        else f"neighbours ({shown} of {count}, the others farther away)"
    )
    (line,) = axes.plot(*in_km(places, origin), "^", markersize=size, markerfacecolor=paper(),
                        markeredgecolor=ink(), markeredgewidth=0.9, label=label, zorder=5)  # fmt: skip
    line.set_gid("neighbours")


def draw_cables(axes: Axes, routes: Routes, capacities: Sequence[int], origin: Origin) -> None:
    """Cables by type, the larger the wider, and substations as squares; with entries in the legend.

    ``capacities`` are how many turbines each type carries, as far as this is known.
    """
    lines, colours = routes.lines(), shades(1 + int(routes.types.max(initial=0)))
    halo = [withStroke(linewidth=4.5, foreground=paper()), Normal()]
    for kind in np.unique(routes.types).tolist():
        mine = [(line - origin) * KM for line, one in zip(lines, routes.types, strict=True) if one == kind]
        name = f"for {capacities[kind]} turbines" if kind < len(capacities) else f"of type {kind}"
        label = f"cables {name}: {routes.lengths_m[routes.types == kind].sum() * KM:,.1f} km"
        look = {"colors": [colours[kind]], "linewidths": 1.2 + 0.8 * kind, "zorder": 4}
        axes.add_collection(LineCollection(mine, label=label, path_effects=halo, **look))
    (squares,) = axes.plot(*in_km(routes.substations.T, origin), "s", markersize=9, color=ink(), zorder=6,
                           markeredgecolor=paper(), markeredgewidth=1.2, label="substation")  # fmt: skip
    squares.set_gid("substations")


def draw_legend(axes: Axes, handles: Sequence[Artist] = ()) -> None:
    """The legend of a map, below it so that it hides nothing; ``handles`` come first."""
    every = [*handles, *axes.get_legend_handles_labels()[0]]
    if every:
        below = offset_copy(axes.transAxes, axes.get_figure(root=True), y=-32, units="points")
        axes.legend(handles=every, loc="upper left", bbox_to_anchor=(0.0, 0.0), bbox_transform=below,
                    ncols=2, fontsize=7.5, borderaxespad=0.0)  # fmt: skip


def draw_depth(axes: Axes, depth: Depth, origin: Origin, *, filled: bool = False) -> None:
    """Lines of equal water depth with their metres; or the depth in colours, with a colour bar."""
    values = depth.array().T
    if np.ptp(values) == 0.0:
        return
    x, y = ((np.array(axis) - corner) * KM for axis, corner in zip((depth.x, depth.y), origin, strict=True))
    if filled:
        image = axes.contourf(x, y, values, levels=20, cmap=slow_to_free().reversed(), zorder=0)
        axes.figure.colorbar(image, ax=axes, shrink=0.7, aspect=40, pad=0.02, label="water depth, m")
        return
    lines = axes.contour(x, y, values, levels=8, colors=FAINT, linewidths=0.7, zorder=1)
    axes.clabel(lines, fmt="%g m", fontsize=6)


def draw_excluded(axes: Axes, excluded: BaseGeometry, origin: Origin) -> None:
    """Areas where no turbine may stand, hatched, with an entry in the legend."""
    for number, part in enumerate(shapely.get_parts(excluded)):
        ring = (np.asarray(part.exterior.coords) - origin) * KM
        axes.add_patch(Polygon(ring, fill=False, hatch="////", linewidth=0, edgecolor=FAINT, zorder=1,
                               label=None if number else "excluded"))  # fmt: skip


def draw_names(axes: Axes, names: dict[str, FloatArray], origin: Origin, size: float = 7.5) -> None:
    """Names at their places, in metres."""
    for name, place in names.items():
        x, y = (place - origin) * KM
        axes.text(x, y, name, ha="center", va="center", fontsize=size, fontweight="bold", zorder=7, clip_on=True,
                  path_effects=[withStroke(linewidth=2.5, foreground=paper())])  # fmt: skip


def draw_numbers(axes: Axes, places_km: FloatArray, size: float) -> None:
    """Each turbine's number, beside it."""
    for number, (x, y) in enumerate(places_km.T):
        halo = [withStroke(linewidth=1.6, foreground=paper())]
        look: Any = {"fontsize": size, "color": ink(), "path_effects": halo, "zorder": 7}
        axes.annotate(str(number), (x, y), (2.2, 1.6), textcoords="offset points", **look)


def frame(area: BaseGeometry | None, layout: FloatArray) -> Box:
    """The box around an area and a layout, with a margin."""
    left, bottom, right, top = box_around(area, layout)
    grow = 0.05 * max(right - left, top - bottom, 1000.0)
    return left - grow, bottom - grow, right + grow, top + grow


def paper_for(box: Box, longest: float = 7.6) -> tuple[float, float]:
    """Inches for a map of this box with its axis labels; neither side much longer than ``longest``."""
    width, height = box[2] - box[0], box[3] - box[1]
    scale = longest / max(width, height)
    return max(2.6, width * scale) + 0.7, max(2.6, height * scale) + 0.7


def label_axes(axes: Axes, origin: Origin, crs: str | None = None) -> None:
    """Say what a map is measured from, and in which coordinate reference system if one is known."""
    system = f" ({crs[:40]})" if crs else ""
    axes.set(
        xlabel=f"km east of x = {origin[0]:,.0f} m{system}", ylabel=f"km north of y = {origin[1]:,.0f} m"
    )


def draw_scale(axes: Axes) -> None:
    """A bar of one, two or five times a power of ten, at most a quarter as long as a map is wide."""
    width = float(np.ptp(axes.get_xlim())) / 4
    power = 10.0 ** np.floor(np.log10(width))
    length = power * max(step for step in (1, 2, 5) if step * power <= width)
    axes.add_artist(
        AnchoredSizeBar(axes.transData, length, f"{length:g} km", "lower right", frameon=False, color=ink())
    )


@dataclass(frozen=True)
class MixedTypes:
    """Of which type each turbine is, and the name, diameter and spacing (m) of each type."""

    types: IntArray
    names: tuple[str, ...]
    diameters_m: tuple[float, ...]
    spacings_m: tuple[float, ...]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How many there are of each."""
        counts = np.bincount(self.types, minlength=len(self.names))
        return [(name, f"{count}") for name, count in zip(self.names, counts.tolist(), strict=True)]


def draw_mixed(axes: Axes, places_km: FloatArray, mixed: MixedTypes, direction: float | None) -> None:
    """Draw all turbines, those of a type in one colour with one sign, and say which is which."""
    handles = []
    for kind, (name, colour) in enumerate(zip(mixed.names, shades(len(mixed.names)), strict=True)):
        mine = places_km[:, mixed.types == kind]
        if mixed.spacings_m[kind]:
            draw_spacing(axes, mine, mixed.spacings_m[kind])
        draw_rotors(axes, mine, mixed.diameters_m[kind], direction, color=colour, zorder=5)
        marker = MARKERS[kind % len(MARKERS)]
        axes.plot(*mine, marker, markersize=3, color=colour, markeredgewidth=0, zorder=5)
        handles.append(legend_mark(marker, colour, f"{name} ({mine.shape[1]})"))
    draw_legend(axes, handles)


def draw_moves(axes: Axes, old: FloatArray, new: FloatArray) -> None:
    """Draw an arrow from each place to the one that took it over, both in km."""
    look = {"arrowstyle": "-|>", "color": FAINT, "linewidth": 0.8, "shrinkA": 3, "shrinkB": 3}
    for start, end in zip(*pair(old, new), strict=True):
        axes.annotate("", tuple(new[:, end]), tuple(old[:, start]), arrowprops=look, zorder=1)


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
