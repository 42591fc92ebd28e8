"""A wake model of the user's own, in a file beside the campaign: every command, from the check to the report."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import vindeby
from tests.command import vindeby as command
from tests.interop.engine_campaigns import data, weibull
from vindeby.assembly.energy import engine_name, engine_warning
from vindeby.assembly.physics import physics_checks
from vindeby.campaign import Campaign
from vindeby.cli.app import build
from vindeby.plots.layout import Drawn

pytestmark = pytest.mark.oracle

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that has run, with its model beside it."""
    folder = tmp_path_factory.mktemp("cone")
    given = data(
        {"pywake": "mycone:cone", "options": {"k": 0.06}},
        site=weibull(direction_step=90.0),
        method=["random-start", {"gradient": {"max_iterations": 2}}],
        seeds=2,
    )
    (folder / "campaign.yaml").write_text(yaml.safe_dump(given))
    (folder / "mycone.py").write_text(MODEL)
    done = subprocess.run(
        [Path(sys.executable).parent / "vindeby", "run", "campaign.yaml", "-o", "out.h5", "-j", "1"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "executed").exists()
    logs = "".join(log.read_text() for log in (folder / "out.h5.run" / "logs").iterdir())
    assert "makes room for a fresh one" not in logs  # as it would where PyWake is first imported by a task
    (folder / "messages").write_text(done.stderr)
    return folder


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "executed").unlink(missing_ok=True)
    (folder / "mycone.py").write_text(MODEL)


def test_run_says_which_file_it_executes_and_results_which_engine_they_are_of(folder: Path) -> None:
    told = f"mycone:cone is not from an installed package: {folder / 'mycone.py'} will be executed"
    assert told in (folder / "messages").read_text()
    campaign = Campaign.load("campaign.yaml")
    assert told in engine_warning(campaign)  # what validate --deep says
    engine = engine_name(campaign)
    assert engine.startswith("py_wake 2.")
    assert "mycone:cone (code " in engine
    with vindeby.open("out.h5") as database:
        assert [database[key].attributes["engine"] for key in sorted(database)] == [engine] * 2


def test_looking_at_a_campaign_and_its_results_executes_nothing(folder: Path) -> None:
    assert CliRunner().invoke(build(), ["check", "campaign.yaml"]).exit_code == 0
    assert CliRunner().invoke(build(), ["validate", "out.h5"]).exit_code == 0
    results = vindeby.ResultSet("out.h5")
    losses = results.wake_losses()
    assert ((losses > 0.0) & (losses < 0.1)).all()
    drawn = Drawn(results, "farm0_t0_s0")
    assert ("wakes not drawn", "by pywake") in drawn.facts
    vindeby.plots.layout(results, "farm0_t0_s0")
    assert not (folder / "executed").exists()


def test_deep_validation_computes_energies_again_with_the_model(folder: Path) -> None:
    with vindeby.open("out.h5") as database:
        record = database["farm0_t0_s0"]
    check = physics_checks(Campaign.load("campaign.yaml"), deep=True)[1]
    assert list(check(record)) == []
    assert (folder / "executed").exists()
    wrong = {**record.arrays, "aep": record.arrays["aep"] * (1.0 - 1e-6)}
    told = list(check(type(record)(record.key, record.fingerprint, wrong, record.attributes)))
    assert len(told) == 1
    assert "but the layout gives" in told[0]


def test_results_of_an_edited_model_are_stale_until_they_are_replaced(tmp_path: Path) -> None:
    output = shutil.copy("out.h5", tmp_path / "out.h5")
    said: list[str] = []
    assert vindeby.run("campaign.yaml", output, on_message=said.append).complete
    Path("mycone.py").write_text(MODEL.replace("0.3 *", "0.25 *"))
    kept = vindeby.run("campaign.yaml", output, on_message=said.append)
    assert not kept.complete
    assert kept.resume_state.stale == ["farm0_t0_s0", "farm0_t0_s1"]
    (stale,) = [text for text in said if "--replace-stale computes them again" in text]
    assert "changed: wake.pywake.code" in stale
    assert not [text for text in said if "another engine" in text]
    replaced = vindeby.run("campaign.yaml", output, workers=1, replace_stale=True)
    assert replaced.complete
    assert replaced.done == 2


def test_a_module_that_the_model_imports_is_part_of_its_code() -> None:
    Path("mycone.py").write_text(MODEL + "from mydepth import depth\n")
    prints = []
    for depth in ("0.3", "0.25"):
        Path("mydepth.py").write_text(f"depth = {depth}\n")
        prints.append(Campaign.load("campaign.yaml").fingerprints()["farm0_t0_s0"])
    Path("unrelated.py").write_text("")
    assert prints[0] != prints[1] == Campaign.load("campaign.yaml").fingerprints()["farm0_t0_s0"]


def test_evaluations_with_an_edited_model_are_stale_too(tmp_path: Path) -> None:
    asked: dict[str, object] = {"name": "again", "method": {"stored": {"seeds": 1}}}
    output = tmp_path / "study.h5"
    assert vindeby.evaluate("out.h5", asked, output, workers=1).complete
    Path("mycone.py").write_text(MODEL.replace("0.3 *", "0.25 *"))
    for given in (asked, asked | {"wake": {"pywake": "mycone:cone", "options": {"k": 0.06}}}):
        kept = vindeby.evaluate("out.h5", given, output, workers=1)
        assert not kept.complete
        assert kept.resume_state.stale == ["farm0_t0_s1"]
    assert vindeby.evaluate("out.h5", asked, output, workers=1, replace_stale=True).complete


def test_deep_validation_with_an_edited_model_is_refused_with_what_to_do(folder: Path) -> None:
    Path("mycone.py").write_text(MODEL.replace("0.3 *", "0.25 *"))
    done = command(folder, "validate", "out.h5", "--deep")
    assert done.returncode == 2
    assert "wake.pywake: mycone:cone: its code is not that of the campaign" in done.stderr
    assert "Traceback" not in done.stderr
