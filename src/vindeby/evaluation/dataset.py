"""The results of a study as one ``xarray.Dataset`` over farm, type, layout, combination, turbine and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import STUDY_ARRAYS
from vindeby.errors import InputError
from vindeby.evaluation.as_campaign import call_of
from vindeby.evaluation.cases import Case
from vindeby.store.read.database import Database


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
