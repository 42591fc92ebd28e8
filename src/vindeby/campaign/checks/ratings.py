"""Doubts about a turbine table that does not state its rated power.

Curves from measurements or simulations seldom reach a round figure exactly: a turbine of 10 MW may have a largest
power of 10.00004 MW. A capacity of 740 MW then makes 73 turbines instead of 74.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.sections.farm import Amount, Farm
from vindeby.campaign.sections.turbines import Turbine

_NEAR = 0.01
_ROUND_STEPS = (1.0, 0.5, 0.1, 0.05)
"""In units of the first digit, the roundest first: 9.95 MW is near 10 MW and 12.48 MW near 12.5 MW."""


def doubts_about_ratings(campaign: Campaign) -> Iterator[str]:
    """One sentence for each turbine type whose count would differ if its curve ended at a round figure."""
    for turbine in campaign.turbines:
        round_mw = _round_figure_nearby(turbine)
        if round_mw is None:
            continue
        differ = [
            (farm.name, level.capacity_mw, level.count(turbine.rated_power_mw), level.count(round_mw))
            for farm in campaign.farms
            for level in _levels(campaign, farm)
            if level.count(turbine.rated_power_mw) != level.count(round_mw)
        ]
        if not differ:
            continue
        farm_name, capacity_mw, count, otherwise = differ[0]
        others = f" (and {len(differ) - 1} more farms likewise)" if len(differ) > 1 else ""
        yield (
            f"type {turbine.name}: {capacity_mw:g} MW make {count} turbines in farm {farm_name}, because the largest "
            f"power of the curve, {turbine.rated_power_mw:.10g} MW, is taken as the rating; with {round_mw:g} MW it "
            f"would be {otherwise}{others}; give rated_power_mw in the table"
        )


def _levels(campaign: Campaign, farm: Farm) -> tuple[Amount, ...]:
    """Where it is said how much stands in a farm: in its zones, in itself, or for the campaign."""
    return farm.zones or ((farm,) if farm.amount_is_said else (campaign,))


def _round_figure_nearby(turbine: Turbine) -> float | None:
    """The roundest figure within 1 % of a rating that was taken from a curve; None where it is that figure."""
    if turbine.table is None or turbine.table.rated_power_mw is not None:
        return None
    largest = turbine.rated_power_mw
    magnitude = 10.0 ** math.floor(math.log10(largest))
    for step in _ROUND_STEPS:
        figure = float(f"{round(largest / (step * magnitude)) * step * magnitude:.3g}")
        if abs(figure - largest) <= _NEAR * figure:
            return figure if figure != largest else None
    return None
