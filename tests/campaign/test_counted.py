"""Campaigns whose search chooses how many turbines there are, or of which types: the file, its checks, its tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.campaign.counted import COUNTED
from tests.campaign.examples import changed, small
from tests.campaign.test_fingerprint import different, keys
from vindeby.campaign import Campaign
from vindeby.campaign.json_schema import json_schema
from vindeby.campaign.reading.source import from_text
from vindeby.campaign.survey import survey
from vindeby.errors import CampaignError

_RANGE = "n_turbines: {from: 3, to: 6}\n"
_OBJECTIVE = "objective: {turbine_cost_gwh: {five: 25, three: 7}}\n"
_FIXED = "    n_turbines: 4\n"
_MIX = "    mix: {five: {from: 0, to: 4}, three: {from: 1, to: 6}}\n"
_MIXED = "    n_turbines: 6\n"
_ZONE = "    zones: [{name: a, boundary: [[0, 0], [900, 0], [0, 900]], n_turbines: "
_FIRST = "farms:\n  - name: plain\n"
_SQUARE = "    boundary: [[0, 0], [1500, 0], [1500, 1500], [0, 1500]]\n"

BROKEN = {
    "a range by AEP": (_OBJECTIVE, "", ("n_turbines", "3 to 6", "always give more", "aep-per-turbine", ":2:")),
    "a range by AEP in words": (_OBJECTIVE, "objective: aep\n", ("always give more", "turbine_cost_gwh")),
    "a range of a farm by AEP": (
        _RANGE + _OBJECTIVE + _FIRST,
        "n_turbines: 3\n" + _FIRST + "    n_turbines: {from: 3, to: 6}\n",
        ("farms[0].n_turbines", "3 to 6", "give the campaign an objective"),
    ),
    "from above to": (_RANGE, "n_turbines: {from: 7, to: 6}\n", ("n_turbines.from", "begin with the smaller", "got 7")),
    "from nothing": (_RANGE, "n_turbines: {from: 0, to: 6}\n", ("n_turbines.from", "at least one turbine", "got 0")),
    "no from": (_RANGE, "n_turbines: {to: 6}\n", ("n_turbines.from", "is missing", "add it")),
    "a wrong key": (_RANGE, "n_turbines: {from: 3, till: 6}\n", ("n_turbines.till", "is not a known key", "from, to")),
    "half a turbine": (_RANGE, "n_turbines: {from: 3, to: 6.5}\n", ("n_turbines.to", "whole number", "got 6.5")),
    "too many": (_RANGE, "n_turbines: {from: 3, to: 60000}\n", ("n_turbines.to", "must be at most 10000")),
    "no number": (_RANGE, "n_turbines: many\n", ("n_turbines", "whole number", "got 'many'")),
    "an unknown objective": (_OBJECTIVE, "objective: money\n", ("objective", "got 'money'", "aep-per-turbine")),
    "an objective in a list": (_OBJECTIVE, "objective: [aep]\n", ("objective", "got ['aep']", "write two")),
    "an unknown key": (_OBJECTIVE, "objective: {cost: 3}\n", ("objective.cost", "turbine_cost_gwh")),
    "a negative cost": (_OBJECTIVE, "objective: {turbine_cost_gwh: -1}\n", ("turbine_cost_gwh", "at least 0")),
    "two objectives": (
        _OBJECTIVE,
        "objective: {of: aep-per-turbine, turbine_cost_gwh: 3}\n",
        ("objective.turbine_cost_gwh", "exclude each other"),
    ),
    "a cost of no type": (
        _OBJECTIVE,
        "objective: {turbine_cost_gwh: {five: 25, three: 7, six: 8}}\n",
        ("objective.turbine_cost_gwh.six", "no turbine type has the name 'six'", "three, five"),
    ),
    "a type without a cost": (
        _OBJECTIVE,
        "objective: {turbine_cost_gwh: {five: 25}}\n",
        ("objective.turbine_cost_gwh", "'three'", "every type"),
    ),
    "a mix with ranges alone": (
        _MIXED + _MIX, _MIX, ("farms[2].mix", "needs the number of all turbines", "give n_turbines"),
    ),
    "a mix with ranges and a capacity": (
        _MIXED + _MIX, "    capacity_mw: 30\n" + _MIX, ("farms[2].mix", "exclude each other"),
    ),
    "a mix and a number with ranges": (
        _MIXED + _MIX,
        "    n_turbines: {from: 5, to: 6}\n" + _MIX,
        ("farms[2].n_turbines", "either the number of turbines or the mix", "one number"),
    ),
    "a mix that never makes the number": (
        _MIXED + _MIX,
        "    n_turbines: 11\n" + _MIX,
        ("farms[2].mix", "makes 1 to 10 turbines, but n_turbines is 11", "agree"),
    ),
    "a fixed mix and a number": (
        _MIX, "    mix: {five: {from: 4, to: 4}, three: 2}\n", ("farms[2].mix", "exclude each other"),
    ),
    "a mix of an unknown type": (
        _MIX, "    mix: {five: {from: 0, to: 4}, six: 2}\n", ("farms[2].mix.six", "no turbine type"),
    ),
    "a mix with no turbine of a type": (
        _MIX, "    mix: {five: {from: 0, to: 0}, three: 6}\n", ("farms[2].mix.five.to", "at least 1"),
    ),
    "a zone with a range": (
        _SQUARE,
        _ZONE + "{from: 2, to: 3}}]\n",
        ("farms[0].zones[0].n_turbines", "one boundary", "fixed numbers"),
    ),
    "a zone with a mix of ranges": (
        _SQUARE,
        _ZONE + "3, mix: {five: {from: 2, to: 3}}}]\n",
        ("farms[0].zones[0].mix", "one boundary"),
    ),
    "zones in turn with a range": (
        _SQUARE,
        _ZONE + "{from: 2, to: 3}}]\n    search: in-turn\n",
        ("farms[0].zones[0].n_turbines", "one boundary"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_range_is_refused_with_the_words_that_help(case: str, tmp_path: Path) -> None:
    old, new, words = BROKEN[case]
    assert COUNTED.count(old) == 1
    path = tmp_path / "broken.yaml"
    path.write_text(COUNTED.replace(old, new))
    with pytest.raises(CampaignError) as caught:
        Campaign.load(path)
    message = str(caught.value)
    assert not [word for word in words if word not in message], message
    assert "broken.yaml:" in message


def test_the_cells_know_their_ranges() -> None:
    cells = Campaign.loads(COUNTED).cells()
    assert [(cell.farm_idx, cell.type_idx, cell.counts_in_words) for cell in cells] == [
        (0, 0, "3 to 6"),
        (0, 1, "3 to 6"),
        (1, 0, "4"),
        (1, 1, "4"),
        (2, 0, "6"),
    ]
    assert [cell.is_chosen for cell in cells] == [True, True, False, False, True]
    assert [cells[0].allows(many) for many in (2, 3, 6, 7)] == [False, True, True, False]
    assert cells[4].mix == ((0, 3), (1, 3))
    assert cells[4].mix_ranges == ((1, 6), (0, 4))


def test_a_campaign_with_ranges_is_kept_and_read_again() -> None:
    campaign = Campaign.loads(COUNTED)
    again = Campaign.loads(campaign.dumps())
    assert again == campaign
    assert again.fingerprints() == campaign.fingerprints()
    assert "objective" not in Campaign.from_data(small()).dumps()


def _prints(text: str) -> dict[str, str]:
    return Campaign.loads(text).fingerprints()


@pytest.mark.parametrize(
    ("old", "new", "affected"),
    [
        (_RANGE, "n_turbines: {from: 4, to: 6}\n", "farm0"),
        (_RANGE, "n_turbines: {from: 3, to: 7}\n", "farm0"),
        (_MIX, _MIX.replace("to: 4", "to: 5"), "farm2"),
        (_MIX, _MIX.replace("from: 1", "from: 2"), "farm2"),
        (_OBJECTIVE, _OBJECTIVE.replace("three: 7", "three: 7.5"), "farm0_t0 farm2"),
        (_OBJECTIVE, "objective: aep-per-turbine\n", "farm0 farm2"),
        (_FIXED, "    n_turbines: {from: 4, to: 4}\n", ""),
        (_OBJECTIVE, "objective: {of: aep, turbine_cost_gwh: {three: 7.0, five: 25}}\n", ""),
        (_MIX, "    mix: {three: {to: 6, from: 1}, five: {from: 0, to: 4}}\n", ""),
    ],
)
def test_ranges_and_objective_decide_the_results_of_the_farms_that_choose_and_no_others(
    old: str, new: str, affected: str
) -> None:
    assert COUNTED.count(old) == 1
    before, after = _prints(COUNTED), _prints(COUNTED.replace(old, new))
    changed_keys = {key for key in before if before[key] != after[key]}
    assert changed_keys == {key for key in before if key.startswith(tuple(affected.split()))}


def test_names_of_types_decide_nothing_where_a_mix_is_chosen() -> None:
    renamed = COUNTED.replace("five", "ant").replace("three", "zoo")
    assert _prints(renamed) == _prints(COUNTED)


def test_an_objective_leaves_farms_with_fixed_numbers_as_they_were() -> None:
    assert different(changed("objective", "aep-per-turbine")) == set()
    assert different(
        changed("farms.0.n_turbines", {"from": 5, "to": 6}) | {"objective": "aep-per-turbine"}
    ) == keys(farms="0")


def test_the_survey_says_ranges() -> None:
    found = survey(Campaign.loads(COUNTED))
    assert [(cell.fewest_turbines, cell.n_turbines) for cell in found.cells][:3] == [
        (3, 6),
        (3, 6),
        (None, 4),
    ]
    assert found.cells[4].mix_ranges == ((1, 6), (0, 4))


def test_only_a_range_whose_fewest_find_no_room_is_warned_of() -> None:
    few = COUNTED.replace(_RANGE, "n_turbines: {from: 3, to: 900}\n")
    assert not [text for text in survey(Campaign.loads(few)).warnings if "cannot stand" in text]
    many = COUNTED.replace(_RANGE, "n_turbines: {from: 800, to: 900}\n")
    assert [text for text in survey(Campaign.loads(many)).warnings if "800 turbines cannot stand" in text]


def test_the_schema_takes_ranges_and_objectives() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    for objective in ("objective: aep-per-turbine\n", "objective: {turbine_cost_gwh: 3}\n", _OBJECTIVE):
        data = from_text(COUNTED.replace(_OBJECTIVE, objective), "counted").data
        assert not list(validator.iter_errors(json.loads(json.dumps(data))))
