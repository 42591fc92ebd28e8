"""A campaign on FLORIS: what FLORIS itself gives for a configuration with the campaign's layout, turbines and wind."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from floris import FlorisModel, WindRose

from tests.interop.engine_campaigns import CT, POWER_KW, SPEED, X, Y, campaign, data, turbine
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.reading.source import load
from vindeby.errors import ArgumentError, CampaignError, InputError

pytestmark = pytest.mark.oracle

DIRECTIONS, SPEEDS = [0.0, 90.0, 180.0, 270.0], [0.0, 6.0, 9.0, 12.0]
PROBABILITY = (np.arange(1.0, 17.0).reshape(4, 4) / 136.0).tolist()
TABLE = {
    "turbulence_intensity": 0.06,
    "wind_directions": DIRECTIONS,
    "wind_speeds": SPEEDS,
    "probability": PROBABILITY,
}
START = [{"smart-start": {"grid_size": 4, "random_pct": 0, "wind_speeds": [6.0, 9.0]}}]
SITE = {"site": {"table": TABLE}, "method": START}


def configuration() -> dict[str, Any]:
    """A whole configuration of FLORIS, with a layout, a turbine and a wind of its own."""
    quiet = {"enable": False, "level": "ERROR"}
    return {
        "name": "jensen",
        "description": "a test",
        "floris_version": "v4",
        "logging": {"console": quiet, "file": quiet},
        "solver": {"type": "turbine_grid", "turbine_grid_points": 3},
        "farm": {"layout_x": [0.0, 630.0], "layout_y": [0.0, 0.0], "turbine_type": ["nrel_5MW"]},
        "flow_field": {
            "air_density": 1.225,
            "reference_wind_height": -1,
            "turbulence_intensities": [0.06],
            "wind_directions": [270.0],
            "wind_shear": 0.12,
            "wind_speeds": [8.0],
            "wind_veer": 0.0,
        },
        "wake": {
            "model_strings": {
                "combination_model": "sosfs",
                "deflection_model": "jimenez",
                "turbulence_model": "crespo_hernandez",
                "velocity_model": "jensen",
            },
            "enable_secondary_steering": False,
            "enable_yaw_added_recovery": False,
            "enable_transverse_velocities": False,
            "enable_active_wake_mixing": False,
            "wake_deflection_parameters": {"jimenez": {"ad": 0.0, "bd": 0.0, "kd": 0.05}},
            "wake_velocity_parameters": {"jensen": {"we": 0.05}},
            "wake_turbulence_parameters": {
                "crespo_hernandez": {"initial": 0.1, "constant": 0.5, "ai": 0.8, "downstream": -0.32}
            },
        },
    }


def engine(**more: Any) -> dict[str, Any]:
    return {"floris": {"configuration": configuration()}, **more}


def floris(diameters: list[float]) -> FlorisModel:
    """FLORIS with the turbines and the wind of the campaign, made without vindeby."""
    known = {
        diameter: {
            "turbine_type": f"five {diameter}",
            "hub_height": 90.0,
            "rotor_diameter": diameter,
            "TSR": 8.0,
            "operation_model": "cosine-loss",
            "power_thrust_table": {
                "ref_air_density": 1.225,
                "ref_tilt": 5.0,
                "cosine_loss_exponent_yaw": 1.88,
                "cosine_loss_exponent_tilt": 1.88,
                "wind_speed": [0.0, *SPEED, 50.0],
                "power": [0.0, *POWER_KW, 5000.0],
                "thrust_coefficient": [0.0, *CT, 0.06],
            },
        }
        for diameter in {*diameters}
    }
    given = configuration()
    given["flow_field"]["reference_wind_height"] = 90.0
    given["farm"] = {
        "layout_x": X,
        "layout_y": Y,
        "turbine_type": [known[diameter] for diameter in diameters],
    }
    rose = WindRose(np.array(DIRECTIONS), np.array(SPEEDS[1:]), 0.06, np.array(PROBABILITY)[:, 1:])
    model = FlorisModel(given)
    model.set(wind_data=rose)
    model.run()
    return model


def watts_of(model: FlorisModel) -> Any:
    """(turbines, directions, speeds), with nothing at 0 m/s."""
    return np.concatenate([np.zeros((5, 4, 1)), np.moveaxis(model.get_turbine_powers(), 2, 0)], axis=2)


@pytest.mark.parametrize("mixed", [False, True])
def test_power_and_energy_are_those_of_floris(mixed: bool) -> None:
    types = [0, 1, 0, 1, 0] if mixed else [0] * 5
    more = {
        "turbines": [turbine(), turbine("large", 1.3)],
        "n_turbines": None,
        "mix": {"five": 3, "large": 2},
    }
    given = campaign(engine(), **SITE, **(more if mixed else {}))
    farm = wind_farm(given, [0, 1] if mixed else 0)
    watts = watts_of(floris([126.0, 126.0 * 1.3, 126.0, 126.0 * 1.3, 126.0] if mixed else [126.0]))
    np.testing.assert_allclose(farm.power(X, Y, types), watts, rtol=1e-10)
    expected = float((watts * np.array(PROBABILITY)).sum()) * 8760e-9
    assert farm.aep(X, Y, types) == pytest.approx(expected, rel=1e-10)


def test_options_replace_single_values_of_the_configuration() -> None:
    flat = {"solver": {"turbine_grid_points": 1}, "flow_field": {"wind_shear": 0.0}}
    farm = wind_farm(campaign(engine(options=flat), **SITE), 0)
    far_x, far_y = [0.0, 1e6], [0.0, 3e5]
    assert farm.aep(far_x, far_y) == pytest.approx(farm.free_aep_at(far_x, far_y), rel=1e-9)
    assert farm.aep(X, Y) < 0.999 * wind_farm(campaign(engine(), **SITE), 0).free_aep_at(X, Y)


def test_layout_turbines_and_wind_of_the_configuration_have_no_influence() -> None:
    other = copy.deepcopy(configuration())
    other["farm"]["layout_x"], other["name"] = [1.0, 2.0], "another"
    other["flow_field"]["wind_speeds"], other["logging"]["console"]["enable"] = [9.0], True
    wider = copy.deepcopy(configuration())
    wider["wake"]["wake_velocity_parameters"]["jensen"]["we"] = 0.07
    prints = [
        campaign({"floris": {"configuration": one}}, **SITE).tasks()[0].fingerprint
        for one in (configuration(), other, wider)
    ]
    assert prints[0] == prints[1] != prints[2]


def test_a_campaign_file_names_a_file_and_keeps_its_content(tmp_path: Path) -> None:
    (tmp_path / "jensen.yaml").write_text(yaml.safe_dump(configuration()))
    (tmp_path / "campaign.yaml").write_text(yaml.safe_dump(data({"floris": "jensen.yaml"}, **SITE)))
    loaded = Campaign.load(tmp_path / "campaign.yaml")
    assert loaded.fingerprints() == campaign(engine(), **SITE).fingerprints()
    assert Campaign.loads(loaded.dumps()).fingerprints() == loaded.fingerprints()
    assert loaded.wake.title == "floris jensen"


def test_a_smart_start_and_a_random_search_work_with_floris() -> None:
    given = campaign(
        engine(), **{**SITE, "method": [*START, {"random-search": {"max_evaluations": 5}}]}, n_turbines=2
    )
    problem = problem_of(given, given.cells()[0])
    start = pipeline_of(given).steps[0].run(problem, 0)
    found = pipeline_of(given).run(problem, 0)
    assert problem.is_feasible(found.layout)
    assert found.aep_gwh >= start.aep_gwh
    # The second turbine stands where FLORIS' own flow is fastest, weighed with the power curve.
    model = floris([126.0])
    model.set(layout_x=start.x[:1], layout_y=start.y[:1])
    side = np.linspace(0.0, 2000.0, 4)
    px, py = (part.ravel() for part in np.meshgrid(side, side))
    speed = model.sample_flow_at_points(px, py, np.full(16, 90.0)).reshape(4, 3, 16)[:, :2]
    weights = np.array(PROBABILITY)[:, 1:3]
    worth = (np.interp(speed, SPEED, POWER_KW) * weights[:, :, None]).sum(axis=(0, 1))
    worth[(px == start.x[0]) & (py == start.y[0])] = 0.0
    chosen = worth[(px == start.x[1]) & (py == start.y[1])]
    assert chosen[0] == pytest.approx(worth.max(), rel=1e-9)


def test_methods_with_gradients_are_refused_when_the_campaign_is_read() -> None:
    with pytest.raises(CampaignError, match=r"floris jensen does not have.*; use random-search or annealing"):
        campaign(engine(), **{**SITE, "method": ["random-start", "gradient"]})
    with pytest.raises(ArgumentError, match="no gradient; use random-search"):
        wind_farm(campaign(engine(), **SITE), 0).aep_and_gradient(X, Y)


def broken(change: Any) -> dict[str, Any]:
    given = configuration()
    change(given)
    return given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (broken(lambda it: it.pop("wake")), "wake is missing: this is not a FLORIS 4 configuration"),
        (broken(lambda it: it.update(solver=3)), "solver is missing"),
        (
            broken(
                lambda it: (
                    it.update(floris_version="v3.4") or it["flow_field"].update(turbulence_intensity=0.1)
                )
            ),
            "is not version 4",
        ),
        (
            broken(lambda it: it.update(floris_version=3.0) or it["wake"].pop("enable_active_wake_mixing")),
            "is not version 4",
        ),
        (broken(lambda it: it["flow_field"].update(wind_shear=float("nan"))), "configuration"),
        ([1, 2], "configuration"),
    ],
)
def test_what_is_no_configuration_is_refused(given: Any, words: str) -> None:
    with pytest.raises(CampaignError, match=words):
        campaign({"floris": {"configuration": given}}, **SITE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]\n", r"wake\.floris: is not a FLORIS configuration: it must be a mapping"),
        ("farm: !include turbine.yaml\n", "jensen.yaml:1"),
        ("a: 1\na: 2\n", "jensen.yaml:2"),
        (None, "no such file"),
    ],
)
def test_files_that_are_no_configurations_are_refused(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "jensen.yaml").write_text(text)
    (tmp_path / "campaign.yaml").write_text(yaml.safe_dump(data({"floris": "jensen.yaml"}, **SITE)))
    with pytest.raises(CampaignError, match=words):
        Campaign.load(tmp_path / "campaign.yaml")


def test_a_configuration_is_judged_by_its_content_and_turbines_may_be_included(tmp_path: Path) -> None:
    for label in ("v3.0.0", 3.0):
        given = broken(lambda it, label=label: it.update(floris_version=label))
        text = yaml.safe_dump(given).replace("- nrel_5MW", "- !include five.yaml")
        assert "!include" in text
        (tmp_path / "jensen.yaml").write_text(text)
        (tmp_path / "campaign.yaml").write_text(yaml.safe_dump(data({"floris": "jensen.yaml"}, **SITE)))
        document = load(tmp_path / "campaign.yaml")
        found = wind_farm(Campaign.from_document(document), 0).aep(X, Y)
        assert found == wind_farm(campaign(engine(), **SITE), 0).aep(X, Y)
    (tmp_path / "jensen.yaml").write_text(text.replace("sosfs", "!include sosfs.yaml"))
    with pytest.raises(CampaignError, match=r"jensen.yaml:\d+: .*combination_model"):
        Campaign.load(tmp_path / "campaign.yaml")


def test_what_floris_cannot_do_is_refused() -> None:
    local = {"x": [0.0, 2000.0], "y": [0.0, 2000.0], "speedup": 1.1}
    with pytest.raises(CampaignError, match="only for wind that is the same all over the farm"):
        campaign(engine(), **{**SITE, "site": {"table": TABLE, "local": local}})
    unknown = broken(lambda it: it["wake"]["model_strings"].update(velocity_model="no such"))
    with pytest.raises(InputError, match="FLORIS does not take the configuration"):
        wind_farm(campaign({"floris": {"configuration": unknown}}, **SITE), 0)
    higher = turbine("high")
    higher["table"]["hub_height_m"] = 120.0
    with pytest.raises(InputError, match="hubs, but these are 90, 120 m high"):
        wind_farm(campaign(engine(), **SITE, turbines=[turbine(), higher]), [0, 1])
