"""OUT.h5 belongs to one campaign: it may grow and be edited, but another one does not take it over."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell, results
from vindeby.assembly.merging import refuse_another_campaign
from vindeby.campaign import Campaign
from vindeby.errors import InputError
from vindeby.runner import run
from vindeby.store.disk.run_directory import RunDirectory

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))


def first() -> Campaign:
    return one_cell(calling("slow", 2, {"seconds": 0.0}))


def other(**changes: Any) -> Campaign:
    """Another farm, turbine, name and parameter, unless ``changes`` says what stays."""
    data = first().to_data()
    data["name"] = "other"
    data["farms"][0] |= {"name": "west", "boundary": [[0, 0], [5000, 0], [5000, 5000], [0, 5000]]}
    data["turbines"] = [
        {"name": "six", "generic": {"rated_power_mw": 6, "rotor_diameter_m": 120, "hub_height_m": 90}}
    ]
    data["method"][0]["call"]["parameters"] = {"seconds": 0.001}
    return Campaign.from_data(data | changes)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_another_campaign_is_refused_before_anything_is_changed(tmp_path: Path) -> None:
    run(first(), tmp_path / "layouts.h5")
    (tmp_path / "d.yaml").write_text(other().dumps())
    before = everything(tmp_path)
    for words in (
        ["run", "d.yaml"],
        ["run", "d.yaml", "--replace-stale"],
        ["merge", "layouts.h5", "--campaign", "d.yaml"],
    ):
        done = vindeby(tmp_path, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            "layouts.h5: holds campaign 'small' (2 results), with which campaign 'other' shares nothing"
            in done.stderr
        )
        assert "use -o OTHER.h5" in done.stderr
    assert everything(tmp_path) == before
    assert vindeby(tmp_path, "run", "d.yaml", "-o", "other.h5").returncode == 0


def test_another_campaign_is_refused_away_from_the_run_directory_and_before_the_merge(tmp_path: Path) -> None:
    run(first(), tmp_path / "layouts.h5")
    shutil.copy(tmp_path / "layouts.h5", tmp_path / "copy.h5")
    with pytest.raises(InputError, match="holds campaign 'small'"):
        run(other(), tmp_path / "copy.h5")
    assert not (tmp_path / "copy.h5.run").exists()
    run(first(), tmp_path / "part.h5", part="1/1")
    with pytest.raises(InputError, match="holds campaign 'small'"):
        run(other(), tmp_path / "part.h5")


@pytest.mark.parametrize("same", ["farms", "turbines", "method"])
def test_a_campaign_of_the_same_name_with_other_farms_or_turbines_is_another(
    same: str, tmp_path: Path
) -> None:
    run(first(), tmp_path / "layouts.h5")
    with pytest.raises(InputError, match="shares nothing"):
        run(other(name="small", **{same: first().to_data()[same]}), tmp_path / "layouts.h5")


def test_an_edited_campaign_belongs_and_what_it_replaces_is_kept(tmp_path: Path) -> None:
    output, campaign = tmp_path / "layouts.h5", first()
    run(campaign, output)
    old = results(output)
    edited = one_cell(calling("slow", 2, {"seconds": 0.001}))
    assert len(run(edited, output).resume_state.stale) == 2
    assert run(edited, output, replace_stale=True).complete
    directory = RunDirectory(output)
    assert [path.read_text() for path in directory.campaigns.glob("*.yaml")] == [campaign.dumps()]
    assert results(*directory.replaced.glob("*.h5")) == old
    run(campaign, output, replace_stale=True)
    assert sorted(path.read_text() for path in directory.campaigns.glob("*.yaml")) == sorted(
        [campaign.dumps(), edited.dumps()]
    )
    run(edited, output, replace_stale=True)
    assert len(list(directory.campaigns.iterdir())) == 2


@pytest.mark.parametrize(
    "changed",
    [
        lambda data: data | {"name": "renamed"},
        lambda data: data | {"seeds": 3},
        lambda data: data | {"name": "renamed", "seeds": [1, 7]},
        lambda data: data | {"farms": [*data["farms"], {**data["farms"][0], "name": "second"}]},
        lambda data: data | {"min_spacing": "4 D"},
        lambda data: data | {"farms": [{**data["farms"][0], "name": "renamed"}], "min_spacing": "4 D"},
        lambda data: (
            data | {"farms": [{**data["farms"][0], "boundary": [[0, 0], [3900, 0], [3900, 3000], [0, 3000]]}]}
        ),
    ],
)
def test_a_campaign_that_grows_or_is_edited_is_not_refused(changed: Any, tmp_path: Path) -> None:
    run(first(), tmp_path / "layouts.h5")
    refuse_another_campaign(
        RunDirectory(tmp_path / "layouts.h5"), Campaign.from_data(changed(first().to_data()))
    )


def test_a_campaign_without_results_gives_its_place_to_another_and_its_text_is_kept(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "layouts.h5").create()
    directory.freeze_campaign(first().dumps())
    assert run(other(), directory.output).complete
    assert [path.read_text() for path in directory.campaigns.iterdir()] == [first().dumps()]
