"""The search side of a campaign: its areas, problems and methods as ``layout`` computes with them."""

from __future__ import annotations

from vindeby import layout
from vindeby.assembly.standing import around
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Boundary, Campaign, Circle
from vindeby.campaign.search_wind import turbulence_speeds
from vindeby.campaign.sections.method import (
    Annealing,
    Gradient,
    Hopping,
    RandomSearch,
    RandomStart,
    SmartStart,
    Step,
)
from vindeby.campaign.tasks import Cell
from vindeby.layout.methods.smart_start import DEFAULT_SPEEDS


def boundary_of(boundary: Boundary) -> layout.Boundary:
    """Where turbines may stand."""
    holes = boundary.exclusions
    return layout.Boundary(
        boundary.rings,
        circle=None if boundary.circle is None else _disc(boundary.circle),
        holes=[hole.polygon for hole in holes if hole.polygon is not None],
        round_holes=[_disc(hole.circle) for hole in holes if hole.circle is not None],
    )


def _disc(circle: Circle) -> tuple[tuple[float, float], float]:
    return circle.center, circle.radius_m


def problem_of(campaign: Campaign, cell: Cell) -> layout.Problem:
    """What is searched for in a cell of the campaign."""
    farm = campaign.farms[cell.farm_idx]
    others = around(campaign, [campaign.turbines[cell.type_idx]], cell.farm_idx).spacing_m(campaign)[1:]
    return layout.Problem(
        farm=wind_farm(campaign, cell.type_idx, cell.farm_idx),
        boundary=boundary_of(farm.boundary),
        n_turbines=cell.n_turbines,
        spacing_m=[cell.spacing_m, *others] if others else cell.spacing_m,
        name=farm.name,
        types=[0] * cell.n_turbines if others else None,  # the types of neighbours are not to choose from
    )


def pipeline_of(campaign: Campaign) -> layout.Pipeline:
    """The campaign's search steps, one after the other."""
    return layout.Pipeline([_method(campaign, step) for step in campaign.method])


def _method(campaign: Campaign, step: Step) -> layout.Method:
    match step.chosen[1]:
        case SmartStart() as given:
            return _smart_start(campaign, given)
        case RandomStart():
            return layout.RandomStart()
        case Gradient() as given:
            return layout.Gradient(given.max_iterations, given.widening)
        case RandomSearch() as given:
            return layout.RandomSearch(given.max_evaluations, given.max_step_m)
        case Annealing() as given:
            return layout.Annealing(given.max_evaluations, given.temperature)
        case Hopping() as given:
            return layout.Hopping(given.max_hops, given.places)
    raise AssertionError(f"the step {step.chosen[0]} is not a search of vindeby's own")


def _smart_start(campaign: Campaign, step: SmartStart) -> layout.Method:
    speeds, directions = step.wind_speeds, step.wind_directions
    if (table := campaign.site.table) is not None:  # a table has no speeds but its own
        speeds = table.wind_speeds if speeds is None else speeds
        directions = table.wind_directions if directions is None else directions
    elif speeds is None and (known := turbulence_speeds(campaign.site)) is not None:
        speeds = tuple(speed for speed in DEFAULT_SPEEDS if known[0] <= speed <= known[-1]) or known
    return layout.SmartStart(step.grid_size, step.random_pct, speeds, directions)
