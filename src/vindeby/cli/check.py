"""``vindeby check CAMPAIGN``: is the file right, and what would it run?"""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from vindeby.cli.options import CampaignArgument, JsonOption, SeedsOption, SetOption, load_campaign
from vindeby.cli.output import echo, echo_json, say
from vindeby.text import one_line, plural

if TYPE_CHECKING:
    from rich.table import Table

    from vindeby.campaign import Campaign
    from vindeby.campaign.survey import CellSurvey, Survey

_WIDTH_OF_A_FILE = 120


def command(
    campaign: CampaignArgument,
    set_: SetOption = None,
    seeds: SeedsOption = None,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Time a few tasks; say how long all take, and how much disk."),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Say whether a campaign file is right, and what it would run."""
    from vindeby.campaign.survey import survey

    notes: list[str] = []
    loaded = load_campaign(campaign, set_, seeds, on_note=notes.append)
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
    """What the campaign would take, printed ``in_words`` or as data."""
    from vindeby.results.humanize import duration, size
    from vindeby.runner.estimate import estimate

    # The temporary folder is removed on a request to stop, too.
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        found = estimate(campaign, say)
    finally:
        signal.signal(signal.SIGTERM, former)
    if in_words:
        low, high = map(duration, found.task_s)
        each = low if low == high else f"{low} to {high}"
        echo("")
        echo(
            f"estimate from {plural(len(found.timed), 'task')}, timed on the processor of this machine without limits "
            "of time and memory; a run computes them again"
        )
        echo(f"CPU: {found.cpu_s / 3600.0:.3g} h for {plural(found.tasks, 'task')} of {each}")
        compiling = (
            f", {duration(found.compile_s)} of it compiling or loading" if found.compile_s > 1.0 else ""
        )
        echo(f"time: {duration(found.wall_s)} with {plural(found.workers, 'worker')}{compiling}")
        echo(f"disk: {size(found.database)}, and as much again while it is merged")
    return {"estimate": dataclasses.asdict(found)}


def _as_data(campaign: Campaign, found: Survey) -> dict[str, object]:
    from vindeby.assembly.device import chosen_device
    from vindeby.campaign.neighbours import neighbours_in_words
    from vindeby.campaign.worlds import worlds

    return {
        "name": campaign.name,
        "valid": True,
        "tasks": campaign.total_configs,
        "farms": len(campaign.farms),
        "types": len(campaign.turbines),
        "seeds": len(campaign.seeds),
        "site": campaign.site.about if campaign.is_about_wind else None,
        "crs": campaign.crs,
        "middles_deg": _middles(campaign),
        "grid_convergence_deg": campaign.site.grid_convergence_deg,
        "wake": campaign.wake.title if campaign.is_about_wind else None,
        "objective": None if campaign.objective is None else campaign.objective.title,
        "costs": None if campaign.costs is None else campaign.costs.title,
        "scenarios": [{"name": world.name, "weight": world.weight} for world in worlds(campaign)],
        "method": [step.title for step in campaign.method],
        "device": dict(zip(("name", "why"), chosen_device(campaign, campaign.run.device), strict=True)),
        "neighbours": [{"beside": where, "what": what} for where, what in neighbours_in_words(campaign)],
        "cells": [dataclasses.asdict(cell) for cell in found.cells],
        "warnings": list(found.warnings),
    }


def _print(campaign: Campaign, found: Survey) -> None:
    from rich.console import Console

    from vindeby.assembly.device import chosen_device
    from vindeby.campaign.neighbours import neighbours_in_words
    from vindeby.campaign.worlds import worlds

    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False)
    console.print(f"{one_line(campaign.name)}: {campaign.counts}", markup=False)
    steps = " -> ".join(step.title for step in campaign.method)
    if not campaign.is_about_wind:
        console.print(f"search {steps}", markup=False)
        return
    if campaign.returned_arrays is None:
        console.print(f"wind: {one_line(campaign.site.about)}", markup=False, soft_wrap=True)
    console.print(f"wake model {campaign.wake.title}; search {steps}", markup=False)
    if campaign.run.device != "cpu":
        device, why = chosen_device(campaign, campaign.run.device)
        console.print(f"device {device}: {one_line(why)}", markup=False, soft_wrap=True)
    if campaign.objective is not None:
        console.print(f"objective: {one_line(campaign.objective.title)}", markup=False)
    if campaign.costs is not None:
        console.print(f"costs: {campaign.costs.title}", markup=False, soft_wrap=True)
    if given := worlds(campaign):
        names = ", ".join(f"{one_line(world.name)} (weight {world.weight:g})" for world in given)
        console.print(f"{plural(len(given), 'scenario')}: {names}", markup=False, soft_wrap=True)
    console.print()
    console.print(_types(campaign))
    console.print("\nturbines in each farm, by type")
    console.print(_farms(campaign, found))
    for farm, (latitude, longitude) in zip(campaign.farms, _middles(campaign), strict=False):
        north, east = "NS"[latitude < 0.0], "EW"[longitude < 0.0]
        place = f"{abs(latitude):.4f} {north}, {abs(longitude):.4f} {east}"
        console.print(
            f"{one_line(farm.name)} is around {place} ({one_line(campaign.crs or '')[:60]})", markup=False
        )
    for where, what in neighbours_in_words(campaign):
        console.print(f"neighbours of {one_line(where)}: {one_line(what)}", markup=False)


def _middles(campaign: Campaign) -> list[tuple[float, float]]:
    """Latitude and longitude of the middle of each farm; none where the system is not known or pyproj is missing."""
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


def _types(campaign: Campaign) -> Table:
    from rich.table import Table
    from rich.text import Text

    from vindeby.campaign.campaign import TYPE_TITLES

    table = Table(box=None, pad_edge=False)
    for title in TYPE_TITLES:
        is_text = title in ("type", "name")
        table.add_column(
            "" if title == "name" else title, justify="left" if is_text else "right", no_wrap=True
        )
    for row in campaign.type_rows():
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table


def _farms(campaign: Campaign, found: Survey) -> Table:
    from rich.table import Table
    from rich.text import Text

    from vindeby.campaign.tasks import from_to

    table = Table(box=None, pad_edge=False)
    table.add_column("farm", no_wrap=True)
    table.add_column("", no_wrap=True)
    for title in ("tasks", "km2", "MW/km2", *(f"t{index}" for index in range(len(campaign.turbines)))):
        table.add_column(title, justify="right", no_wrap=True)
    for index, farm in enumerate(campaign.farms):
        cells = [cell for cell in found.cells if cell.farm_idx == index]
        densities = [cell.density_mw_per_km2 for cell in cells]
        low, high = f"{min(densities):.2f}", f"{max(densities):.2f}"
        counts = {cell.type_idx: from_to(cell.needed, cell.n_turbines) for cell in cells}
        if cells[0].mix:
            names = [turbine.name for turbine in campaign.turbines]
            ranges = cells[0].mix_ranges or [(count, count) for _, count in cells[0].mix]
            counts = {
                names.index(name): from_to(*range_)
                for (name, _), range_ in zip(cells[0].mix, ranges, strict=True)
            }
        table.add_row(
            f"farm{index}",
            Text(one_line(farm.name)),
            f"{sum(cell.tasks for cell in cells):,}",
            f"{cells[0].area_km2:.1f}",
            low if low == high else f"{low} to {high}",
            *(counts.get(kind, "") for kind in range(len(campaign.turbines))),
        )
        for number, zone in enumerate(cells[0].zones):
            here = Text(f"  zone {one_line(zone.name)}")
            counts_here = _zone_counts(campaign, cells, number)
            table.add_row("", here, "", f"{zone.area_km2:.1f}", "", *counts_here)
    return table


def _zone_counts(campaign: Campaign, cells: Sequence[CellSurvey], number: int) -> list[str]:
    """How many turbines stand in a zone, by type; of a mix of the whole farm, only how many in all."""
    if not cells[0].mix:
        return [str(cell.zones[number].n_turbines) for cell in cells]
    mix = (campaign.farms[cells[0].farm_idx].zones or ())[number].mix
    if mix is not None:
        return [str(mix.get(turbine.name, "")) for turbine in campaign.turbines]
    return [f"{cells[0].zones[number].n_turbines} in all"]
