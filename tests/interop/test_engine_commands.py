"""A wake model of the user's own, in a file beside the campaign: every command, from the check to the report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import vindeby
from tests.interop.engine_campaigns import data, weibull
from vindeby.assembly.engine_names import engine_name
from vindeby.assembly.physics import physics_checks
from vindeby.campaign import Campaign

MODEL = """
from pathlib import Path

from py_wake import np
from py_wake.deficit_models.deficit_model import WakeDeficitModel
from py_wake.superposition_models import LinearSum
from py_wake.wind_farm_models import PropagateDownwind

Path("executed").write_text("")


class Cone(WakeDeficitModel):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def calc_deficit(self, WS_ilk, ct_ilk, D_src_il, dw_ijlk, cw_ijlk, **_):
        start = D_src_il[:, None, :, None] / 2
        width = start + self.k * np.maximum(dw_ijlk, 0)
        shape = (start / width) ** 2 * np.exp(-((cw_ijlk / width) ** 2) / 2)
        return WS_ilk[:, None] * 0.3 * ct_ilk[:, None] * shape * (dw_ijlk > 0)

    def wake_radius(self, D_src_il, dw_ijlk, **_):
        return D_src_il[:, None, :, None] / 2 + self.k * dw_ijlk


def cone(site, wind_turbines, k=0.05):
    return PropagateDownwind(site, wind_turbines, Cone(k), superpositionModel=LinearSum())
"""


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "vindeby", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    given = data(
        {"pywake": "mycone:cone", "options": {"k": 0.06}},
        site=weibull(direction_step=90.0),
        method=["random-start", {"gradient": {"max_iterations": 2}}],
        seeds=2,
    )
    (tmp_path / "campaign.yaml").write_text(yaml.safe_dump(given))
    (tmp_path / "mycone.py").write_text(MODEL)
    return tmp_path


def test_a_model_of_ones_own_goes_through_every_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = command(folder, "check", "campaign.yaml")
    assert looked.returncode == 0, looked.stderr
    assert "wake model pywake mycone:cone" in looked.stdout
    assert not (folder / "executed").exists()

    done = command(folder, "run", "campaign.yaml", "-o", "out.h5", "-j", "1")
    assert done.returncode == 0, done.stderr
    assert (
        f"mycone:cone is not from an installed package: {folder / 'mycone.py'} will be executed"
        in done.stderr
    )
    (folder / "executed").unlink()
    with vindeby.open(folder / "out.h5") as database:
        engine = str(database["farm0_t0_s1"].attributes["engine"])
    assert engine.startswith("py_wake 2.")
    assert "mycone:cone (mycone.py " in engine

    monkeypatch.chdir(folder)
    campaign = Campaign.load("campaign.yaml")
    assert engine_name(campaign) == engine
    for key, words in (("farm0_t0_s0", []), ("farm0_t0_s1", ["but the layout gives"])):
        with vindeby.open("out.h5") as database:
            record = database[key]
        wrong = record.arrays["aep"] * 0.999 if words else record.arrays["aep"]
        record = type(record)(key, record.fingerprint, {**record.arrays, "aep": wrong}, record.attributes)
        deep = physics_checks(campaign, deep=True)
        assert [word for text in deep[1](record) for word in words if word in text] == words
        if not words:
            assert list(deep[1](record)) == []


def test_looking_at_results_executes_nothing_and_a_changed_model_is_said(folder: Path) -> None:
    started = command(folder, "run", "campaign.yaml", "-o", "out.h5", "-j", "1", "--seeds", "1")
    assert started.returncode == 0, started.stderr
    (folder / "executed").unlink()
    for words in (["validate", "out.h5"], ["show", "out.h5", "farm0_t0_s0"], ["monitor", "out.h5"]):
        seen = command(folder, *words)
        assert seen.returncode == 0, seen.stderr
    assert not (folder / "executed").exists()

    (folder / "mycone.py").write_text(MODEL + "# changed\n")
    resumed = command(folder, "run", "campaign.yaml", "-o", "out.h5", "-j", "1")
    assert resumed.returncode == 0, resumed.stderr
    assert "1 result there already come from another engine than py_wake" in resumed.stderr
    assert "1 results are there already" in resumed.stderr
    (folder / "executed").unlink()
    deep = command(folder, "validate", "out.h5", "--deep")
    assert deep.returncode == 0, deep.stdout
    assert "will be executed" in deep.stderr
    assert (folder / "executed").exists()
