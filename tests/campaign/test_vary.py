"""Axes of a campaign: its combinations, what each of them is, their keys and identities, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.costed import COSTED
from tests.campaign.examples import SMALL, small
from vindeby.campaign import Campaign
from vindeby.campaign.campaign import CHECKS
from vindeby.errors import CampaignError

WAKES = {"nygaard": "nygaard-2022", "jensen": {"jensen": {"k": 0.04}}}
WINDS = {
    "wet": {"site.weibull.turbulence_intensity": 0.06, "min_spacing": "5 D"},
    "dry": {"site.weibull.turbulence_intensity": 0.08, "min_spacing": "4 D"},
}


def varied(axes: dict[str, Any], **more: Any) -> Campaign:
    return Campaign.from_data(small() | more | {"vary": axes})


def test_what_an_axis_sets_need_not_be_set_above_it() -> None:
    data = small()
    del data["wake"], data["min_spacing"]
    campaign = Campaign.from_data(data | {"vary": {"wake": WAKES, "wind": WINDS}})
    assert campaign.axes == {"wake": ("nygaard", "jensen"), "wind": ("wet", "dry")}
    found = [
        (one.wake.title, one.site.weibull.turbulence_intensity, one.min_spacing.diameters)
        for one in campaign.variants
        if one.site.weibull
    ]
    assert found == [
        ("nygaard-2022", 0.06, 5.0),
        ("nygaard-2022", 0.08, 4.0),
        ("jensen", 0.06, 5.0),
        ("jensen", 0.08, 4.0),
    ]
    assert campaign.total_configs == len(campaign.tasks()) == 2 * 2 * 4 * 3
    assert campaign.counts == "48 tasks = 2 farms x 2 types x 2 wake x 2 wind x 3 seeds"


def test_a_cell_is_that_of_the_campaign_that_has_these_fields_without_axes() -> None:
    campaign = varied({"wake": WAKES, "wind": WINDS})
    for cell in campaign.cells():
        values = campaign.combinations[cell.combination].values
        plain = small() | {"wake": WAKES[values["wake"]], "min_spacing": WINDS[values["wind"]]["min_spacing"]}
        intensity = WINDS[values["wind"]]["site.weibull.turbulence_intensity"]
        plain["site"]["weibull"]["turbulence_intensity"] = intensity
        same = {one.place[:2]: one for one in Campaign.from_data(plain).cells()}[cell.place[:2]]
        assert (cell.identity, cell.fingerprint(2)) == (same.identity, same.fingerprint(2))
        assert campaign.of(cell).combination.tag == cell.tag


def test_tags_do_not_depend_on_the_order_or_on_other_values() -> None:
    def keys(axes: dict[str, Any]) -> dict[str, str]:
        return varied(axes).fingerprints()

    first = keys({"wake": WAKES, "wind": WINDS})
    turned = {name: dict(reversed(values.items())) for name, values in (("wind", WINDS), ("wake", WAKES))}
    assert keys(turned) == first
    more = keys({"wake": WAKES | {"third": {"jensen": {"k": 0.05}}}, "wind": WINDS})
    assert first.items() < more.items()
    assert all(key.rpartition("_")[2].isalnum() and len(key.rpartition("_")[2]) == 8 for key in first)


def test_combinations_share_the_sections_that_are_the_same() -> None:
    campaign = varied({"method": {"one": "random-start", "two": "smart-start"}, "wake": WAKES})
    first, second, third, _ = campaign.variants
    assert [one.combination.values["wake"] for one in (first, second, third)] == [
        "nygaard",
        "nygaard",
        "jensen",
    ]
    assert first.wake is second.wake
    assert first.site is third.site
    assert first.method is third.method
    assert len(campaign.distinct("method")) == len(campaign.distinct("wake")) == 2
    assert len(campaign.distinct("site")) == 1


def test_a_kept_campaign_is_the_same_campaign() -> None:
    series = {"wind_speed": [8.0] * 900, "wind_direction": [270.0] * 900, "turbulence_intensity": [0.1] * 900}
    axes = {"site": {"long": {"time_series": series}, "short": small()["site"]}, "wake": WAKES}
    data = small()
    del data["site"]
    campaign = Campaign.from_data(data | {"vary": axes | {"neighbours": {"none": "none", "null": None}}})
    text = campaign.dumps()
    assert text.count("packed:") == 3
    assert "\nsite:" not in text
    again = Campaign.loads(text)
    assert (again, again.dumps(), again.fingerprints()) == (campaign, text, campaign.fingerprints())
    assert pickle.loads(pickle.dumps(campaign)).fingerprints() == campaign.fingerprints()
    assert [one.neighbours for one in again.variants] == [None] * 8


def test_two_axes_may_set_parts_of_one_section() -> None:
    path, site = "site.weibull.turbulence_intensity", small()["site"]
    rough = {"rough": {path: 0.12}, "calm": {path: 0.05}}
    wind = {"all": {"site": site}, "fast": {"site": site | {"wind_speed_factor": 1.1}}}
    campaign = varied({"roughness": rough, "wind": wind})
    found = {
        (one.site.weibull.turbulence_intensity, one.site.wind_speed_factor)
        for one in campaign.variants
        if one.site.weibull
    }
    assert found == {(0.12, None), (0.05, None), (0.12, 1.1), (0.05, 1.1)}


_PATHS = ["site.wind_speed_factor", "site.direction_std_deg", "capacity_mw", "costs", "min_spacing"]
_NINE = {path: ", ".join(f"v{number}: {{{path}: {number}}}" for number in range(9)) for path in _PATHS}
MANY = "vary:\n" + "".join(f"  a{number}: {{{_NINE[path]}}}\n" for number, path in enumerate(_PATHS))
BROKEN = {
    "a field that no axis sets": ("vary: {seeds: {a: 1, b: 2}}", 34, ["vary.seeds", "cannot be varied"]),
    "a name of results": ("vary: {n_turbines: {a: 3, b: 4}}", 34, ["n_turbines", "another name"]),
    "no name": ("vary: {2 words: {a: {wake: jensen}}}", 34, ["2 words", "is not a name", "letters"]),
    "an empty axis": ("vary: {wake: {}}", 34, ["vary.wake", "at least 1"]),
    "no axis": ("vary: {}", 34, ["vary", "at least 1"]),
    "a list": ("vary: {wake: [jensen, nygaard-2022]}", 34, ["vary.wake", "mapping"]),
    "an unknown field": (
        "vary: {how: {a: {wakes: jensen}}}",
        34,
        ["vary.how.a.wakes", "not a field", "wake"],
    ),
    "an unknown axis": ("vary: {wakes: {a: jensen}}", 34, ["vary.wakes.a", "not a mapping of fields"]),
    "two values of one name": (
        "vary:\n  wake:\n    a: jensen\n    a: nygaard-2022",
        37,
        ["duplicate key 'a'"],
    ),
    "values that set different fields": (
        "vary:\n  how:\n    a: {wake: jensen}\n    b: {min_spacing: 4 D}",
        36,
        ["vary.how.a", "does not set min_spacing", "'b' sets"],
    ),
    "a field of two axes": (
        "vary:\n  wake: {a: jensen}\n  how: {b: {wake: jensen}}",
        36,
        ["vary.how", "sets wake", "axis wake"],
    ),
    "an unknown key at the end of a path": (
        "vary:\n  how:\n    a: {site.weibull.turbulance_intensity: 0.1}",
        36,
        ["vary.how.a.site.weibull.turbulance_intensity", "did you mean 'turbulence_intensity'? known here:"],
    ),
    "axes in an axis": (
        "vary:\n  how:\n    a: {vary: {}}",
        36,
        ["vary.how.a.vary", "cannot be varied"],
    ),
    "an axis of axes": ("vary: {vary: {a: b}}", 34, ["vary.vary", "cannot be varied"]),
    "a path that names nothing": (
        "vary:\n  how:\n    a: {site.weibul.turbulence_intensity: 0.1}",
        36,
        ["vary.how.a", "'weibul'", "did you mean 'weibull'"],
    ),
    "a wrong value": (
        "vary:\n  wake:\n    a: jensen\n    b: {jensen: {k: -1}}",
        37,
        ["vary.wake.b.jensen.k", "greater than 0", "-1"],
    ),
    "a wrong value at a path": (
        "vary:\n  how:\n    a: {site.weibull.turbulence_intensity: 7}",
        36,
        ["vary.how.a.site.weibull.turbulence_intensity", "less than 1"],
    ),
    "an unknown key in a value": (
        "vary:\n  wake:\n    b: {jensen: {kk: 1}}",
        36,
        ["vary.wake.b.jensen.kk", "is not a known key", "'k'"],
    ),
    "what cannot be in one combination": (
        "vary:\n  method: {a: random-start, b: [random-start, gradient]}\n  wake:\n    c: cumulative-curl",
        35,
        ["vary.method.b", "needs a gradient"],
    ),
    "what is wrong elsewhere in one combination": (
        "vary:\n  how:\n    few: {capacity_mw: 30}\n    none: {capacity_mw: 1}",
        37,
        ["vary.how.none.capacity_mw", "makes 0 turbines"],
    ),
    "too many combinations": (
        MANY,
        34,
        ["vary", "59,049 combinations"],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_wrong_axes_are_refused_where_they_are_written(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, line, words = BROKEN[case]
    monkeypatch.chdir(tmp_path)
    Path("broken.yaml").write_text(SMALL + text + "\n")
    with pytest.raises(CampaignError) as caught:
        Campaign.load("broken.yaml")
    first = str(caught.value).splitlines()[0]
    assert not [word for word in words if word not in first], first
    assert first.startswith(f"broken.yaml:{line + _OFFSET}:"), first


_OFFSET = SMALL.count("\n") - 33


def test_values_name_files_as_a_campaign_does(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text("direction,a,k,frequency\n0,9,2,0.5\n180,10,2.1,0.5\n")
    (tmp_path / "beside.csv").write_text("x,y\n-3000,0\n-3000,2000\n")
    axes = """\
vary:
  site:
    read:
      weibull:
        turbulence_intensity: 0.1
        file: north.csv
    here: {weibull: {sectors: [{direction: 0, a: 8, k: 2, frequency: 1}], turbulence_intensity: 0.1}}
  around:
    none: {neighbours: none, costs: none}
    some: {neighbours: [{file: beside.csv, type: five}], costs: none}
"""
    (tmp_path / "good.yaml").write_text(SMALL + axes)
    campaign = Campaign.load(tmp_path / "good.yaml")
    sectors = {len(one.site.weibull.sectors) for one in campaign.variants if one.site.weibull}
    assert sectors == {2, 1}
    assert {len(one.groups[0].positions) for one in campaign.variants if one.neighbours} == {2}
    lines = SMALL.count("\n")
    for wrong, line, words in (
        (axes.replace("north.csv", "no.csv"), 6, "vary.site.read.weibull.file: no such file"),
        (axes.replace("beside.csv", "no.csv"), 10, "vary.around.some.neighbours[0].file: no such file"),
    ):
        (tmp_path / "bad.yaml").write_text(SMALL + wrong)
        with pytest.raises(CampaignError) as caught:
            Campaign.load(tmp_path / "bad.yaml")
        assert f"bad.yaml:{lines + line}: {words}" in str(caught.value)
    (tmp_path / "north.csv").write_text("direction,a,k,frequency\n0,9,2,0.5\n180,10,2.1,1.5\n")
    with pytest.raises(CampaignError, match=r"north.csv:3: vary.site.read.weibull"):
        Campaign.load(tmp_path / "good.yaml")


def test_checks_of_the_whole_campaign_read_the_fields_that_they_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = Campaign.loads(
        f"{COSTED}scenarios: {{calm: {{site.wind_speed_factor: 0.9}}, other: {{wake: jensen}}}}\n"
    )
    read = set[str]()

    def noted(self: Any, name: str) -> Any:
        if name in Campaign.model_fields:
            read.add(name)
        return object.__getattribute__(self, name)

    monkeypatch.setattr(Campaign, "__getattribute__", noted, raising=False)
    for check, fields in CHECKS.items():
        read.clear()
        check(campaign)
        assert read <= {*fields, "farms", "turbines", "seeds", "crs", "vary"}, check


def test_overrides_change_values_of_axes_and_not_what_axes_set() -> None:
    text = f"{SMALL}vary: {{wake: {{a: jensen, b: nygaard-2022}}}}\n"
    more = Campaign.loads(text, overrides=["vary.wake.c={jensen: {k: 0.06}}", "seeds=1"])
    assert more.axes == {"wake": ("a", "b", "c")}
    with pytest.raises(CampaignError, match=r"--set wake=jensen.*an axis of the campaign sets wake"):
        Campaign.loads(text, overrides=["wake=jensen"])
