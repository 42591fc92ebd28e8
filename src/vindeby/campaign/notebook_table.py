"""A campaign as a notebook shows it: its turbine types and its farms, as ``vindeby check`` prints them."""

from __future__ import annotations

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.checks.neighbour_survey import neighbours_in_words
from vindeby.notebook import heading, table


def campaign_table(campaign: Campaign) -> str:
    """The counts, a row for each turbine type and a row for each farm, as HTML."""
    steps = " -> ".join(step.chosen[0] for step in campaign.method)
    return (
        heading(campaign.name, campaign.counts)
        + heading("", f"wake model {campaign.wake.title}; search {steps}")
        + _types(campaign)
        + _farms(campaign)
        + "".join(
            heading("", f"neighbours of {where}: {what}") for where, what in neighbours_in_words(campaign)
        )
    )


def _types(campaign: Campaign) -> str:
    rows = [
        (
            f"t{index}",
            turbine.name,
            f"{turbine.rated_power_mw:g}",
            f"{turbine.rotor_diameter_m:g}",
            f"{turbine.hub_height_m:g}",
            f"{campaign.min_spacing.in_metres(turbine.rotor_diameter_m):g}",
        )
        for index, turbine in enumerate(campaign.turbines)
    ]
    return table(("type", "name", "rated MW", "rotor m", "hub m", "spacing m"), rows)


def _farms(campaign: Campaign) -> str:
    rows = []
    for index, farm in enumerate(campaign.farms):
        mix = campaign.mix_of(farm)
        counts = [campaign.turbine_count(farm, turbine) for turbine in campaign.turbines]
        if mix is not None:
            counts = [sum(count for _, count in mix)]
        few, many = min([*counts, campaign.fewest_turbines(farm) or counts[0]]), max(counts)
        turbines = f"{few:,}" if few == many else f"{few:,} to {many:,}"
        rows.append((f"farm{index}", farm.name, f"{farm.boundary.area_km2:.1f}", turbines))
    return table(("farm", "name", "km2", "turbines"), rows)
