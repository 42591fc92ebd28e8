"""``extends``: a campaign file that says only what differs from another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.examples import SMALL
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import write
from vindeby.errors import CampaignError


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def problem(path: Path) -> str:
    with pytest.raises(CampaignError) as caught:
        Campaign.load(path)
    return str(caught.value)


def test_a_file_is_its_base_with_what_it_says_itself(tmp_path: Path) -> None:
    base = written(tmp_path / "base.yaml", SMALL)
    more = written(tmp_path / "more.yaml", "extends: base.yaml\nname: more\nseeds: 7\nrun: {retries: 1}\n")
    one, other = Campaign.load(base), Campaign.load(more)
    assert (other.name, len(other.seeds), other.run.retries) == ("more", 7, 1)
    assert other.run.grace_s == one.run.grace_s
    expected = {**one.to_data(), "name": "more", "seeds": 7}
    assert other.fingerprints() == Campaign.from_data(expected).fingerprints()
    assert other.fingerprints().items() >= one.fingerprints().items()
    assert "extends" not in other.dumps()


def test_mappings_are_merged_lists_replaced_and_null_removes(tmp_path: Path) -> None:
    written(tmp_path / "base.yaml", SMALL)
    text = """
extends: base.yaml
site: {weibull: {turbulence_intensity: 0.07}}
farms: [{name: other, boundary: [[0, 0], [9000, 0], [9000, 9000]]}]
run: null
"""
    base, own = Campaign.load(tmp_path / "base.yaml"), Campaign.load(written(tmp_path / "own.yaml", text))
    assert own.site.weibull is not None
    assert base.site.weibull is not None
    assert own.site.weibull.turbulence_intensity == 0.07
    assert own.site.weibull.sectors == base.site.weibull.sectors
    assert [farm.name for farm in own.farms] == ["other"]
    assert own.run == type(own.run)()


def test_an_alternative_is_replaced_by_removing_that_of_the_base(tmp_path: Path) -> None:
    written(tmp_path / "base.yaml", SMALL + "wake: {jensen: {k: 0.05}}\n" if "wake" not in SMALL else SMALL)
    own = written(tmp_path / "own.yaml", "extends: base.yaml\nwake: bastankhah-2014\n")
    assert Campaign.load(own).wake.title.startswith("bastankhah-2014")


def test_both_files_are_in_one_folder_and_no_name_in_them_is_changed(tmp_path: Path) -> None:
    written(tmp_path / "common" / "area.csv", "x,y\n0,0\n9000,0\n9000,9000\n0,9000\n")
    data = Campaign.loads(SMALL).to_data()
    data["farms"] = [{"name": "north", "boundary": {"file": "area.csv"}}]
    data["wake"] = {"python": {"model": "a.b:c", "options": {"file": "lut.csv", "site": "offshore"}}}
    base = written(tmp_path / "common" / "base.yaml", write(data))
    beside = Campaign.load(written(tmp_path / "common" / "own.yaml", "extends: ./base.yaml\n"))
    assert beside.farms[0].boundary.area_km2 == 81.0
    assert beside.wake.python is not None
    assert beside.wake.python.options == {"file": "lut.csv", "site": "offshore"}
    for name in ("../common/base.yaml", str(base)):
        own = written(tmp_path / "own" / "c.yaml", f"extends: {name}\nname: own\n")
        assert f"{own}:1: extends: is in another folder (got {name!r}); put both files into" in problem(own)


def test_null_where_the_base_has_nothing_is_refused(tmp_path: Path) -> None:
    """``wake: {gaussian: }`` would otherwise keep the wake model of the base."""
    data = {**Campaign.loads(SMALL).to_data(), "wake": {"jensen": {"k": 0.05}}}
    written(tmp_path / "base.yaml", write(data))
    own = written(tmp_path / "own.yaml", "extends: base.yaml\nwake:\n  gaussian:\n")
    assert f"{own}:3: wake.gaussian: removes nothing: the extended file does not have it" in problem(own)
    assert "or write gaussian: {} for one" in problem(own)
    both = written(tmp_path / "both.yaml", "extends: base.yaml\nwake: {jensen: null, gaussian: {}}\n")
    assert Campaign.load(both).wake.title.startswith("gaussian")


def test_a_name_that_cannot_be_opened_is_an_error_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    own = written(tmp_path / "own.yaml", "extends: loop.yaml\n")
    assert f"{own}:1: extends: cannot be read: " in problem(own)
    assert "extends: cannot be read: " in problem(written(tmp_path / "own.yaml", 'extends: "a\\0b"\n'))
    misspelled = problem(written(tmp_path / "own.yaml", "extends: energy-iland\n"))
    assert "did you mean 'energy-island'? the presets are: energy-island, " in misspelled


def test_values_of_unknown_keys_are_not_quoted(tmp_path: Path) -> None:
    """A base may be any file of the folder, such as one that holds a password."""
    written(tmp_path / "secrets.yaml", "password: swordfish\n")
    text = problem(written(tmp_path / "own.yaml", "extends: secrets.yaml\n"))
    assert "secrets.yaml:1: password: is not a known key" in text
    assert "swordfish" not in text


def test_a_mistake_is_reported_with_the_file_in_which_it_was_made(tmp_path: Path) -> None:
    written(tmp_path / "base.yaml", SMALL.replace("seeds:", "sedes:"))
    own = written(tmp_path / "own.yaml", "extends: base.yaml\nrun:\n  retry: 3\n")
    text = problem(own)
    line = SMALL.split("seeds:")[0].count("\n") + 1
    assert f"{tmp_path}/base.yaml:{line}: sedes: is not a known key" in text
    assert f"{own}:3: run.retry: is not a known key" in text


def test_a_preset_can_be_extended(tmp_path: Path) -> None:
    own = written(tmp_path / "own.yaml", "extends: energy-island-quick\nseeds: 3\n")
    assert Campaign.load(own).total_configs == 18


def test_circles_and_missing_files_are_refused_with_the_chain(tmp_path: Path) -> None:
    a = written(tmp_path / "a.yaml", "extends: b.yaml\n")
    b = written(tmp_path / "b.yaml", "extends: a.yaml\n")
    assert f"{b}:1: extends: is circular: {a} -> {b} -> {tmp_path}/a.yaml" in problem(a)
    missing = written(tmp_path / "c.yaml", "extends: nowhere.yaml\n")
    text = problem(missing)
    assert f"{missing}:1: extends: no such file: {missing} -> {tmp_path}/nowhere.yaml" in text
    assert "must be the name of a campaign file" in problem(written(tmp_path / "d.yaml", "extends: [a]\n"))
    written(tmp_path / "list.yaml", "- 1\n")
    assert "must be a mapping" in problem(written(tmp_path / "e.yaml", "extends: list.yaml\n"))


def test_text_without_a_file_extends_nothing() -> None:
    with pytest.raises(CampaignError, match=r"campaign:1: extends: is for files only .*; write it in"):
        Campaign.loads("extends: base.yaml\n" + SMALL)
