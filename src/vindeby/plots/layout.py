"""A picture of one layout: the area, the turbines to scale, their wakes, the wind, and the layout's value."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.arrays import FloatArray
from vindeby.assembly.starts import GAIN
from vindeby.assembly.stored_turbines import closest_pair, energy_of
from vindeby.assembly.value import LCOE, NPV
from vindeby.campaign.starts import start_of
from vindeby.economy.cables import Routes
from vindeby.errors import ArgumentError, VindebyError
from vindeby.plots import shapes, wind
from vindeby.plots.shapes import MixedTypes
from vindeby.plots.style import FAINT, INK, WAKE_COLOURS, figure, style
from vindeby.results.maps import Box, nearby, neighbour_groups
from vindeby.results.result_set import ResultSet
from vindeby.results.sources import farm_of, turbine_of

if TYPE_CHECKING:
    from vindeby.campaign import Campaign
    from vindeby.wake import WindFarm

_MONEY = (
    ("LCOE, EUR/MWh", LCOE, 1.0, ",.2f"),
    ("NPV, MEUR", NPV, 1e6, ",.1f"),
    ("capex, MEUR", "capex_eur", 1e6, ",.1f"),
    ("opex, MEUR/year", "opex_eur_per_year", 1e6, ",.1f"),
)
"""The figures of a result's cost: name, attribute, unit and format."""
_GRID = 420
"""Points along the longer side of a picture of wakes."""


class Drawn:
    """A result with all that its picture needs; without a campaign it has no area and no wind."""

    def __init__(self, result_set: ResultSet, key: str) -> None:
        self.key, self.record, self.places = key, result_set.record(key), result_set.layout(key)
        place = result_set.place(key)
        farm_idx, type_idx, _, seed = place
        self.routes = Routes.stored(self.record.arrays)
        campaign, cell = result_set.campaign, result_set.axes.by_place.get(place.cell)
        campaign = campaign if campaign is None or cell is None else campaign.of(cell)
        self.not_drawn = ""
        if campaign is not None and campaign.stored is not None:
            campaign, self.not_drawn = _with_neighbours(campaign, result_set)
        names = result_set.axes.cell_in_words(*place.cell)
        self.cell = names if seed >= 0 else ""
        self.which = f"seed {self.record.attributes.get('layout_seed', seed)}"
        self.aep_gwh = energy_of(self.record)
        self.groups = neighbour_groups(campaign, farm_idx)
        """Positions of existing turbines, by the name of their group."""
        self.section, turbine = farm_of(campaign, farm_idx), turbine_of(campaign, type_idx)
        self.crs = getattr(campaign, "crs", None)
        costs = None if campaign is None else campaign.costs
        self.depth = None if costs is None else costs.depth
        self.capacities = [] if costs is None or costs.cables is None else [n for n, _ in costs.cables.types]
        """The number of turbines that each type of cable carries."""
        self.engine = None if campaign is None or campaign.wake.engine is None else campaign.wake.title
        """The title of the engine that computes the wakes in place of vindeby; such wakes are not drawn."""
        diameter = self.record.attributes.get("diameter", 0.0)
        given = None if campaign is None or cell is None else start_of(campaign, cell, seed)
        self.start = None if given is None else np.array([given.x, given.y])
        """The positions of the turbines that the search began with."""
        self.diameter_m = float(diameter) if isinstance(diameter, int | float) and diameter else 100.0
        self.area: BaseGeometry | None = None
        self.farm: WindFarm | None = None
        self.spacing_m: float | None = None
        self.rated_power_mw: float | None = None
        self.mixed: MixedTypes | None = None
        if campaign is None or self.section is None or turbine is None:
            return
        self.area, self.diameter_m = self.section.drawn_shape(), turbine.rotor_diameter_m
        rated = result_set.mean_rated_mw(result_set.rows[result_set.rows["key"] == key.encode()])
        self.rated_power_mw = float(rated[0]) if len(rated) and rated[0] > 0.0 else None
        types = result_set.own_types(key)
        if cell is None or not cell.mix:
            self.spacing_m = campaign.min_spacing.in_metres(self.diameter_m)
        elif types is not None:
            turbines = campaign.turbines_of(cell)
            diameters_m = tuple(one.rotor_diameter_m for one in turbines)
            spacings_m = tuple(map(campaign.min_spacing.in_metres, diameters_m))
            self.mixed = MixedTypes(types, tuple(one.name for one in turbines), diameters_m, spacings_m)
        if types is not None:  # the worth of a mix without its types is unknown
            self.farm = result_set.wind_farm(cell, campaign)

    @property
    def title(self) -> str:
        """Return the name of the cell and the seed; empty if the campaign is unknown."""
        return f"{self.cell}, {self.which}" if self.cell else ""

    @cached_property
    def near(self) -> dict[str, FloatArray]:
        """Return the groups that are near enough to be drawn; around stored layouts, each farm as a whole."""
        frame, whole = shapes.frame(self.area, self.places), "layout_key" in self.record.attributes
        near = {name: nearby(group, frame) for name, group in self.groups.items()}
        return {name: self.groups[name] if whole else group for name, group in near.items() if group.size}

    @property
    def neighbours(self) -> FloatArray:
        """Return the positions of all neighbours that are drawn."""
        return np.hstack([np.empty((2, 0)), *self.near.values()])

    @property
    def neighbour_count(self) -> int:
        """Return the number of neighbours, near or not."""
        return sum(group.shape[1] for group in self.groups.values())

    @property
    def names(self) -> dict[str, FloatArray]:
        """Return the positions of the names of zones and groups."""
        zones = () if self.section is None else self.section.zones or ()
        inside = {zone.name: zone.boundary.shape().representative_point() for zone in zones}
        return {name: np.array([point.x, point.y]) for name, point in inside.items()} | {
            name: group.mean(axis=1) for name, group in self.near.items() if name != "neighbours"
        }

    @property
    def has_wakes(self) -> bool:
        """Return whether wakes can be drawn."""
        return self.farm is not None and self.engine is None

    @property
    def types(self) -> Any:
        """Return the type of each turbine of a mix; 0 for a farm of one type."""
        return 0 if self.mixed is None else self.mixed.types

    @property
    def box(self) -> Box:
        """Return the box around the picture."""
        stations = np.empty((2, 0)) if self.routes is None else self.routes.substations.T
        return shapes.frame(self.area, np.hstack([self.places, self.neighbours, stations]))

    @property
    def origin(self) -> tuple[float, float]:
        """Return the corner that a map is measured from, in metres."""
        corner = self.area.bounds[:2] if self.area is not None else self.places.min(axis=1)
        return float(corner[0]), float(corner[1])

    @property
    def places_km(self) -> FloatArray:
        """Return the turbines in kilometres from the origin."""
        return shapes.in_km(self.places, self.origin)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Return names and figures of the layout: its size, energy, costs and losses."""
        count = self.places.shape[1]
        facts = [("turbines", f"{count}")]
        if self.mixed is not None:
            facts += self.mixed.facts
        if self.rated_power_mw:
            facts.append(("capacity", f"{count * self.rated_power_mw:,.0f} MW"))
        if self.aep_gwh is not None:
            facts.append(("AEP", f"{self.aep_gwh:,.1f} GWh"))
        if isinstance(gain := self.record.attributes.get(GAIN), float):
            facts.append(("gain over start", f"{gain:+.2f} %"))
        facts += [
            (name, f"{value / unit:{form}}")
            for name, attribute, unit, form in _MONEY
            if isinstance(value := self.record.attributes.get(attribute), float)
        ]
        if self.aep_gwh is not None and self.rated_power_mw:
            full = units.mean_power_to_aep_gwh(self.rated_power_mw * units.MW) * count
            facts.append(("capacity factor", f"{100 * self.aep_gwh / full:.1f} %"))
        if self.aep_gwh is not None and self.farm is not None:
            facts.append(("wake loss", f"{100 * self.wake_loss:.2f} %"))
        if self.area is not None and self.rated_power_mw:
            density = count * self.rated_power_mw / (self.area.area / units.KM2)
            facts.append(("density", f"{density:.2f} MW/km²"))
        if count > 1:
            facts.append(("closest pair", f"{closest_pair(*self.places)[0]:,.0f} m"))
        if self.routes is not None:
            facts.append(("cables", f"{self.routes.length_m * shapes.KM:,.1f} km"))
        if self.spacing_m:
            facts.append(("least allowed", f"{self.spacing_m:,.0f} m"))
        if self.engine is not None:
            facts.append(("wakes not drawn", f"by {self.engine.split()[0]}"))
        return facts + self._facts_of_neighbours

    @property
    def _facts_of_neighbours(self) -> list[tuple[str, str]]:
        key, facts = self.record.attributes.get("layout_key"), list[tuple[str, str]]()
        if key is not None:
            facts.append(("layout", str(key)))
        if self.groups or self.not_drawn:
            facts.append(("neighbours", self.not_drawn or f"{self.neighbour_count}"))
        if (self.groups or key is not None) and not np.isnan(self.own_wake_loss):
            facts.append(("own wakes", f"{100 * self.own_wake_loss:.2f} %"))
            facts.append(("neighbours' wakes", f"{100 * (self.wake_loss - self.own_wake_loss):.2f} %"))
        return facts

    @property
    def wake_loss(self) -> float:
        """Return the share of the wake-free energy that is lost, from the stored energy."""
        if "loss_total" in self.record.arrays:
            return float(self.record.arrays["loss_total"])
        if self.farm is None or self.aep_gwh is None:
            return float("nan")
        return 1.0 - self.aep_gwh / self.farm.free_aep_at(self.places[0], self.places[1], self.types)

    @cached_property
    def own_wake_loss(self) -> float:
        """Return the wake loss without neighbours; NaN if their wakes cannot be separated."""
        if "loss_internal" in self.record.arrays:
            return float(self.record.arrays["loss_internal"])
        if not self.groups:
            return self.wake_loss
        if self.farm is None or not self.has_wakes:
            return float("nan")
        alone = type(self.farm)(self.farm.site, self.farm.turbines, self.farm.model)
        return alone.wake_loss(self.places[0], self.places[1], self.types)


def _with_neighbours(campaign: Campaign, result_set: ResultSet) -> tuple[Campaign, str]:
    """Return a campaign with its stored layouts' neighbours, and the reason if they cannot be drawn."""
    from vindeby.assembly.evaluation import source_of, with_neighbours_placed  # loads Numba

    source = source_of(campaign, result_set.path)
    try:
        return with_neighbours_placed(campaign, source), ""
    except VindebyError:
        return (
            campaign,
            f"not drawn: {f'{source.name} changed' if source.exists() else f'no {source.name}'}",
        )


def layout(
    result_set: ResultSet,
    key: str,
    *,
    direction: float | None = None,
    speed: float | None = None,
) -> Axes:
    """Draw one result: the map, the wind rose and the figures.

    ``direction`` and ``speed`` are those of the wind that the wakes are drawn for; by default the prevailing one.
    """
    drawn = Drawn(result_set, key)
    with style():
        width, height = shapes.paper_for(drawn.box)
        whole = figure(width + 2.5 + 0.9 * drawn.has_wakes, max(height, 4.6))
        side = whole.add_gridspec(2, 2, width_ratios=[width + 0.9, 2.3], height_ratios=[1.1, 1])
        axes = whole.add_subplot(side[:, 0])
        wind_of = _wind(drawn, direction, speed)
        _map(axes, drawn, *wind_of)
        if drawn.farm is not None:
            wind.draw_rose(whole.add_subplot(side[0, 1], projection="polar"), drawn.farm, wind_of[0])
        _facts(whole.add_subplot(side[1, 1]), drawn)
    return axes


def _wind(drawn: Drawn, direction: float | None, speed: float | None) -> tuple[float | None, float | None]:
    for name, value, most in (("--direction", direction, 360.0), ("--speed", speed, 100.0)):
        if value is not None and not 0.0 <= value <= most:
            raise ArgumentError(f"{name}: {value:g} is not between 0 and {most:g}")
    if drawn.farm is None:
        if direction is not None or speed is not None:
            raise ArgumentError(
                f"{drawn.key}: without a campaign no wakes can be drawn; give --campaign FILE"
            )
        return None, None
    usual = wind.prevailing(drawn.farm)
    return usual[0] if direction is None else direction % 360.0, usual[1] if speed is None else speed


def _map(axes: Axes, drawn: Drawn, direction: float | None, speed: float | None) -> None:
    places = drawn.places_km
    if drawn.has_wakes and direction is not None and speed:
        image = _draw_wakes(axes, drawn, direction, speed)
        label = f"wind speed at hub height, m/s;\nfree wind {speed:g} m/s from {direction:.4g}°"
        axes.figure.colorbar(image, ax=axes, shrink=0.7, aspect=40, pad=0.02, label=label, extend="min")
    if drawn.depth is not None:
        shapes.draw_depth(axes, drawn.depth, drawn.origin)
    if drawn.spacing_m:
        shapes.draw_spacing(axes, places, drawn.spacing_m)
    draw_surroundings(axes, drawn, drawn.box)
    if drawn.start is not None:
        start = shapes.in_km(drawn.start, drawn.origin)
        axes.plot(*start, "o", markersize=4, markerfacecolor="none", markeredgecolor=FAINT, zorder=1)
        shapes.draw_moves(axes, start, places)
    if drawn.routes is not None:
        shapes.draw_cables(axes, drawn.routes, drawn.capacities, drawn.origin)
    if drawn.mixed is None:
        shapes.draw_rotors(axes, places, drawn.diameter_m, direction, color=INK, zorder=5)
        shapes.draw_legend(axes)
    else:
        shapes.draw_mixed(axes, places, drawn.mixed, direction)
    shapes.draw_numbers(axes, places, 5.5 if places.shape[1] > 40 else 7.0)
    axes.set_title(drawn.key + (f": {drawn.title}" if drawn.title else ""))


def _draw_wakes(axes: Axes, drawn: Drawn, direction: float, speed: float) -> Any:
    """Draw the wind speed at hub height over the map; return the image, for a colour bar."""
    assert drawn.farm is not None, "a layout with wakes has a wind farm"
    left, bottom, right, top = drawn.box
    step = max(right - left, top - bottom) / _GRID
    grid_x, grid_y = np.arange(left, right + step, step), np.arange(bottom, top + step, step)
    x, y = drawn.places
    flow = drawn.farm.flow_map(
        x, y, drawn.types, direction=direction, speed=speed, grid_x=grid_x, grid_y=grid_y
    )
    corners = np.array([grid_x[[0, -1]], grid_y[[0, -1]]])
    (west, east), (south, north) = shapes.in_km(corners, drawn.origin)
    return axes.imshow(flow.wind_speed, extent=(west, east, south, north), origin="lower", cmap=WAKE_COLOURS,
                       vmin=0.5 * speed, vmax=speed, interpolation="bilinear", zorder=0)  # fmt: skip


def draw_surroundings(axes: Axes, drawn: Drawn, box: Box) -> None:
    """Draw the area, its exclusions, neighbours, names, and the axes of a map of this box."""
    origin = drawn.origin
    if drawn.area is not None:
        shapes.draw_area(axes, drawn.area, origin, 1.4)
    if drawn.section is not None:
        shapes.draw_excluded(axes, drawn.section.excluded_shape(), origin)
    shapes.draw_neighbours(axes, drawn.neighbours, drawn.neighbour_count, origin)
    shapes.draw_names(axes, drawn.names, origin)
    axes.set(xlim=((box[0] - origin[0]) * shapes.KM, (box[2] - origin[0]) * shapes.KM))
    axes.set(ylim=((box[1] - origin[1]) * shapes.KM, (box[3] - origin[1]) * shapes.KM))
    axes.set_aspect("equal")
    axes.grid(visible=False)
    shapes.label_axes(axes, origin, drawn.crs)
    shapes.draw_scale(axes)


def _facts(axes: Any, drawn: Drawn) -> None:
    axes.axis("off")
    lines = drawn.facts
    for index, (name, value) in enumerate(lines):
        y = 1.0 - index * min(0.115, 1.0 / len(lines))
        axes.text(0.0, y, name, transform=axes.transAxes, va="top", fontsize=8.5)
        axes.text(
            1.0, y, value, transform=axes.transAxes, va="top", ha="right", fontsize=8.5, fontweight="bold"
        )
