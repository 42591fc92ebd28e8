"""A windIO export that vindeby reads again: the same energy, or a note of the export that says why not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.command import vindeby
from tests.interop.exports import campaign, database
from tests.interop.test_export_windio import SYSTEM, TABLE, exported
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.interop.windio.system import System, read_system

pytestmark = pytest.mark.slow

KEY = "farm1_t0_s0"
WORDS: dict[str, tuple[Any, ...]] = {
    "induction": ("madsen", "momentum"),
    "rotor": ("overlap", "centre"),
    "superposition": ("squares", "linear"),
    "reference": ("free", "local"),
    "thrust_of": ("local", "local", "local", "free"),
}
OF_GAUSSIAN: dict[str, tuple[Any, ...]] = {
    "initial_width": ("beta", "beta", "beta", "constant"),
    "cut_sigmas": (None, None, None, 2.0),
}


def random_wakes(count: int) -> list[dict[str, Any]]:
    draw = random.Random(40)
    wakes: list[dict[str, Any]] = []
    for number in range(count):
        name = ("top-hat", "gaussian", "jensen", "niayifar-2016", "bastankhah-2016", "bastankhah-2014")[
            number % 6
        ]
        k = round(draw.uniform(0.01, 0.14), 4)
        parts: dict[str, Any] = {"k": k}
        if name in ("top-hat", "gaussian"):
            words = WORDS | (OF_GAUSSIAN if name == "gaussian" else {})
            parts |= {part: draw.choice(values) for part, values in words.items()}
            parts |= {"ceps": draw.choice([0.2, 0.25, 0.3])} if name == "gaussian" else {}
        elif name == "jensen":
            parts |= {part: draw.choice(WORDS[part]) for part in ("induction", "rotor")}
        elif name == "niayifar-2016":
            parts = {"a0": draw.uniform(0.05, 0.6), "a1": draw.choice([0.0, 0.003678, k])}
        elif name == "bastankhah-2016":
            parts = {"ka": draw.uniform(0.05, 0.6), "kb": k, "alpha": draw.choice([0.58, 0.6])}
        blockage = {"blockage": "self-similar-2020"} if draw.random() < 0.3 else {}
        wakes.append({name: parts} | (blockage if parts.get("thrust_of") != "free" else {}))
    return wakes


def energy(asked: Campaign, system: System) -> float:
    (layout,) = system.layouts
    return wind_farm(asked, 0).aep(layout.x, layout.y)


def says_why_not(notes: list[str]) -> bool:
    return any(
        "the file does not name one" in note
        or "vindeby reads the wake model" in note
        or "does not read" in note
        for note in notes
    )


@pytest.mark.parametrize("wake", random_wakes(24), ids=lambda wake: "-".join(wake))
def test_a_wake_is_read_back_as_it_was_or_a_note_of_the_export_says_otherwise(
    wake: dict[str, Any], tmp_path: Path
) -> None:
    asked = campaign(site={"table": TABLE}, wake=wake)
    path, notes = exported(tmp_path, asked, KEY)
    if says_why_not(notes):
        return
    system = read_system(path / SYSTEM, check_schema=False)
    read = Campaign.from_data(system.data)
    assert energy(read, system) == pytest.approx(energy(asked, system), rel=1e-9)


def test_most_wakes_are_read_back_as_they_were(tmp_path: Path) -> None:
    same = 0
    for number, wake in enumerate(random_wakes(120)):
        (folder := tmp_path / str(number)).mkdir()
        same += not says_why_not(exported(folder, campaign(site={"table": TABLE}, wake=wake), KEY)[1])
    assert same >= 60


def test_rotors_with_their_centre_in_a_top_hat_are_not_written_as_their_overlap(tmp_path: Path) -> None:
    asked = campaign(site={"table": TABLE}, wake={"jensen": {"k": 0.05, "rotor": "centre"}})
    path, _ = exported(tmp_path, asked, KEY)
    assert read_system(path / SYSTEM).data["wake"] == {"jensen": {"k": 0.05, "rotor": "centre"}}


def test_a_growth_of_unusual_size_is_not_read(tmp_path: Path) -> None:
    wake = {"jensen": {"k": 0.2}}
    path, notes = exported(tmp_path, campaign(site={"table": TABLE}, wake=wake), KEY)
    assert says_why_not(notes)
    (missing,) = read_system(path / SYSTEM, check_schema=False).notes.missing
    assert missing.field == "wake"
    assert "is k = 0.2 I, which jensen does not have" in missing.message


def turned(**changed: Any) -> Campaign:
    sectors = [
        {"direction": 30 * i, "a": 8 + 0.2 * i, "k": 2.0, "frequency": (1 + i) / 78} for i in range(12)
    ]
    weibull = {"turbulence_intensity": 0.08, "sectors": sectors, "direction_step": 5}
    return campaign(site={"weibull": weibull, "grid_convergence_deg": 1.7}, **changed)


def test_a_turned_weibull_rose_is_written_with_probabilities_that_sum_to_1(tmp_path: Path) -> None:
    turbines = campaign().to_data()["turbines"]
    turbines[0]["table"]["power_kw"][0] = 0.0
    asked = turned(turbines=turbines)
    path, notes = exported(tmp_path, asked, KEY)
    assert any("have 0.9" in note and "the rest is written as calm, 0 m/s" in note for note in notes)
    system = read_system(path / SYSTEM)
    states = system.data["site"]["states"]
    assert sum(states["probability"]) == pytest.approx(1.0, rel=1e-12)
    assert energy(Campaign.from_data(system.data), system) == pytest.approx(energy(asked, system), rel=1e-9)


def test_no_calm_is_written_for_turbines_that_give_power_in_it(tmp_path: Path) -> None:
    _, notes = exported(tmp_path, turned(), KEY)
    assert any("some tools refuse a sum that is not 1" in note and "calm" not in note for note in notes)


def test_a_cubic_power_curve_is_said_to_be_written_in_steps(tmp_path: Path) -> None:
    _, notes = exported(tmp_path, campaign(site={"table": TABLE}), "farm1_t1_s7")
    assert any("the power of 'cubic' is written in steps of 0.01 m/s" in note for note in notes)


@pytest.mark.parametrize("name", [None, "x" * 110])
def test_the_command_reads_a_system_that_it_exported(name: str | None, tmp_path: Path) -> None:
    asked = campaign(site={"table": TABLE}, **({} if name is None else {"name": name}))
    out = database(tmp_path / "layouts.h5", asked)
    where = f"key == '{KEY}'"
    done = vindeby(tmp_path, "export", str(out), "--to", "windio", "--where", where)
    assert done.returncode == 0, done.stderr
    assert "k_a 0 and k_b 0.04 for readers of k = k_a I + k_b" in done.stderr
    checked = vindeby(tmp_path, "init", "--from", f"layouts.windio/{SYSTEM}", "c.yaml")
    assert checked.returncode == 0, checked.stderr
    assert (
        "wake expansion k = 0.04: k_a 0 and k_b 0.04 are read as k = k_a I + k_b, by their sizes"
        in checked.stderr
    )
