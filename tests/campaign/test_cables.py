"""Cables in a campaign file: what is read, what is refused, and what decides a result."""

from __future__ import annotations

import pytest

from tests.campaign.examples import SMALL
from vindeby.assembly.value import router_of
from vindeby.campaign import Campaign
from vindeby.economy.cables import CableRouter
from vindeby.errors import CampaignError

TYPES = "types: [[3, 368.9], [5, 428.9], [7, 737.1]]"
HEAD = "costs:\n  discount: 0.0661\n  years: 25\n  turbine: {capex: 8.9e+7}\n  cables: {"


def _with(cables: str, campaign: str = SMALL) -> Campaign:
    return Campaign.loads(f"{campaign}{HEAD}{cables}}}\n")


BROKEN = {
    "no substations": (TYPES, ("costs.cables.substations", "is missing")),
    "no types": ("substations: 1", ("costs.cables.types", "is missing")),
    "an empty list of types": ("substations: 1, types: []", ("costs.cables.types",)),
    "types that get smaller": (
        "substations: 1, types: [[5, 9], [3, 10]]",
        ("costs.cables.types", "by capacity"),
    ),
    "types that get cheaper": (
        "substations: 1, types: [[3, 10], [5, 9]]",
        ("costs.cables.types", "not worth it"),
    ),
    "half a turbine": ("substations: 1, types: [[2.5, 9]]", ("costs.cables.types[0]", "got 2.5")),
    "a negative price": ("substations: 1, types: [[3, -9]]", ("costs.cables.types[0]", "got -9")),
    "a router of another tool": (f"substations: 1, {TYPES}, router: mst", ("router", "'mst'", "heuristic")),
    "no time at all": (f"substations: 1, {TYPES}, router: hgs, seconds: 0", ("seconds", "greater than 0")),
    "a time limit of the heuristic": (f"substations: 1, {TYPES}, seconds: 9", ("seconds", "router: hgs")),
    "no substation": (f"substations: 0, {TYPES}", ("costs.cables.substations",)),
    "a place without y": (f"substations: [[5]], {TYPES}", ("costs.cables.substations",)),
    "a place twice": (
        f"substations: [[900, 900], [900, 900]], {TYPES}",
        ("two substations stand at one place",),
    ),
    "degrees as words": (f"substations: [[5 E, 52 N]], {TYPES}", ("costs.cables.substations",)),
    "a name that no farm has": (f"substations: {{west: 1}}, {TYPES}", ("'north'", "every farm")),
    "a farm without substations": (f"substations: {{north: 1}}, {TYPES}", ("'south'", "every farm")),
    "a substation in an exclusion": (f"substations: [[3000, -8050]], {TYPES}", ("exclusion", "3000, -8050")),
    "a farm in pieces": (f"substations: 1, {TYPES}, within_area: true", ("within_area", "several pieces")),
    "a key of another name": (
        f"substations: 1, {TYPES}, routing: hgs",
        ("costs.cables.routing", "known key"),
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_wrong_cables_are_refused_with_the_words_that_help(case: str) -> None:
    text, words = BROKEN[case]
    with pytest.raises(CampaignError) as caught:
        _with(text)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


def test_a_substation_outside_the_area_is_refused_only_where_cables_stay_inside() -> None:
    alone = SMALL[: SMALL.index("  - name: south")] + SMALL[SMALL.index("turbines:") :]
    assert _with(f"substations: [[9000, 9000]], {TYPES}", alone).costs is not None
    with pytest.raises(CampaignError, match="no cable of farm 'north' may lie at"):
        _with(f"substations: [[9000, 9000]], {TYPES}, within_area: true", alone)


def test_cables_are_read_and_written_back_the_same() -> None:
    campaign = _with(f"substations: {{north: [[5, 6]], south: 2}}, {TYPES}, router: milp, seconds: 30")
    assert Campaign.loads(campaign.dumps()) == campaign
    north, south = (router_of(campaign, cell) for cell in campaign.cells() if cell.type_idx == 0)
    assert isinstance(north, CableRouter)
    assert isinstance(south, CableRouter)
    assert (north.method, north.seconds, south.substations) == ("milp", 30.0, 2)
    assert north.substations.tolist() == [[5.0, 6.0]]  # type: ignore[union-attr]
    assert len(south.obstacles) == 1


def test_what_cables_decide_is_in_the_fingerprints_and_names_are_not() -> None:
    marks = {
        tuple(_with(f"substations: {given}, {TYPES}{more}").fingerprints().values())
        for given in ("1", "2", "[[5, 6]]", "{north: 1, south: 2}")
        for more in ("", ", router: hgs")
    }
    assert len(marks) == 8
    one, other = _with(f"substations: 1, {TYPES}"), _with(f"substations: {{north: 1, south: 1}}, {TYPES}")
    assert one.fingerprints() == other.fingerprints()
    assert Campaign.loads(SMALL).fingerprints() != one.fingerprints()
