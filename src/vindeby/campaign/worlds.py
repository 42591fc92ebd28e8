"""What a campaign is in each of its scenarios: the same campaign with other wind, wakes or neighbours."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.neighbours import identity_around
from vindeby.campaign.sections.costs import Objective
from vindeby.campaign.sections.scenarios import OF_WAKES, Scenario
from vindeby.campaign.sections.site import SiteSection
from vindeby.campaign.sections.values import require, under
from vindeby.campaign.sections.wake_model import NamedCode, WakeSection

_MOST_SAMPLES = 1000


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


def in_scenario(campaign: CampaignFields, scenario: Scenario | None) -> Any:
    """The campaign in a scenario, before anything is drawn; as if there were no scenarios, without one."""
    if scenario is None:
        return campaign.model_copy(update={"scenarios": None})
    site: SiteSection = scenario.site or campaign.site
    changes: dict[str, Any] = scenario.changes
    if site.local is None and site.grid_convergence_deg is None:
        # The layouts lie as they do: other wind from true north is turned to their grid north, too.
        changes["grid_convergence_deg"] = campaign.site.grid_convergence_deg
    beside = (*(campaign.neighbours or ()), *(scenario.neighbours or ()))
    return campaign.model_copy(
        update={
            "site": site.with_values(changes),
            "wake": scenario.wake or campaign.wake,
            "neighbours": beside or None,
            "scenarios": None,
        }
    )


def _samples(campaign: CampaignFields, scenario: Scenario) -> Iterator[World]:
    base, drawn = in_scenario(campaign, scenario), scenario.drawn()
    for number, values in enumerate(drawn, 1):
        name = f"{scenario.name} {number}" if scenario.vary else scenario.name
        wakes = {key.removeprefix(OF_WAKES): v for key, v in values.items() if key.startswith(OF_WAKES)}
        wind = {key: value for key, value in values.items() if not key.startswith(OF_WAKES)}
        changed = {"site": base.site.with_values(wind), "wake": _with_parameters(base.wake, wakes)}
        yield World(name, scenario.weight / len(drawn), base.model_copy(update=changed))


def _with_parameters(model: WakeSection, values: dict[str, float]) -> WakeSection:
    key, given = model.chosen
    if isinstance(given, NamedCode):
        return model.with_values({key: given.with_values({"options": {**given.options, **values}})})
    return model.with_values({key: {**asdict(given), **values}}) if values else model


def identity_of_scenarios(campaign: CampaignFields, farm_idx: int) -> list[dict[str, Any]]:
    """What of the scenarios decides the results of a farm."""
    found = []
    for scenario in campaign.scenarios or ():
        world = in_scenario(campaign, scenario)
        kept = {"vary", "samples", "seed"} if scenario.vary else set[str]()
        drawn = scenario.model_dump(include=kept, exclude_none=True)
        around = identity_around(world, farm_idx)
        wind, wakes = world.site_identity(), world.wake.identity()
        found.append({"weight": scenario.weight, "site": wind, "wake": wakes, "around": around, **drawn})
    return found


def refuse_bad_scenarios(campaign: CampaignFields) -> None:
    """Refuse samples that cannot be, and a value over scenarios that the search cannot compare layouts by."""
    objective, given = campaign.objective or Objective(), campaign.scenarios or ()
    over, at = objective.over, ("objective", "over")
    require(
        given or not over, "is over scenarios, and there are none", "give scenarios, or leave it out", *at
    )
    if not given:
        return
    calls = any(step.call is not None for step in campaign.method)
    wrong = "need a search of vindeby's own, not a call"
    require(not calls, wrong, "leave them out, or name search steps", "scenarios")
    many = sum(one.samples or 1 for one in given)
    wrong = f"are {many:,} scenarios, sample by sample, and at most {_MOST_SAMPLES:,} are possible"
    require(many <= _MOST_SAMPLES, wrong, "draw fewer samples", "scenarios")
    for number, scenario in enumerate(given):
        with under("scenarios", number, "vary"):
            list(_samples(campaign, scenario))
    priced, wrong = objective.is_priced_by_state, "prices that differ cannot have scenarios"
    require(not priced, wrong, "give one price", "objective", "price")
    single = over in (None, "mean") or objective.against is None
    require(single, "is for a single objective", "write mean, or one objective", *at)
    if over == "regret":
        timed = any(step.auto is not None and step.auto.evaluations is None for step in campaign.method)
        wrong = "needs the same best layouts in every worker, which auto with seconds does not find"
        require(not timed, wrong, "give auto evaluations instead, e.g. {auto: {evaluations: 5000}}", *at)
