"""The farms of a campaign: on the map, and how density and wakes go together."""

from typing import cast

import numpy as np
import shapely
from matplotlib.axes import Axes

from vindeby.campaign import Campaign
from vindeby.errors import DataError
from vindeby.plots import shapes
from vindeby.plots.energy import type_label
from vindeby.plots.layout import Drawn
from vindeby.plots.style import MARKERS, figure, ramp, shades, strong, style
from vindeby.results.maps import box_around, nearby, neighbour_places
from vindeby.results.result_set import ResultSet

_MOST_LISTED = 30
_SECTOR = 10
_FEW = 20


def _campaign_of(result_set: ResultSet) -> Campaign:
    if result_set.campaign is None:
        raise DataError(
            f"{result_set.path}: no campaign is kept with it, so areas are not known; give --campaign FILE"
        )
    if not result_set.campaign.is_about_wind:
        raise DataError(f"{result_set.path}: its campaign is about a function without wind, and has no farms")
    return result_set.campaign


def density(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Each result is a point: what wakes take against how much capacity stands on a square kilometre."""
    campaign = _campaign_of(result_set)
    rows, losses = result_set.rows, result_set.wake_losses()
    areas = {index: farm.boundary.area_km2 for index, farm in enumerate(campaign.farms)}
    types = [int(kind) for kind in np.unique(rows["type_idx"]) if 0 <= kind < len(campaign.turbines)]
    if not types:
        raise DataError(f"{result_set.path}: holds no results that could be drawn")
    is_few = len(rows) <= _FEW
    with style(dark=dark):
        axes = figure(7.2, 4.6).add_subplot()
        for kind, colour in zip(types, shades(len(types)), strict=True):
            mine = (rows["type_idx"] == kind) & ~np.isnan(losses) & np.isin(rows["farm_idx"], list(areas))
            rated = result_set.mean_rated_mw(rows[mine])
            area = np.array([areas[int(farm)] for farm in rows["farm_idx"][mine]])
            x, y = rows["n_turbines"][mine] * rated / np.maximum(area, 1e-9), 100 * losses[mine]
            axes.plot(x, y, MARKERS[types.index(kind) % len(MARKERS)], markersize=7 if is_few else 3, color=colour,
                      markeredgewidth=0, label=type_label(result_set, kind))  # fmt: skip
            for place, key in zip(zip(x, y, strict=True), rows["key"][mine], strict=True) if is_few else ():
                name = key.decode(errors="replace")
                axes.annotate(name, place, (5, 3), textcoords="offset points", fontsize=7)
        if is_few:  # a range of their own would make small differences look large
            axes.set_xlim(0, 1.2 * axes.get_xlim()[1])
            axes.set_ylim(min(0, axes.get_ylim()[0]), 1.1 * axes.get_ylim()[1])
        axes.set(xlabel="capacity density, MW/km²", ylabel="wake loss, %")
        axes.set_title("Wake loss against capacity density, every result")
        axes.legend(fontsize=8, markerscale=1.8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def wakes(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Of the result that loses least, what wakes take by wind direction and from each turbine."""
    best = [Drawn(result_set, result_set.key_of(row)) for row in [*result_set.best_of_farm().values()][:1]]
    if not best or best[0].farm is None or not best[0].has_wakes:
        raise DataError(f"{result_set.path}: without a campaign and its wake model, wakes are not known")
    key, (x, y), types, farm = best[0].key, best[0].places, best[0].types, best[0].farm
    wind, type_of = farm.free_wind(x, y, types), np.broadcast_to(types, x.shape)
    free = np.array([farm.turbines[t].power_at(speed) for t, speed in zip(type_of, wind.speed, strict=True)])
    lost, free = (free - farm.power(x, y, types)) * wind.probability, free * wind.probability
    sector = np.rint(wind.direction / _SECTOR).astype(int).ravel() % (360 // _SECTOR)
    lost_from, free_from = (np.bincount(sector, power.ravel(), 360 // _SECTOR) for power in (lost, free))
    by_turbine = lost.reshape(len(type_of), -1).sum(axis=1) / free.reshape(len(type_of), -1).sum(axis=1)
    with style(dark=dark):
        left, right = figure(9.6, 4.4).subplots(1, 2)
        angles = np.arange(0, 360, _SECTOR)
        left.bar(angles, 100 * lost_from / np.maximum(free_from, 1e-9), 0.8 * _SECTOR, color=strong())
        left.set(xlabel="wind direction, degrees", ylabel="wake loss, %", xticks=range(0, 361, 90))
        left.set_title(f"{key}: by direction")
        points = right.scatter(*best[0].places_km, s=26, cmap=ramp(), c=100 * by_turbine)
        right.set_aspect("equal")
        shapes.label_axes(right, best[0].origin)
        right.set_title("and by turbine")
        right.figure.colorbar(points, ax=right, label="wake loss, %", shrink=0.8)
    return cast("Axes", left)


def farm_map(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """All areas in their places, each with its best layout."""
    campaign = _campaign_of(result_set)
    shapes_of = [farm.drawn_shape() for farm in campaign.farms]
    every = np.hstack([neighbour_places(campaign, index) for index in range(len(campaign.farms))])
    beside = nearby(np.unique(every, axis=1), box_around(*shapes_of)) if every.size else every
    box = box_around(*shapes_of, beside)
    with style(dark=dark):
        origin, (width, height) = box[:2], shapes.paper_for(box, 9.5)
        axes = figure(max(width, 3.0) + 2.3, height).add_subplot()
        for shape in shapes_of:
            shapes.draw_area(axes, shape, origin, 1.1)
        best = result_set.best_of_farm()
        for row in best.values():
            places = result_set.layout(result_set.key_of(row))
            axes.plot(*shapes.in_km(places, origin), "o", markersize=2.0, color=strong(), markeredgewidth=0)
        excluded = shapely.union_all([farm.excluded_shape() for farm in campaign.farms])
        shapes.draw_excluded(axes, excluded, origin)
        shapes.draw_neighbours(axes, beside, beside.shape[1], origin, 2.6)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper left", fontsize=7, frameon=True, framealpha=0.8)
        middles = [
            one.centroid if one.contains(one.centroid) else one.representative_point() for one in shapes_of
        ]
        numbers = {str(index): np.array([one.x, one.y]) for index, one in enumerate(middles)}
        shapes.draw_names(axes, numbers, origin, 11)
        names = "\n".join(
            _listed(result_set, index, best) for index in range(min(len(shapes_of), _MOST_LISTED))
        )
        axes.text(1.02, 0.98, names, transform=axes.transAxes, va="top", fontsize=7.5, linespacing=1.35)
        wide, high = (box[2] - box[0]) * shapes.KM, (box[3] - box[1]) * shapes.KM
        margin = 0.04 * max(wide, high)
        axes.set(xlim=(-margin, wide + margin), ylim=(-margin, high + margin))
        axes.set_aspect("equal")
        axes.grid(visible=False)
        shapes.label_axes(axes, origin, campaign.crs)
        shapes.draw_scale(axes)
        axes.set_title(f"{campaign.name}: of each farm the layout\nthat loses least to wakes")
    return axes


def _listed(result_set: ResultSet, index: int, best: dict[int, int]) -> str:
    text = f"{index}  {result_set.farm_name(index)}"
    if index not in best:
        return text
    row = result_set.rows[best[index]]
    name = type_label(result_set, int(row["type_idx"]), int(row["farm_idx"]))
    return f"{text}\n    {row['n_turbines']} x {name}, {row['aep']:,.0f} GWh"
