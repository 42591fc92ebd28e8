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
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign.sections.costs import Depth
from vindeby.economy.cables import Routes
from vindeby.plots.style import FAINT, INK, MARKERS, PAPER, legend_mark, shades
from vindeby.results.maps import Box, box_around

Origin = tuple[float, float]
"""The corner that a map is measured from, in metres."""
KM = 1e-3


def in_km(places: FloatArray, origin: Origin) -> FloatArray:
    """Return positions in metres as kilometres from the origin of a map."""
    return np.asarray((places - np.array(origin)[:, None]) * KM)


def draw_area(axes: Axes, area: BaseGeometry, origin: Origin, linewidth: float) -> None:
    """Draw the outline of an area, with its holes."""
    vertices: list[FloatArray] = []
    codes: list[int] = []
    for polygon in shapely.get_parts(area):
        for ring in (polygon.exterior, *polygon.interiors):
            points = (np.asarray(ring.coords) - origin) * KM
            vertices.append(points)
            codes += map(int, (Path.MOVETO, *[Path.LINETO] * (len(points) - 2), Path.CLOSEPOLY))
    path = Path(np.concatenate(vertices), codes)
    axes.add_patch(PathPatch(path, facecolor="none", edgecolor=INK, linewidth=linewidth))


def draw_rotors(
    axes: Axes, places_km: FloatArray, diameter_m: float, direction: float | None, **look: Any
) -> None:
    """Draw rotors to scale, seen from above: lines across the wind, or circles if no direction is given."""
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
    """Draw circles of half the least distance as radius: where none overlap, the distance is kept."""
    circles = [Circle((x, y), spacing_m * KM / 2) for x, y in places_km.T]
    axes.add_collection(
        PatchCollection(circles, facecolor="none", edgecolor=FAINT, linewidth=0.5, linestyle=(0, (3, 2)))
    )


def draw_neighbours(axes: Axes, places: FloatArray, count: int, origin: Origin, size: float = 5.0) -> None:
    """Draw existing turbines (positions in metres) as open triangles with an entry in the legend.

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
    (line,) = axes.plot(*in_km(places, origin), "^", markersize=size, markerfacecolor=PAPER,
                        markeredgecolor=INK, markeredgewidth=0.9, label=label, zorder=5)  # fmt: skip
    line.set_gid("neighbours")


def draw_cables(axes: Axes, routes: Routes, capacities: Sequence[int], origin: Origin) -> None:
    """Draw cables by type, the larger the wider, and substations as squares, with entries in the legend.

    ``capacities`` are how many turbines each type carries, as far as this is known.
    """
    lines, colours = routes.lines(), shades(1 + int(routes.types.max(initial=0)))
    halo = [withStroke(linewidth=4.5, foreground=PAPER), Normal()]
    for kind in np.unique(routes.types).tolist():
        mine = [(line - origin) * KM for line, one in zip(lines, routes.types, strict=True) if one == kind]
        name = f"for {capacities[kind]} turbines" if kind < len(capacities) else f"of type {kind}"
        label = f"cables {name}: {routes.lengths_m[routes.types == kind].sum() * KM:,.1f} km"
        look = {"colors": [colours[kind]], "linewidths": 1.2 + 0.8 * kind, "zorder": 4}
        axes.add_collection(LineCollection(mine, label=label, path_effects=halo, **look))
    (squares,) = axes.plot(*in_km(routes.substations.T, origin), "s", markersize=9, color=INK, zorder=6,
                           markeredgecolor=PAPER, markeredgewidth=1.2, label="substation")  # fmt: skip
    squares.set_gid("substations")


def draw_legend(axes: Axes, handles: Sequence[Artist] = ()) -> None:
    """Draw the legend of a map below it, so that the legend hides nothing; ``handles`` come first."""
    every = [*handles, *axes.get_legend_handles_labels()[0]]
    if every:
        below = offset_copy(axes.transAxes, axes.get_figure(root=True), y=-32, units="points")
        axes.legend(handles=every, loc="upper left", bbox_to_anchor=(0.0, 0.0), bbox_transform=below,
                    ncols=2, fontsize=7.5, borderaxespad=0.0)  # fmt: skip


def draw_depth(axes: Axes, depth: Depth, origin: Origin) -> None:
    """Draw lines of equal water depth with their metres."""
    values = depth.array().T
    if np.ptp(values) == 0.0:
        return
    x, y = ((np.array(axis) - corner) * KM for axis, corner in zip((depth.x, depth.y), origin, strict=True))
    lines = axes.contour(x, y, values, levels=8, colors=FAINT, linewidths=0.7, zorder=1)
    axes.clabel(lines, fmt="%g m", fontsize=6)


def draw_excluded(axes: Axes, excluded: BaseGeometry, origin: Origin) -> None:
    """Hatch the areas where no turbine may stand, with an entry in the legend."""
    for number, part in enumerate(shapely.get_parts(excluded)):
        ring = (np.asarray(part.exterior.coords) - origin) * KM
        axes.add_patch(Polygon(ring, fill=False, hatch="////", linewidth=0, edgecolor=FAINT, zorder=1,
                               label=None if number else "excluded"))  # fmt: skip


def draw_names(axes: Axes, names: dict[str, FloatArray], origin: Origin, size: float = 7.5) -> None:
    """Draw names at positions in metres."""
    for name, place in names.items():
        x, y = (place - origin) * KM
        axes.text(x, y, name, ha="center", va="center", fontsize=size, fontweight="bold", zorder=7, clip_on=True,
                  path_effects=[withStroke(linewidth=2.5, foreground=PAPER)])  # fmt: skip


def draw_numbers(axes: Axes, places_km: FloatArray, size: float) -> None:
    """Draw the number of each turbine beside it."""
    for number, (x, y) in enumerate(places_km.T):
        halo = [withStroke(linewidth=1.6, foreground=PAPER)]
        look: Any = {"fontsize": size, "color": INK, "path_effects": halo, "zorder": 7}
        axes.annotate(str(number), (x, y), (2.2, 1.6), textcoords="offset points", **look)


def frame(area: BaseGeometry | None, layout: FloatArray) -> Box:
    """Return the box around an area and a layout, with a margin."""
    left, bottom, right, top = box_around(area, layout)
    grow = 0.05 * max(right - left, top - bottom, 1000.0)
    return left - grow, bottom - grow, right + grow, top + grow


def paper_for(box: Box, longest: float = 7.6) -> tuple[float, float]:
    """Return the size (inches) of a map of this box with labels; neither side is much longer than ``longest``."""
    width, height = box[2] - box[0], box[3] - box[1]
    scale = longest / max(width, height)
    return max(2.6, width * scale) + 0.7, max(2.6, height * scale) + 0.7


def label_axes(axes: Axes, origin: Origin, crs: str | None = None) -> None:
    """Name the origin of a map, and its coordinate reference system if one is known."""
    system = f" ({crs[:40]})" if crs else ""
    axes.set(
        xlabel=f"km east of x = {origin[0]:,.0f} m{system}", ylabel=f"km north of y = {origin[1]:,.0f} m"
    )


def draw_scale(axes: Axes) -> None:
    """Draw a bar of one, two or five times a power of ten, at most a quarter as long as a map is wide."""
    width = float(np.ptp(axes.get_xlim())) / 4
    power = 10.0 ** np.floor(np.log10(width))
    length = power * max(step for step in (1, 2, 5) if step * power <= width)
    axes.add_artist(
        AnchoredSizeBar(axes.transData, length, f"{length:g} km", "lower right", frameon=False, color=INK)
    )


@dataclass(frozen=True)
class MixedTypes:
    """The type of each turbine, and the name, diameter and spacing (m) of each type."""

    types: IntArray
    names: tuple[str, ...]
    diameters_m: tuple[float, ...]
    spacings_m: tuple[float, ...]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Return the number of turbines of each type."""
        counts = np.bincount(self.types, minlength=len(self.names))
        return [(name, f"{count}") for name, count in zip(self.names, counts.tolist(), strict=True)]


def draw_mixed(axes: Axes, places_km: FloatArray, mixed: MixedTypes, direction: float | None) -> None:
    """Draw the turbines of each type in one colour with one marker, with entries in the legend."""
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
    """Draw arrows from old places to new ones, both in km, none of which would get shorter by swapping two ends.

    Where there are more places of one kind, those left over have no arrow.
    """
    look = {"arrowstyle": "-|>", "color": FAINT, "linewidth": 0.8, "shrinkA": 3, "shrinkB": 3}
    most = max(old.shape[1], new.shape[1])
    cost = np.zeros((most, most))
    cost[: old.shape[1], : new.shape[1]] = ((old[:, :, None] - new[:, None, :]) ** 2).sum(axis=0)
    ends = np.arange(most)
    while True:
        swapped, kept = cost[:, ends], np.diag(cost[:, ends])
        gain = kept[:, None] + kept - swapped - swapped.T
        one, other = np.unravel_index(np.argmax(gain), gain.shape)
        if gain[one, other] < 1e-9:
            break
        ends[[one, other]] = ends[[other, one]]
    for start, end in enumerate(ends.tolist()):
        if start < old.shape[1] and end < new.shape[1]:
            axes.annotate("", tuple(new[:, end]), tuple(old[:, start]), arrowprops=look, zorder=1)
