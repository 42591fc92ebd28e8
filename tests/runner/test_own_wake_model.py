"""A wake model of the user's own in a campaign: found, run, validated, drawn, and refused where it is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import vindeby
from tests.campaign.examples import small
from tests.command import vindeby as command
from vindeby.assembly.wind import wake_model_of, wind_farm_of
from vindeby.campaign import Campaign
from vindeby.errors import InputError

pytestmark = pytest.mark.slow

MODEL = """
from math import exp
from pathlib import Path

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import WakeModel

Path("executed").touch()


@scalar
def slopes(data, pair):
    sigma = 0.3 * pair.diameter + data.constants[0] * pair.downwind
    square = pair.crosswind**2 + pair.rise**2
    depth = 0.2 * pair.thrust * pair.diameter / sigma * exp(-0.5 * square / sigma**2)
    along = depth * (square / sigma**2 - 1) / sigma * data.constants[0]
    return depth, along, -depth * pair.crosswind / sigma**2, depth / pair.thrust, 0.0


@scalar
def reach(data, downwind, diameter, rotor, thrust, turbulence):
    return 7.2 * (0.3 * diameter + data.constants[0] * downwind)


def cone(k=0.05):
    return WakeModel("cone", (k,), slopes, reach, "squares", "free", growth_constants=(0,))


fixed = cone()
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mymodel", raising=False)
    Path("mymodel.py").write_text(MODEL)
    return tmp_path


def campaign(wake: Any) -> Campaign:
    data = small()
    data["farms"], data["turbines"], data["seeds"] = data["farms"][:1], data["turbines"][:1], 2
    data["method"] = ["random-start", {"gradient": {"max_iterations": 2}}]
    return Campaign.from_data(data | {"wake": wake})


def test_a_model_of_the_users_own_is_run_in_workers_and_computed_again(folder: Path) -> None:
    asked = campaign({"python": "mymodel:cone", "options": {"k": 0.07}})
    Path("campaign.yaml").write_text(asked.dumps())
    checked = command(folder, "check", "campaign.yaml")
    assert (checked.returncode, "wake model python mymodel:cone" in checked.stdout) == (0, True)
    assert not Path("executed").exists()
    done = command(folder, "run", "campaign.yaml", "-o", "out.h5", "-j", "2")
    assert done.returncode == 0, done.stderr
    assert f"mymodel:cone is not from an installed package: {folder / 'mymodel.py'} will be" in done.stderr
    Path("executed").unlink()
    for look in (["validate", "out.h5"], ["show", "out.h5", "farm0_t0_s0", "-o", "a.png"]):
        assert command(folder, *look).returncode == 0
    assert not Path("executed").exists()
    deep = command(folder, "validate", "out.h5", "--deep")
    assert (deep.returncode, "not computed" in deep.stdout) == (0, False), deep.stdout
    with vindeby.open("out.h5") as database:
        record = database["farm0_t0_s0"]
    assert str(record.attributes["engine"]).startswith("vindeby mymodel:cone (code ")
    assert wind_farm_of(asked, 0, 0).aep(*record.layout) == pytest.approx(float(record.aep), rel=1e-12)
    Path("mymodel.py").write_text(MODEL.replace("0.2 * pair.thrust", "0.3 * pair.thrust"))
    edited = campaign({"python": "mymodel:cone", "options": {"k": 0.07}})
    kept = vindeby.run(edited, "out.h5")
    assert (kept.complete, len(kept.resume_state.stale)) == (False, 2)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (
            "depth / pair.thrust, 0.0",
            "1.5 * depth / pair.thrust, 0.0",
            "as the slope with thrust at downwind 360, ",
        ),
        (
            "depth / pair.thrust, 0.0",
            "depth / pair.thrust, 0.01",
            "gives 0.01 as the slope with turbulence at ",
        ),
        (
            "-depth * pair.crosswind",
            "depth * pair.crosswind",
            "as the slope with crosswind at downwind 360, crosswind 7, ",
        ),
    ],
)
def test_a_wrong_slope_is_refused_with_its_size(folder: Path, right: str, wrong: str, words: str) -> None:
    Path("mymodel.py").write_text(MODEL.replace(right, wrong))
    with pytest.raises(InputError, match=rf"wake.python: mymodel:fixed: deficit_with_slopes .*{words}"):
        wake_model_of(campaign({"python": "mymodel:fixed"}).wake)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("7.2 * (0.3", "2.0 * (0.3", r"reach gives 108 m at downwind 360, .*but deficit_with_slopes gives 0\.0"),
        ("depth, along,", "depth if pair.downwind < 1000.0 else 0.0 / 0.0 * depth, along,", "gives nan as the value"),
        ("depth / pair.thrust, 0.0", "depth / pair.thrust", "returns 4 values, not 5: the value, and its slopes with"),
    ],
)  # fmt: skip
def test_a_short_reach_nan_and_missing_slopes_are_refused(
    folder: Path, right: str, wrong: str, words: str
) -> None:
    Path("mymodel.py").write_text(MODEL.replace(right, wrong))
    with pytest.raises(InputError, match=rf"wake.python: mymodel:fixed: .*{words}"):
        wake_model_of(campaign({"python": "mymodel:fixed"}).wake)


def test_a_function_that_raises_is_refused_with_its_error(folder: Path) -> None:
    Path("mymodel.py").write_text(
        MODEL.replace("def slopes(data, pair)", "def slopes(data, downwind, crosswind)")
    )
    with pytest.raises(
        InputError,
        match=r"wake.python: mymodel:fixed: its functions raised TypeError: not enough arguments.*\(data, pair\)",
    ):
        wake_model_of(campaign({"python": "mymodel:fixed"}).wake)


def test_a_run_with_a_wrong_slope_ends_before_the_first_task(folder: Path) -> None:
    Path("mymodel.py").write_text(MODEL.replace("depth / pair.thrust, 0.0", "2 * depth / pair.thrust, 0.0"))
    Path("campaign.yaml").write_text(campaign({"python": "mymodel:cone"}).dumps())
    done = command(folder, "run", "campaign.yaml", "-j", "1")
    assert done.returncode == 2
    assert "wake.python: mymodel:cone: deficit_with_slopes gives" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("wake", "words"),
    [
        ({"python": "nowhere:cone"}, "No module named 'nowhere'; is the module installed"),
        ({"python": "mymodel:tube"}, "mymodel has no tube; name a WakeModel or function"),
        ({"python": "mymodel:number"}, "is a int, not a WakeModel or function"),
        ({"python": "mymodel:exp", "options": {"k": 1}}, r"\(k=1\) raised TypeError"),
        ({"python": "mymodel:Path"}, "gives a PosixPath, not a vindeby.WakeModel"),
        ({"python": "mymodel:fixed", "options": {"k": 1}}, r"\(k=1\) raised TypeError"),
    ],
)
def test_what_is_no_wake_model_is_refused(folder: Path, wake: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"wake.python: {wake['python']}.*{words}"):
        wake_model_of(campaign(wake).wake)


def test_check_says_that_the_module_is_not_there(folder: Path) -> None:
    Path("campaign.yaml").write_text(campaign({"python": "nowhere:cone"}).dumps())
    done = command(folder, "check", "campaign.yaml")
    assert done.returncode == 0
    assert "warning: wake.python: nowhere:cone: no module nowhere is found here" in done.stderr
