"""The farms of a campaign: on the map, and how density and wakes go together."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from shapely.geometry.base import BaseGeometry

from vindeby.campaign import Campaign
from vindeby.errors import DataError
from vindeby.plots import shapes
from vindeby.plots.energy import type_label
from vindeby.plots.style import MARKERS, figure, ink, paper, shades, strong, style
from vindeby.results.neighbour_places import FloatArray, grown, nearby, neighbour_places
from vindeby.results.result_set import ResultSet

_MOST_LISTED = 30


def _campaign_of(result_set: ResultSet) -> Campaign:
    if result_set.campaign is None:
        raise DataError(
            f"{result_set.path}: no campaign is kept with it, so areas are not known; give --campaign FILE"
        )
    return result_set.campaign


def density(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Each result is a point: what wakes take against how much capacity stands on a square kilometre."""
    campaign = _campaign_of(result_set)
    rows, losses = result_set.rows, result_set.wake_losses()
    areas = {index: farm.boundary.area_km2 for index, farm in enumerate(campaign.farms)}
    types = [int(kind) for kind in np.unique(rows["type_idx"]) if 0 <= kind < len(campaign.turbines)]
    if not types:
        raise DataError(f"{result_set.path}: holds no results that could be drawn")
    with style(dark=dark):
        axes = figure(7.2, 4.6).add_subplot()
        for kind, colour in zip(types, shades(len(types)), strict=True):
            mine = (rows["type_idx"] == kind) & ~np.isnan(losses) & np.isin(rows["farm_idx"], list(areas))
            rated = result_set.mean_rated_mw(rows[mine])
            area = np.array([areas[int(farm)] for farm in rows["farm_idx"][mine]])
            axes.plot(rows["n_turbines"][mine] * rated / np.maximum(area, 1e-9), 100 * losses[mine],
                      MARKERS[types.index(kind) % len(MARKERS)], markersize=3, color=colour,
                      markeredgewidth=0, label=type_label(result_set, kind))  # fmt: skip
        axes.set(xlabel="capacity density, MW/km²", ylabel="wake loss, %")
        axes.set_title("Wake loss against capacity density, every result")
        axes.legend(fontsize=8, markerscale=1.8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def farm_map(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """All areas in their places, each with its best layout."""
    campaign = _campaign_of(result_set)
    shapes_of = [farm.drawn_shape() for farm in campaign.farms]
    bounds = np.array([shape.bounds for shape in shapes_of])
    left, bottom = bounds[:, :2].min(axis=0)
    right, top = bounds[:, 2:].max(axis=0)
    beside = _all_neighbours(campaign, (left, bottom, right, top))
    left, bottom, right, top = grown((left, bottom, right, top), beside)
    origin = (float(left), float(bottom))
    with style(dark=dark):
        width, height = shapes.paper_for(right - left, top - bottom, 9.5)
        axes = figure(max(width, 3.0) + 2.3, height).add_subplot()
        for shape in shapes_of:
            axes.add_patch(shapes.area_patch(shape, origin, facecolor="none", edgecolor=ink(), linewidth=1.1))
        best = result_set.best_of_farm()
        for row in best.values():
            places = result_set.layout(result_set.rows["key"][row].decode(errors="replace"))
            axes.plot(*((places - np.array(origin)[:, None]) * shapes.KM), "o", markersize=2.0, color=strong(),
                      markeredgewidth=0)  # fmt: skip
        if beside.size:
            at = (beside - np.array(origin)[:, None]) * shapes.KM
            axes.plot(*at, "^", markersize=2.6, color="none", markeredgecolor=ink(), markeredgewidth=0.5,
                      label=f"neighbours ({beside.shape[1]})", gid="neighbours")  # fmt: skip
            axes.legend(loc="upper left", fontsize=7, frameon=True, framealpha=0.8)
        for index, shape in enumerate(shapes_of):
            _number(axes, index, shape, origin)
        names = "\n".join(
            _listed(result_set, index, best) for index in range(min(len(shapes_of), _MOST_LISTED))
        )
        axes.text(1.02, 0.98, names, transform=axes.transAxes, va="top", fontsize=7.5, linespacing=1.35)
        margin = 0.04 * max(right - left, top - bottom) * shapes.KM
        axes.set(xlim=(-margin, (right - left) * shapes.KM + margin))
        axes.set(ylim=(-margin, (top - bottom) * shapes.KM + margin))
        axes.set_aspect("equal")
        axes.grid(visible=False)
        shapes.label_axes(axes, origin)
        axes.set_title(f"{campaign.name}: of each farm the layout\nthat loses least to wakes")
    return axes


def _all_neighbours(campaign: Campaign, box: tuple[float, ...]) -> FloatArray:
    """The neighbours of every farm, each position once, as far as they are near."""
    every = np.hstack([neighbour_places(campaign, index) for index in range(len(campaign.farms))])
    return nearby(np.unique(every, axis=1), box) if every.size else every


def _number(axes: Axes, index: int, shape: BaseGeometry, origin: tuple[float, float]) -> None:
    """A farm's number, where it hides as little as possible."""
    middle = shape.centroid if shape.contains(shape.centroid) else shape.representative_point()
    axes.text(
        (middle.x - origin[0]) * shapes.KM,
        (middle.y - origin[1]) * shapes.KM,
        str(index),
        ha="center",
        va="center",
        fontsize=11,
        fontweight="bold",
        path_effects=[withStroke(linewidth=3, foreground=paper())],
        zorder=4,
    )


def _listed(result_set: ResultSet, index: int, best: dict[int, int]) -> str:
    text = f"{index}  {result_set.farm_name(index)}"
    if index not in best:
        return text
    row = result_set.rows[best[index]]
    name = type_label(result_set, int(row["type_idx"]), int(row["farm_idx"]))
    return f"{text}\n    {row['n_turbines']} x {name}, {row['aep']:,.0f} GWh"
