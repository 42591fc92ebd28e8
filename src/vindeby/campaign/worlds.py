"""What a campaign is in each of its scenarios: the same campaign with other wind, wakes or neighbours, and none."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.neighbours import identity_around
from vindeby.campaign.refusals import (
    refuse_outside_local_wind,
    refuse_unknown_wind,
    refuse_unsuitable_wake_model,
)
from vindeby.campaign.sections.scenarios import MOST_SAMPLES, OF_WAKES, Scenario
from vindeby.campaign.sections.site import Site, WindChanges
from vindeby.campaign.sections.values import refusal, require
from vindeby.campaign.sections.wake_model import NamedCode, WakeModel
from vindeby.errors import ArgumentError


@dataclass(frozen=True)
class World:
    """A scenario, or one sample of it."""

    name: str
    weight: float
    campaign: Any
    """The campaign as it is in this scenario."""


def worlds(campaign: CampaignFields) -> tuple[World, ...]:
    """Every scenario of a campaign, sample by sample, in the order of the file."""
    return tuple(world for one in campaign.scenarios or () for world in _samples(campaign, one))


def _samples(campaign: CampaignFields, scenario: Scenario) -> Iterator[World]:
    base, drawn = _in_scenario(campaign, scenario), scenario.drawn()
    for number, values in enumerate(drawn, 1):
        name = f"{scenario.name} {number}" if scenario.vary else scenario.name
        wakes = {key.removeprefix(OF_WAKES): v for key, v in values.items() if key.startswith(OF_WAKES)}
        wind = {key: value for key, value in values.items() if not key.startswith(OF_WAKES)}
        turned = (base.site.grid_convergence_deg or 0.0) - wind.pop("direction_offset_deg", 0.0)
        changes = WindChanges(**wind).changes  # what is drawn may be anything
        site = base.site.model_copy(update={**changes, "grid_convergence_deg": turned or None})
        changed = {"site": site, "wake": _with_parameters(base.wake, wakes)}
        yield World(name, scenario.weight / len(drawn), base.model_copy(update=changed))


def _in_scenario(campaign: CampaignFields, scenario: Scenario) -> CampaignFields:
    """The campaign in a scenario, before anything is drawn."""
    site = scenario.site or campaign.site
    changes: dict[str, Any] = dict(scenario.changes)
    if site.local is None and site.grid_convergence_deg is None:
        # The layouts lie as they do: other wind from true north is turned to their grid north, too.
        changes["grid_convergence_deg"] = campaign.site.grid_convergence_deg
    beside = (*(campaign.neighbours or ()), *(scenario.neighbours or ()))
    return campaign.model_copy(
        update={
            "site": site.model_copy(update=changes),
            "wake": scenario.wake or campaign.wake,
            "neighbours": beside or None,
            "scenarios": None,
        }
    )


def _with_parameters(model: WakeModel, values: dict[str, float]) -> WakeModel:
    """The wake model with other parameters; ArgumentError where it does not have them, or not with such values."""
    key, given = model.chosen
    if not values:
        return model
    if isinstance(given, NamedCode):
        made: Any = given.model_copy(update={"options": {**given.options, **values}})
    else:
        known = [field.name for field in fields(given)] if is_dataclass(given) else []
        if unknown := values.keys() - set(known):
            has = ", ".join(known) or "nothing that can vary"
            raise ArgumentError(f"wake model {model.title} has no {min(unknown)}; it has {has}")
        made = replace(given, **values)
    field = next(name for name, alias in WakeModel.alternative_keys().items() if alias == key)
    return model.model_copy(update={field: made})


def identity_of_scenarios(campaign: CampaignFields, farm_idx: int) -> list[dict[str, Any]]:
    """What of the scenarios decides the results of a farm."""
    found = []
    for scenario in campaign.scenarios or ():
        world = _in_scenario(campaign, scenario)
        drawn = scenario.model_dump(include={"vary", "samples", "seed"}) if scenario.vary else {}
        found.append(
            {
                "weight": scenario.weight,
                "site": world.site.identity(),
                "wake": world.wake.identity(),
                "around": identity_around(world, farm_idx),
                **drawn,
            }
        )
    return found


def refuse_bad_scenarios(campaign: CampaignFields) -> None:
    """Refuse scenarios that the campaign cannot be in, and a value over scenarios where there are none."""
    over = campaign.objective and campaign.objective.over
    if campaign.scenarios is None:
        wrong = "is over scenarios, and there are none"
        require(not over, wrong, "give scenarios, or leave it out", "objective", "over")
        return
    own = all(step.call is None for step in campaign.method)
    require(
        own, "need a search of vindeby's own, not a call", "leave them out, or name search steps", "scenarios"
    )
    many = sum(one.samples or 1 for one in campaign.scenarios)
    wrong = f"are {many:,} scenarios, sample by sample, and at most {MOST_SAMPLES:,} are possible"
    require(many <= MOST_SAMPLES, wrong, "draw fewer samples", "scenarios")
    for number, scenario in enumerate(campaign.scenarios):
        try:
            _refuse_scenario(campaign, scenario)
        except (ArgumentError, ValidationError) as error:
            wrong = str(error)
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                wrong = f"{first['loc'][0]} {first['msg'].replace('Input should', 'must')}, not {first['input']:g}"
            at = ("scenarios", number, "vary")
            raise refusal(
                f"draws what cannot be: {wrong}", remedy="name what it has, or narrow the distribution", at=at
            ) from None
        except PydanticCustomError as error:
            given = error.context or {}
            at = given["at"]
            inside = not at or (at[0] in ("site", "wake") and getattr(scenario, at[0]) is not None)
            at = ("scenarios", number, *at) if inside else at
            raise refusal(given["message"], remedy=given["remedy"], at=at, value=given["shown"]) from None
    for index, farm in enumerate(campaign.farms):
        own, wrong = farm.maximise == "own", "is not for a campaign with scenarios"
        require(not own, wrong, "write all, or leave it out", "farms", index, "maximise")
    objective = campaign.objective
    single = over != "worst" or objective is None or objective.against is None
    require(single, "is for a single objective", "write mean, or one objective", "objective", "over")
    if over == "regret":
        of_energy = objective is None or (objective.of == "aep" and objective.against is None)
        wrong = "is of AEP alone: what a layout costs does not depend on the scenario"
        require(of_energy, wrong, "write mean or worst, or of: aep", "objective", "over")
        chosen = [
            farm
            for farm in campaign.farms
            if campaign.level_of(farm).count_range or campaign.mix_ranges_of(farm)
        ]
        wrong = "compares layouts of as many turbines, but the search chooses how many there are"
        require(not chosen, wrong, "give fixed numbers, or write mean or worst", "objective", "over")


def _refuse_scenario(campaign: CampaignFields, scenario: Scenario) -> None:
    base, remedy = (
        _in_scenario(campaign, scenario),
        "leave the change out, or give the scenario a site of its own",
    )
    for world in _samples(campaign, scenario):
        refuse_unknown_wind(world.campaign.site, campaign.method)
        refuse_unsuitable_wake_model(world.campaign)
        site: Site = world.campaign.site
        fixed = site.local is not None and site.local.has_weibull and site.changes
        turned = site.local is not None and site.grid_convergence_deg
        by = ", ".join(site.changes) or "its direction"
        require(not (fixed or turned), f"changes wind that differs from place to place, by {by}", remedy)
    refuse_outside_local_wind(base)
    speeds = [None if one.table is None else one.table.wind_speeds for one in (base.site, campaign.site)]
    wrong = "has other wind speeds than the campaign's table of probabilities, by which a smart-start judges points"
    judged = any(step.smart_start is not None for step in campaign.method)
    require(
        not judged or speeds[0] == speeds[1], wrong, "give it the same, or begin with another start", "site"
    )
