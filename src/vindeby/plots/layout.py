"""One layout: the area, the turbines to scale, their wakes, the wind, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from vindeby import units
from vindeby.assembly.distances import closest_pair
from vindeby.errors import ArgumentError, VindebyError
from vindeby.evaluation.as_campaign import among_neighbours, case_of, source_of
from vindeby.evaluation.cases import Case
from vindeby.plots import shapes, wind
from vindeby.plots.mixed_rotors import MixedTypes, draw_mixed
from vindeby.plots.style import FAINT, figure, ink, paper, style
from vindeby.results.neighbour_places import nearby, neighbour_groups
from vindeby.results.result_set import ResultSet
from vindeby.store.format.record import Record

if TYPE_CHECKING:
    from vindeby.campaign import Campaign
    from vindeby.wake import WindFarm

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """A result with all that its picture needs."""

    key: str
    cell: str
    """The names of its farm and type."""
    which: str
    """Its seed, or the combination of a study, in words."""
    places: FloatArray
    aep_gwh: float | None
    area: BaseGeometry | None
    farm: WindFarm | None
    diameter_m: float
    spacing_m: float | None
    rated_power_mw: float | None
    """Of a mix the mean."""
    groups: dict[str, FloatArray]
    """Positions of turbines that stand already, by the name of their group."""
    mixed: MixedTypes | None = None
    engine: str | None = None
    """What computes the wakes where vindeby does not; they are then not drawn."""
    chosen: str = ""
    """Which numbers of turbines the search chose from, where it did, in words."""
    more: tuple[tuple[str, str], ...] = ()
    """Further facts, of a result of a study."""

    @property
    def title(self) -> str:
        """What is drawn, in words; empty where no campaign tells."""
        return f"{self.cell}, {self.which}" if self.cell else ""

    @cached_property
    def neighbours(self) -> FloatArray:
        """Those of the neighbours that are near enough to be drawn; of a study, each farm as a whole."""
        near = {
            name: nearby(group, shapes.frame(self.area, self.places)) for name, group in self.groups.items()
        }
        if self.more:
            near = {name: self.groups[name] for name, group in near.items() if group.size}
        return np.hstack([np.empty((2, 0)), *near.values()])

    @property
    def has_wakes(self) -> bool:
        """Whether wakes can be drawn."""
        return self.farm is not None and self.engine is None

    @property
    def box(self) -> tuple[float, ...]:
        """Left, bottom, right and top of what is drawn."""
        return shapes.frame(self.area, np.hstack([self.places, self.neighbours]))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the layout is worth, as names and figures."""
        count = self.places.shape[1]
        facts = [("turbines", f"{count}{self.chosen}")]
        if self.mixed is not None:
            facts += self.mixed.facts
        if self.rated_power_mw:
            facts.append(("capacity", f"{count * self.rated_power_mw:,.0f} MW"))
        if self.aep_gwh is not None:
            facts.append(("AEP", f"{self.aep_gwh:,.1f} GWh"))
        if self.aep_gwh is not None and self.rated_power_mw:
            full = units.mean_power_to_aep_gwh(units.mw_to_w(self.rated_power_mw)) * count
            facts.append(("capacity factor", f"{100 * self.aep_gwh / full:.1f} %"))
        if self.aep_gwh is not None and self.farm is not None:
            facts.append(("wake loss", f"{100 * self.wake_loss:.2f} %"))
        if self.area is not None and self.rated_power_mw:
            density = count * self.rated_power_mw / units.m2_to_km2(self.area.area)
            facts.append(("density", f"{density:.2f} MW/km²"))
        if count > 1:
            facts.append(("closest pair", f"{closest_pair(*self.places)[0]:,.0f} m"))
        if self.spacing_m:
            facts.append(("least allowed", f"{self.spacing_m:,.0f} m"))
        if self.groups:
            facts.append(("neighbours", f"{sum(group.shape[1] for group in self.groups.values())}"))
        if self.engine is not None:
            facts.append(("wakes not drawn", f"by {self.engine.split()[0]}"))
        return [*facts, *self.more]

    @property
    def wake_loss(self) -> float:
        """The share of the wake-free energy that is lost, from the stored energy."""
        if self.farm is None or self.aep_gwh is None:
            return float("nan")
        types = 0 if self.mixed is None else self.mixed.types
        x, y = self.places
        return 1.0 - self.aep_gwh / self.farm.free_aep_at(x, y, types)


def prepare(result_set: ResultSet, key: str) -> Drawn:
    """Gather what a picture of one result needs; without a campaign there is no area and no wind."""
    record = result_set.record(key)
    places = result_set.layout(key)
    farm_idx, type_idx, seed = result_set.place(key)
    case, which = case_of(result_set.campaign, seed), f"seed {seed}"
    more: tuple[tuple[str, str], ...] = ()
    if case is not None:
        which = f"combination {case.combination}"
        result_set, more = _among(result_set, record, case)
    campaign = result_set.campaign
    energy = record.arrays.get("aep")
    area, spacing_m, rated = None, None, None
    diameter = record.attributes.get("diameter", 0.0)
    diameter_m = float(diameter) if isinstance(diameter, int | float) else 0.0
    if (
        campaign is not None
        and 0 <= farm_idx < len(campaign.farms)
        and 0 <= type_idx < len(campaign.turbines)
    ):
        turbine = campaign.turbines[type_idx]
        area = campaign.farms[farm_idx].drawn_shape()
        diameter_m, rated = turbine.rotor_diameter_m, _rated_mw(result_set, key)
        spacing_m = campaign.min_spacing.in_metres(diameter_m)
    mixed = _mixed(result_set, key, campaign)
    # Without its types, what a layout of several types is worth cannot be said.
    known = area is not None and (mixed is not None or result_set.mixed_cell(farm_idx, type_idx) is None)
    names = f"{result_set.farm_name(farm_idx)}, {result_set.cell_name(farm_idx, type_idx)}"
    return Drawn(
        key,
        names if seed >= 0 else "",
        which,
        places,
        float(energy.ravel()[0]) if energy is not None and energy.size == 1 else None,
        area,
        result_set.wind_farm(type_idx, farm_idx) if known else None,
        diameter_m or 100.0,
        None if mixed else spacing_m,
        rated,
        neighbour_groups(campaign, farm_idx),
        mixed,
        None if campaign is None or campaign.wake.engine is None else campaign.wake.title,
        result_set.range_in_words(farm_idx, type_idx),
        more,
    )


def _among(
    result_set: ResultSet, record: Record, case: Case
) -> tuple[ResultSet, tuple[tuple[str, str], ...]]:
    """Results of a study as one of its combinations sees them, and what its record says of itself."""
    campaign = result_set.campaign
    assert campaign is not None, "a case is of a campaign"
    losses = (("own wakes", "loss_internal"), ("neighbours' wakes", "loss_external"))
    more = [("layout", str(record.attributes.get("layout_key", "")))]
    more += [
        (words, f"{100 * float(record.arrays[name]):.2f} %")
        for words, name in losses
        if name in record.arrays
    ]
    if record.attributes.get("internal_wakes") == "off":
        more.append(("internal wakes", "drawn, not in the AEP"))
    source = source_of(campaign, result_set.path)
    try:
        campaign = among_neighbours(campaign, result_set.place(record.key)[:2], case, source)
    except VindebyError:
        told = "has changed" if source.exists() else ""
        more.append(
            ("neighbours", f"not drawn: {source.name} {told}" if told else f"not drawn: no {source.name}")
        )
    return result_set.with_campaign(campaign), tuple(more)


def _rated_mw(result_set: ResultSet, key: str) -> float | None:
    """The mean rated power of the turbines of a result."""
    found = result_set.mean_rated_mw(result_set.rows[result_set.rows["key"] == key.encode()])
    return float(found[0]) if len(found) else None


def _mixed(result_set: ResultSet, key: str, campaign: Campaign | None) -> MixedTypes | None:
    """The types of a farm that mixes several; None for any other, and for a record that does not say them."""
    cell, types = result_set.mixed_cell(*result_set.place(key)[:2]), result_set.own_types(key)
    if campaign is None or cell is None or types is None:
        return None
    turbines = [campaign.turbines[kind] for kind, _ in cell.mix]
    return MixedTypes(
        types,
        tuple(turbine.name for turbine in turbines),
        tuple(turbine.rotor_diameter_m for turbine in turbines),
        tuple(campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in turbines),
    )


def layout(
    result_set: ResultSet,
    key: str,
    *,
    direction: float | None = None,
    speed: float | None = None,
    axes: Axes | None = None,
    dark: bool = False,
) -> Axes:
    """A picture of one result; on ``axes`` only the map, otherwise also the wind rose and the figures.

    ``direction`` and ``speed`` are those of the wind that the wakes are drawn for; by default the prevailing one.
    """
    drawn = prepare(result_set, key)
    if axes is not None:
        _map(axes, drawn, *_wind(drawn, direction, speed), bar=False)
        return axes
    with style(dark=dark):
        left, bottom, right, top = drawn.box
        width, height = shapes.paper_for(right - left, top - bottom)
        whole = figure(width + 2.5 + 0.9 * drawn.has_wakes, max(height, 4.6))
        side = whole.add_gridspec(2, 2, width_ratios=[width + 0.9, 2.3], height_ratios=[1.1, 1])
        axes = whole.add_subplot(side[:, 0])
        wind_of = _wind(drawn, direction, speed)
        _map(axes, drawn, *wind_of, bar=True)
        if drawn.farm is not None:
            wind.draw_rose(whole.add_subplot(side[0, 1], projection="polar"), drawn.farm, wind_of[0])
        _facts(whole.add_subplot(side[1, 1]), drawn)
    return axes


def layout_map(result_set: ResultSet, key: str, *, dark: bool = False) -> Axes:
    """The map of one result alone, small enough for a page; by its side a page can say the rest."""
    drawn = prepare(result_set, key)
    with style(dark=dark):
        left, bottom, right, top = drawn.box
        width, height = shapes.paper_for(right - left, top - bottom, 4.6)
        axes = figure(max(width, 3.6) + 0.9 * drawn.has_wakes, height + 0.4).add_subplot()
        _map(axes, drawn, *_wind(drawn, None, None), bar=True)
        axes.set_title(drawn.key)
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


def _map(axes: Axes, drawn: Drawn, direction: float | None, speed: float | None, *, bar: bool) -> None:
    box = drawn.box
    corner = drawn.area.bounds[:2] if drawn.area is not None else drawn.places.min(axis=1)
    origin = (float(corner[0]), float(corner[1]))
    places = (drawn.places - np.array(origin)[:, None]) * shapes.KM
    axes.set(xlim=((box[0] - origin[0]) * shapes.KM, (box[2] - origin[0]) * shapes.KM))
    axes.set(ylim=((box[1] - origin[1]) * shapes.KM, (box[3] - origin[1]) * shapes.KM))
    if drawn.has_wakes and drawn.farm is not None and direction is not None and speed:
        types = 0 if drawn.mixed is None else drawn.mixed.types
        image = wind.draw_wakes(axes, drawn.farm, drawn.places, box, origin, direction, speed, types)
        if bar:
            label = f"wind speed at hub height, m/s; free wind {speed:g} m/s from {direction:.4g}°"
            axes.figure.colorbar(image, ax=axes, shrink=0.7, aspect=40, pad=0.02, label=label, extend="min")
    if drawn.area is not None:
        axes.add_patch(
            shapes.area_patch(drawn.area, origin, facecolor="none", edgecolor=ink(), linewidth=1.4)
        )
    if drawn.spacing_m:
        shapes.draw_spacing(
            axes, places, drawn.spacing_m, edgecolor=FAINT, linewidth=0.5, linestyle=(0, (3, 2))
        )
    shapes.draw_groups(axes, drawn.groups, drawn.neighbours, origin, ink(), paper())
    if drawn.mixed is None:
        shapes.draw_rotors(axes, places, drawn.diameter_m, direction, color=ink(), zorder=5)
    else:
        draw_mixed(axes, places, drawn.mixed, direction)
    shapes.draw_numbers(axes, places, 5.5 if places.shape[1] > 40 else 7.0, ink(), paper())
    axes.set_aspect("equal")
    axes.grid(visible=False)
    shapes.label_axes(axes, origin)
    axes.set_title(drawn.key + (f": {drawn.title}" if drawn.title else ""))


def _facts(axes: Any, drawn: Drawn) -> None:
    axes.axis("off")
    lines = drawn.facts
    for index, (name, value) in enumerate(lines):
        y = 1.0 - index * min(0.115, 1.0 / len(lines))
        axes.text(0.0, y, name, transform=axes.transAxes, va="top", fontsize=8.5)
        axes.text(
            1.0, y, value, transform=axes.transAxes, va="top", ha="right", fontsize=8.5, fontweight="bold"
        )
