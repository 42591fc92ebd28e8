"""The results of a study as one ``xarray.Dataset`` over farm, type, layout, combination, turbine and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.campaign import Campaign
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
    cases = [Case.loads(case) for case in call.cases or ()]
    layouts = 1 + max(case.layout for case in cases)
    combinations = np.array([case.combination for case in cases[::layouts]], np.str_)
    data = database.to_xarray().drop_vars(
        ("combination", "record_turbine", "farm_idx", "type_idx"), errors="ignore"
    )
    data = data.isel(seed=slice(len(cases)))
    by_layout = [data.isel(seed=slice(layout, None, layouts)) for layout in range(layouts)]
    import xarray

    joined = xarray.concat(
        [one.drop_vars("seed").rename(seed="combination") for one in by_layout], dim="layout"
    )
    joined = joined.assign_coords(
        combination=("combination", combinations), layout=("layout", np.arange(layouts))
    )
    return _with_time(joined, campaign)


def _with_time(data: Any, campaign: Campaign) -> Any:
    for name in ("power", "power_external"):
        if name in data:
            axes = {f"{name}_axis0": "turbine", f"{name}_axis1": "time"}
            data[name] = data[name].rename(axes)
            data[name].attrs.update(long_name=_LONG_NAMES[name], units="W")
    series = campaign.site.time_series
    if "time" in data.dims and series is not None and series.times is not None:
        data = data.assign_coords(time=("time", np.array(series.times, "datetime64[ns]")))
    return data


_LONG_NAMES = {
    "power": "power of each turbine at each step",
    "power_external": "the same with the internal wakes switched off",
}
