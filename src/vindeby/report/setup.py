"""What a reader wants before the tables: the best layout, the wind, the wake model and the method."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

import numpy as np

from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_in_words
from vindeby.campaign.sections.turbulence import turbulence_text
from vindeby.errors import DataError
from vindeby.plots.layout import layout_map
from vindeby.plots.wind import rose
from vindeby.report.elements import facts, picture, tag
from vindeby.results.result_set import ResultSet

_LONGEST = 200


def setup(result_set: ResultSet) -> str:
    """The section; empty where neither results nor a campaign are there."""
    pictures = _best_layout(result_set) + _wind(result_set)
    known = [] if result_set.campaign is None else campaign_facts(result_set.campaign)
    if not pictures and not known:
        return ""
    shown = f'<div class="pictures">{pictures}</div>' if pictures else ""
    return tag("h2", "The best layout, and how it was found") + shown + (facts(known) if known else "")


def best_key(result_set: ResultSet) -> str | None:
    """The result that loses least to wakes, or has the most energy where losses are not known."""
    energy = np.nan_to_num(result_set.rows["aep"], nan=-np.inf)
    if not len(energy) or not np.isfinite(energy).any():
        return None
    losses = np.where(np.isnan(result_set.rows["aep"]), np.inf, result_set.wake_losses())
    best = np.lexsort((-energy, np.where(np.isnan(losses), 1.0, losses)))[0]
    return str(result_set.rows["key"][best].decode(errors="replace"))


def _best_layout(result_set: ResultSet) -> str:
    key = best_key(result_set)
    if key is None:
        return ""
    known = result_set.campaign is not None
    caption = f"{key}: the layout that {'loses least to wakes' if known else 'has the most energy'}"
    try:
        return picture(lambda dark: layout_map(result_set, key, dark=dark), caption)
    except DataError:
        return ""  # a result without a layout that could be drawn


def _wind(result_set: ResultSet) -> str:
    if result_set.campaign is None or not result_set.campaign.is_about_wind:
        return ""
    return picture(
        lambda dark: rose(result_set, dark=dark), "how often the wind comes from where, and how fast"
    )


def campaign_facts(campaign: Campaign) -> list[tuple[str, str]]:
    """Wind, wake model, method and size of a campaign, in a few words each."""
    method = ("method", "; then ".join(_with_parameters(*step.chosen) for step in campaign.method))
    if not campaign.is_about_wind:
        return [method, ("seeds", f"{len(campaign.seeds):,}")]
    kind, site = campaign.site.chosen
    wind = f"probability {site.title}" if kind == "table" else site.title
    low, high = site.speed_range
    speeds = f"{low:g} to {high:g} m/s"
    unit, spacing = campaign.min_spacing.chosen
    beside = [(f"neighbours of {where}", what) for where, what in neighbours_in_words(campaign)]
    return [
        ("farms", f"{len(campaign.farms):,}"),
        ("turbine types", ", ".join(f"t{index} {one.name}" for index, one in enumerate(campaign.turbines))),
        *beside,
        ("wind", f"{wind}, {speeds}, turbulence intensity {turbulence_text(site.turbulence_intensity)}"),
        ("wake model", _wake(campaign)),
        method,
        ("least distance", f"{spacing:g} {'D' if unit == 'diameters' else 'm'}"),
        ("seeds", f"{len(campaign.seeds):,} for each farm and type"),
    ]


def _wake(campaign: Campaign) -> str:
    """The wake model with its parameters; of a FLORIS configuration, which is long, the model alone."""
    if campaign.wake.floris is not None:
        return campaign.wake.floris.title
    return _with_parameters(*campaign.wake.chosen)


def _with_parameters(name: str, given: Any) -> str:
    """A function's parameters may be long, as those of a study are; its cases and context are no parameters."""
    parameters = given.model_dump(by_alias=True, exclude_none=True, exclude={"cases", "context"})
    if not parameters:
        return name
    words = (shorten(f"{key} = {value}", _LONGEST, placeholder=" ...") for key, value in parameters.items())
    return f"{name} ({', '.join(words)})"
