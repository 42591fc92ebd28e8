"""The farms of a campaign on the map, and the wakes of its best layout by direction and by turbine."""

from typing import cast

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from vindeby.campaign import Campaign
from vindeby.errors import DataError
from vindeby.plots import shapes
from vindeby.plots.energy import type_label
from vindeby.plots.layout import Drawn, draw_surroundings
from vindeby.plots.style import STRONG, figure, shades, style
from vindeby.results.maps import box_around, nearby, neighbour_places
from vindeby.results.result_set import ResultSet

_MOST_LISTED = 30
_BAR = 5


def _campaign_of(result_set: ResultSet) -> Campaign:
    if result_set.campaign is None:
        raise DataError(
            f"{result_set.path}: no campaign is kept with it, so areas are not known; give --campaign FILE"
        )
    if not result_set.campaign.is_about_wind:
        raise DataError(f"{result_set.path}: its campaign is about a function without wind, and has no farms")
    return result_set.campaign


def wakes(result_set: ResultSet) -> Axes:
    """Draw the wake loss of the best result by wind direction and by turbine."""
    best = Drawn(result_set, result_set.best_key())
    if best.farm is None or not best.has_wakes:
        raise DataError(f"{result_set.path}: without a campaign and its wake model, wakes are not known")
    (x, y), types, farm = best.places, best.types, best.farm
    wind, type_of = farm.free_wind(x, y, types), np.broadcast_to(types, x.shape)
    free = np.array([farm.turbines[t].power_at(speed) for t, speed in zip(type_of, wind.speed, strict=True)])
    lost, free = (free - farm.power(x, y, types)) * wind.probability, free * wind.probability
    is_series = farm.states.step is not None  # which has any directions
    rounded = _BAR * np.rint(wind.direction / _BAR) % 360 if is_series else wind.direction
    angles, bar = np.unique(rounded, return_inverse=True)
    lost_from, free_from = (np.bincount(bar.ravel(), power.ravel()) for power in (lost, free))
    by_turbine = lost.reshape(len(type_of), -1).sum(axis=1) / free.reshape(len(type_of), -1).sum(axis=1)
    width, height = shapes.paper_for(best.box, 4.2)
    with style():
        left, right = figure(5.0 + width, max(height, 3.6)).subplots(1, 2, width_ratios=(4.0, width))
        left.bar(
            angles,
            100 * lost_from / np.maximum(free_from, 1e-9),
            min(30.0, 360 / len(angles)),
            color=STRONG,
        )
        left.set(xlabel="wind direction, degrees", ylabel="wake loss, %", xticks=range(0, 361, 90))
        left.set_title(f"{best.key}: by direction")
        draw_surroundings(right, best, best.box)
        points = right.scatter(
            *best.places_km, s=26, cmap=ListedColormap(shades(256)), c=100 * by_turbine, zorder=6
        )
        shapes.draw_legend(right)
        right.set_title("and by turbine")
        right.figure.colorbar(points, ax=right, label="wake loss, %", shrink=0.8)
    return cast("Axes", left)


def farm_map(result_set: ResultSet) -> Axes:
    """Draw all areas in their places, each with its best layout."""
    campaign, best = _campaign_of(result_set), result_set.best_of_farm()
    shapes_of = [farm.drawn_shape() for farm in campaign.farms]
    every = np.hstack([neighbour_places(campaign, index) for index in range(len(campaign.farms))])
    beside = nearby(np.unique(every, axis=1), box_around(*shapes_of)) if every.size else every
    box = box_around(*shapes_of, beside)
    with style():
        origin, (width, height) = box[:2], shapes.paper_for(box, 9.5)
        axes = figure(max(width, 3.0) + 2.3, height).add_subplot()
        for shape in shapes_of:
            shapes.draw_area(axes, shape, origin, 1.1)
        for row in best.values():
            places = result_set.layout(result_set.key_of(row))
            axes.plot(*shapes.in_km(places, origin), "o", markersize=3, color=STRONG, markeredgewidth=0)
        excluded = shapely.union_all([farm.excluded_shape() for farm in campaign.farms])
        shapes.draw_excluded(axes, excluded, origin)
        shapes.draw_neighbours(axes, beside, beside.shape[1], origin, 2.6)
        shapes.draw_legend(axes)
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
        axes.set_title(f"{campaign.name}: of each farm the layout\nthat {result_set.best_in_words()}")
    return axes


def _listed(result_set: ResultSet, index: int, best: dict[int, int]) -> str:
    text = f"{index}  {result_set.axes.farm_name(index)}"
    if index not in best:
        return text
    row = result_set.rows[best[index]]
    name = type_label(result_set, int(row["type_idx"]), int(row["farm_idx"]))
    return f"{text}\n    {row['n_turbines']} x {name}, {row['aep']:,.0f} GWh"
