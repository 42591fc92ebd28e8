"""A study as a campaign, so that it runs, resumes, merges and is watched like one; and its results as one dataset.

Its farms and types are those that are evaluated, its site and wake model the study's, its method the evaluation of
stored layouts, and its seeds are the numbers of its cases.
"""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.campaign import Campaign
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.yaml_text import Document
from vindeby.campaign.sections.farm import NeighbourGroup
from vindeby.campaign.sections.method import Call
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.tasks import STUDY_ARRAYS, cell_key
from vindeby.errors import InputError
from vindeby.evaluation.selection import StudySelection
from vindeby.evaluation.stored_layouts import Case, Pinned, PinnedLayouts, StoredLayouts
from vindeby.evaluation.study import Study
from vindeby.store.read.database import Database

FUNCTION = "vindeby.evaluation.method:EvaluationMethod"


def campaign_of(study: Study, document: Document, stored: StoredLayouts, chosen: StudySelection) -> Campaign:
    """The campaign of a study; CampaignError where its site or wake model does not suit the layouts."""
    source = stored.campaign
    data = source.to_data()
    turbines: list[dict[str, Any]] = data["turbines"]
    data |= {"name": study.name, "description": study.description}
    data["run"] = study.run.model_dump(mode="json", exclude_none=True, exclude={"notify"})
    for key in ("site", "wake"):
        given = getattr(study, key)
        if given is not None:
            data[key] = given.model_dump(mode="json", by_alias=True, exclude_none=True)
    for given in data["wake"].values():
        if isinstance(given, dict):
            given.pop("code", None)  # what evaluates is the code as it is now
    if study.site is not None and study.site.local is None:
        # The layouts lie as they did: other wind from true north is turned to their grid north, too.
        turn = source.site.grid_convergence_deg
        data["site"] |= {} if turn is None else {"grid_convergence_deg": turn} | data["site"]
    data.pop("scenarios", None)
    if (compared := source.objective) is None or not compared.is_of_costs or compared.is_priced_by_state:
        data.pop("objective", None)  # stored layouts have their counts and types, other wind other states
    else:
        data["objective"].pop("over", None)
    if study.output == "power" and data["site"].get("direction_std_deg"):
        raise InputError(
            "output: power has one power for each step, but with direction_std_deg a step has five states"
        )
    data["method"] = {"call": {"function": FUNCTION}}
    checked(Campaign, Document(data, document.origins))  # with all farms: neighbours stand there, too
    data["farms"] = [data["farms"][index] for index in chosen.farms]
    data["turbines"] = [turbines[index] for index in chosen.types]
    for holder in (data, *data["farms"]):
        for group in holder.get("neighbours", ()):
            _describe_types(group, turbines)
    data["seeds"] = len(chosen.cases)
    data["method"] = {"call": _call(study, stored, chosen, turbines)}
    return checked(Campaign, Document(data, document.origins))


def call_of(campaign: Campaign) -> Call | None:
    """How a campaign evaluates stored layouts; None for any other campaign."""
    call = campaign.method[0].call
    return call if call is not None and call.function == FUNCTION else None


def case_of(campaign: Campaign | None, seed: int) -> Case | None:
    """The case that a result with this seed is of; None where the campaign is not that of a study."""
    call = None if campaign is None else call_of(campaign)
    cases = () if call is None else call.cases or ()
    return Case.loads(cases[seed]) if 0 <= seed < len(cases) else None


def source_of(campaign: Campaign, beside: Path) -> Path:
    """The database with the layouts of a study: where it was, or with the same name next to ``beside``."""
    call = call_of(campaign)
    path = Path(((call.context if call else None) or {}).get("source_database", ""))
    return path if path.exists() else beside.with_name(path.name)


def among_neighbours(campaign: Campaign, cell: tuple[int, int], case: Case, source: Path) -> Campaign:
    """A study's campaign with the neighbours of one case of a farm and type, each farm a group; for pictures.

    Raises VindebyError where ``source`` does not hold their layouts as they were.
    """
    call = call_of(campaign)
    assert call is not None, "the case is of this campaign"
    parameters: Any = call.parameters
    own = Pinned.parse(parameters["layouts"][cell_key(*cell)][case.layout])
    stored, groups = PinnedLayouts(source), []
    with Database(source) as database:
        farms = Campaign.loads(database.campaign_text or "", f"{source} (campaign)").farms
    for one in case.neighbours:
        if one.pinned.farm_idx == own.farm_idx:
            continue
        layout, name = stored.layout(one.pinned), farms[one.pinned.farm_idx].name
        turbines = {kind: parameters["turbines"][kind] for kind in sorted(set(layout.types.tolist()))}
        groups.append(
            NeighbourGroup.model_construct(  # unchecked: the name may be longer than any given
                name=name if one.since is None else f"{name} from {one.since}",
                turbines=tuple(map(Turbine.model_validate, turbines.values())),
                type=tuple(turbines[kind]["name"] for kind in layout.types.tolist()),
                positions=tuple(zip(layout.x.tolist(), layout.y.tolist(), strict=True)),
            )
        )
    return campaign.model_copy(update={"neighbours": (*(campaign.neighbours or ()), *groups) or None})


def _call(
    study: Study, stored: StoredLayouts, chosen: StudySelection, turbines: list[dict[str, Any]]
) -> dict[str, Any]:
    layouts = {
        cell_key(chosen.farms.index(farm), chosen.types.index(kind)): [*map(str, pinned)]
        for (farm, kind), pinned in chosen.layouts.items()
    }
    parameters: dict[str, Any] = {
        "layouts": layouts,
        "turbines": turbines,
        "internal_wakes": study.internal_wakes,
        "output": study.output,
    }
    if study.output == "power":
        parameters["power_type"] = study.power_type
    context = {
        "study": study.dumps(),
        "source_database": str(stored.path.absolute()),
        "source_digest": stored.digest,
        "source_campaign": stored.campaign.name,
    }
    cases = [case.dumps() for case in chosen.cases]
    return {"function": FUNCTION, "parameters": parameters, "cases": cases, "context": context}


def _describe_types(group: dict[str, Any], turbines: list[dict[str, Any]]) -> None:
    """Let a group of neighbours describe its types itself: not all of the campaign's are kept."""
    own = list(group.get("turbines", ()))
    known = [turbine["name"] for turbine in own]
    own += [one for one in turbines if one["name"] in group.get("type", ()) and one["name"] not in known]
    group["turbines"] = own


def study_dataset(database: Database | str | Path) -> Any:
    """The results over ``farm``, ``type``, ``layout`` and ``combination``; NaN where one is missing.

    Powers (W) have the axes ``turbine`` and ``time`` too; ``time`` has the times of the series, or the numbers of its
    steps. ``layout`` counts the layouts of each farm and type from 0; ``layout_seed`` and ``layout_key`` say which they
    are. Raises InputError where the database is not that of a study.
    """
    if not isinstance(database, Database):
        with Database(database) as opened:
            return study_dataset(opened)
    text = database.campaign_text
    campaign = None if text is None else Campaign.loads(text, f"{database.path} (campaign)")
    call = None if campaign is None else call_of(campaign)
    if campaign is None or call is None:
        raise InputError(
            f"{database.path}: is not the database of a study; `vindeby evaluate` makes one, and for layouts "
            "there is to_xarray"
        )
    return by_combination(database.to_xarray().drop_vars(("farm_idx", "type_idx")), campaign)


def by_combination(data: Any, campaign: Campaign) -> Any:
    """A dataset of a study's campaign over ``seed`` as one over ``layout`` and ``combination``."""
    call = call_of(campaign)
    assert call is not None, "the campaign is that of a study"
    cases = [Case.loads(case) for case in call.cases or ()]
    layouts = 1 + max(case.layout for case in cases)
    combinations = np.array([case.combination for case in cases[::layouts]], np.str_)
    data = data.drop_vars(("combination", "record_turbine", "seed"), errors="ignore")
    data = data.isel(seed=slice(len(cases))).coarsen(seed=layouts).construct(seed=("combination", "layout"))
    data = data.assign_coords(
        combination=("combination", combinations), layout=("layout", np.arange(layouts))
    )
    return _with_time(data, campaign)


def _with_time(data: Any, campaign: Campaign) -> Any:
    for name in STUDY_ARRAYS.keys() & data.keys():
        about = dict(STUDY_ARRAYS[name])
        axes = enumerate(about.pop("dimensions", "").split())
        data[name] = data[name].rename(
            {f"{name}_axis{number}": axis for number, axis in axes if f"{name}_axis{number}" in data.dims}
        )
        data[name].attrs.update(about)
    series = campaign.site.time_series
    if "time" in data.dims and series is not None and series.times is not None:
        data = data.assign_coords(time=("time", np.array(series.times, "datetime64[ns]")))
    return data
