"""``vindeby check CAMPAIGN``: is the file right, and what would it run?"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from vindeby.cli.options import JsonOption, loader, option, taking
from vindeby.cli.output import echo, echo_json, echo_table, say
from vindeby.text import one_line, plural

if TYPE_CHECKING:
    from vindeby.campaign import Campaign
    from vindeby.campaign.survey import CellSurvey, Survey


@taking("load", loader)
def command(
    load: Any,
    estimate: bool = option(
        "--estimate", "Time three tasks; say how long all take, and how much disk.", False
    ),
    json_: JsonOption = False,
) -> None:
    """Say whether a campaign file is right, and what it would run."""
    from vindeby.campaign.starts import has_starts
    from vindeby.campaign.survey import survey

    notes: list[str] = []
    loaded = load(notes.append)
    if has_starts(loaded):
        from vindeby.assembly.starts import refuse_starts

        refuse_starts(loaded)
    found = survey(loaded)
    if not json_:
        _print(loaded, found)
        for note in notes:
            say(f"note: {note}")
    for warning in found.warnings:
        say(f"warning: {warning}")
    taken = _estimated(loaded, in_words=not json_) if estimate else {}
    if json_:
        echo_json(_as_data(loaded, found) | {"notes": notes} | taken)


def _estimated(campaign: Campaign, *, in_words: bool) -> dict[str, object]:
    """Estimate the time and disk space of the campaign; print them if ``in_words``, and return them as data."""
    from vindeby.results.humanize import duration, size
    from vindeby.runner.estimate import estimate

    found = estimate(campaign, say)
    if in_words:
        low, high = map(duration, found.task_s)
        each = low if low == high else f"{low} to {high}"
        echo("")
        echo(
            f"estimate from {plural(len(found.timed), 'task')}, timed on a processor of this machine; a run computes "
            "them again"
        )
        echo(f"CPU: {duration(found.cpu_s)} for {plural(found.tasks, 'task')} of {each}")
        starting = f", {duration(found.set_up_s)} of it to set up"
        echo(f"time: {duration(found.wall_s)} with {plural(found.workers, 'worker')}{starting}")
        echo(f"disk: {size(found.database)}, and as much again while it is merged")
    return {"estimate": dataclasses.asdict(found)}


def _as_data(campaign: Campaign, found: Survey) -> dict[str, object]:
    from vindeby.assembly.device import chosen_device
    from vindeby.campaign.neighbours import neighbours_in_words
    from vindeby.campaign.starts import starts_in_words

    return {
        "name": campaign.name,
        "valid": True,
        "tasks": campaign.total_configs,
        "farms": len(campaign.farms),
        "types": len(campaign.turbines),
        "seeds": len(campaign.seeds),
        "combinations": len(campaign.combinations),
        "axes": {axis: list(names) for axis, names in campaign.axes.items()},
        "site": campaign.site.about if campaign.is_about_wind else None,
        "crs": campaign.crs,
        "middles_deg": _middles(campaign),
        "grid_convergence_deg": campaign.site.grid_convergence_deg,
        "wake": campaign.wake.title if campaign.is_about_wind else None,
        "objective": None if campaign.objective is None else campaign.objective.title,
        "costs": None if campaign.costs is None else campaign.costs.title,
        "scenarios": [{"name": world.name, "weight": world.weight} for world in campaign.worlds],
        "method": [step.title for step in campaign.method],
        "device": dict(zip(("name", "why"), chosen_device(campaign, campaign.run.device), strict=True)),
        "neighbours": [{"beside": where, "what": what} for where, what in neighbours_in_words(campaign)],
        "starts": [{"of": where, "what": what} for where, what in starts_in_words(campaign)],
        "cells": [dataclasses.asdict(cell) for cell in found.cells],
        "warnings": list(found.warnings),
    }


def _print(campaign: Campaign, found: Survey) -> None:
    from vindeby.assembly.device import chosen_device
    from vindeby.campaign.neighbours import neighbours_in_words
    from vindeby.campaign.sections.vary import axes_in_words
    from vindeby.campaign.starts import starts_in_words

    echo(f"{campaign.name}: {campaign.counts}")
    if campaign.vary:
        echo(f"{plural(len(campaign.combinations), 'combination')}: {axes_in_words(campaign.axes)}")
    each = campaign.distinct("method")
    steps = _any(" -> ".join(step.title for step in one.method) for one in each)
    if not campaign.is_about_wind:
        echo(f"search {steps}")
        return
    if campaign.returned_arrays is None:
        echo(f"wind: {_any(one.site.about for one in campaign.distinct('site'))}")
    echo(f"wake model {_any(one.wake.title for one in campaign.distinct('wake'))}; search {steps}")
    if campaign.run.device != "cpu":
        device, why = chosen_device(campaign, campaign.run.device)
        echo(f"device {device}: {why}")
    if campaign.objective is not None:
        echo(f"objective: {campaign.objective.title}")
    if campaign.costs is not None:
        echo(f"costs: {campaign.costs.title}")
    if given := campaign.worlds:
        names = ", ".join(f"{world.name} (weight {world.weight:g})" for world in given)
        echo(f"{plural(len(given), 'scenario')}: {names}")
    echo("")
    echo_table(_types(campaign))
    echo("")
    echo("turbines in each farm, by type")
    echo_table(_farms(campaign, found))
    for farm, (latitude, longitude) in zip(campaign.farms, _middles(campaign), strict=False):
        north, east = "NS"[latitude < 0.0], "EW"[longitude < 0.0]
        place = f"{abs(latitude):.4f} {north}, {abs(longitude):.4f} {east}"
        echo(f"{farm.name} is around {place} ({one_line(campaign.crs or '')[:60]})")
    for where, what in neighbours_in_words(campaign):
        echo(f"neighbours of {where}: {what}")
    for where, what in starts_in_words(campaign):
        echo(f"start of {where}: {what}")


def _any(titles: Iterable[str]) -> str:
    """Join what differs between combinations, the first few."""
    each = list(dict.fromkeys(titles))
    return " or ".join([*each[:3], *([f"{len(each) - 3:,} more"] if len(each) > 3 else [])])


def _middles(campaign: Campaign) -> list[tuple[float, float]]:
    """Return latitude and longitude of the middle of each farm; none without a known system or without pyproj."""
    if campaign.crs is None or not campaign.farms:
        return []
    import numpy as np

    from vindeby.errors import InputError

    middles = np.array([farm.boundary.shape().envelope.centroid.coords[0] for farm in campaign.farms])
    try:
        from vindeby.interop.geo.crs import Projection

        degrees = Projection(campaign.crs).degrees(middles)
    except InputError:
        return []
    return [(latitude, longitude) for longitude, latitude in degrees.tolist()]


def _types(campaign: Campaign) -> list[list[str]]:
    rows = [["type", "", "rated MW", "rotor m", "hub m", "spacing m"]]
    for index, turbine in enumerate(campaign.turbines):
        rotor_m = turbine.rotor_diameter_m
        figures = (
            turbine.rated_power_mw,
            rotor_m,
            turbine.hub_height_m,
            campaign.min_spacing.in_metres(rotor_m),
        )
        rows.append([f"t{index}", one_line(turbine.name), *(f"{figure:g}" for figure in figures)])
    return rows


def _farms(campaign: Campaign, found: Survey) -> list[list[str]]:
    kinds, names = range(len(campaign.turbines)), campaign.type_names
    table = [["farm", "", "tasks", "km2", "MW/km2", *(f"t{kind}" for kind in kinds)]]
    for index, group in itertools.groupby(found.cells, lambda cell: cell.farm_idx):
        cells, farm = list(group), campaign.farms[index]
        densities = [cell.density_mw_per_km2 for cell in cells]
        low, high = f"{min(densities):.2f}", f"{max(densities):.2f}"
        of_type = {kind: [cell for cell in cells if cell.type_idx == kind] for kind in kinds}
        counts = {kind: _from_to([one.n_turbines for one in each]) for kind, each in of_type.items() if each}
        if cells[0].mix:
            counts = {names.index(name): str(count) for name, count in cells[0].mix}
        tasks, density = sum(cell.tasks for cell in cells), low if low == high else f"{low} to {high}"
        row = [f"farm{index}", one_line(farm.name), f"{tasks:,}", f"{cells[0].area_km2:.1f}", density]
        table.append([*row, *(counts.get(kind, "") for kind in kinds)])
        for number, zone in enumerate(cells[0].zones):
            row = ["", f"  zone {one_line(zone.name)}", "", f"{zone.area_km2:.1f}", ""]
            here = _zone_counts(campaign, cells, number)
            table.append([*row, *here, *[""] * (len(kinds) - len(here))])
    return table


def _from_to(counts: Sequence[int]) -> str:
    """Return the numbers in words: ``66``, or with axes that change it ``60 to 66``."""
    few, many = min(counts), max(counts)
    return str(many) if few == many else f"{few} to {many}"


def _zone_counts(campaign: Campaign, cells: Sequence[CellSurvey], number: int) -> list[str]:
    """Return the number of turbines in a zone by type; for a mix of the whole farm, only the total."""
    if not cells[0].mix:
        return [str(cell.zones[number].n_turbines) for cell in cells]
    mix = (campaign.farms[cells[0].farm_idx].zones or ())[number].mix
    if mix is not None:
        return [str(mix.get(turbine.name, "")) for turbine in campaign.turbines]
    return [f"{cells[0].zones[number].n_turbines} in all"]
