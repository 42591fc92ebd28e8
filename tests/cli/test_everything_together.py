"""One campaign with zones, a mix of types, neighbours and local wind, from the command to the next campaign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import vindeby
from vindeby.assembly.physics import physics_checks
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of
from vindeby.campaign.reading.yaml_text import write
from vindeby.results.result_set import ResultSet
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database

pytestmark = pytest.mark.slow


def _type(name: str, rated: float, rotor: float, hub: float) -> dict[str, Any]:
    return {
        "name": name,
        "generic": {"rated_power_mw": rated, "rotor_diameter_m": rotor, "hub_height_m": hub},
    }


def _campaign(**changes: Any) -> dict[str, Any]:
    return {
        "name": "together",
        "farms": [
            {
                "name": "two-zones",
                "zones": [
                    {"name": "west", "n_turbines": 3, "boundary": [[0, 0], [2000, 0], [2000, 2500], [0, 2500]]},
                    {"name": "east", "n_turbines": 2, "boundary": [[2000, 0], [4000, 0], [4000, 2500], [2000, 2500]]},
                ],
                "mix": {"large": 2, "small": 3},
            }
        ],
        "turbines": [_type("small", 4, 120, 90), _type("large", 8, 160, 110)],
        "neighbours": {
            "turbines": [_type("old", 2, 80, 70)],
            "type": "old",
            "positions": [[2000.0, -400.0], [2100.0, 1200.0]],
        },
        "min_spacing": "3 D",
        "site": {
            "weibull": {
                "turbulence_intensity": 0.08,
                "direction_step": 30,
                "wind_speeds": [6, 9, 12],
                "sectors": [{"direction": 0, "a": 9, "k": 2, "frequency": 1}],
            },
            "local": {
                "x": [-500, 4500],
                "y": [-500, 3000],
                "speedup": {"axes": ["x", "y"], "values": [[0.9, 1.0], [1.0, 1.15]]},
            },
        },
        "wake": "bastankhah-2014",
        "method": [{"smart-start": {"grid_size": 12}}, {"random-search": {"max_evaluations": 60}}, "gradient"],
        "seeds": 2,
        **changes,
    }  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("together")
    (folder / "campaign.yaml").write_text(write(_campaign()))
    done = vindeby(folder, "run", "campaign.yaml", "-o", "together.h5", "--workers", "1")
    assert done.returncode == 0, done.stderr
    return folder / "together.h5"


def test_all_results_are_valid_when_computed_again(database: Path) -> None:
    done = vindeby(database.parent, "validate", database.name, "--deep", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    with Database(database) as results:
        for record in results.values():
            assert record.arrays["zone"].tolist() == [0, 0, 0, 1, 1]
            assert sorted(record.arrays["types"].tolist()) == [0, 0, 0, 1, 1]


def test_a_turbine_too_near_to_a_neighbour_would_be_found(database: Path) -> None:
    with Database(database) as results:
        key, record = next(iter(results.items()))
        campaign = results.campaign_text
    assert campaign is not None
    layout = record.arrays["layout"].copy()
    layout[:, 4] = 2100.0, 1000.0
    moved = Record(key, record.fingerprint, {**record.arrays, "layout": layout}, record.attributes)
    said = [text for check in physics_checks(Campaign.loads(campaign)) for text in check(moved)]
    assert any("too near to neighbour 1" in text for text in said)


def test_wake_losses_are_those_of_the_places_and_types(database: Path) -> None:
    losses = ResultSet(database).wake_losses()
    assert np.isfinite(losses).all()
    assert ((losses > 0.0) & (losses < 0.5)).all()


def test_the_best_layout_stands_beside_the_next_campaign_with_its_types(database: Path) -> None:
    beside = {"database": database.name, "farm": "two-zones"}
    farms = [{"name": "next", "boundary": [[6000, 0], [9000, 0], [9000, 2500], [6000, 2500]]}]
    site = _campaign()["site"]
    del site["local"]
    following = _campaign(name="next", farms=farms, neighbours=beside, site=site, n_turbines=3)
    path = database.parent / "next.yaml"
    path.write_text(write(following))
    standing = neighbours_of(Campaign.load(path), 0)
    with Database(database) as results:
        best = max(results.values(), key=lambda record: float(record.arrays["aep"]))
    assert [one.turbine.name for one in standing] == [
        ("small", "large")[kind] for kind in best.arrays["types"]
    ]
    done = vindeby(path.parent, "check", path.name, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_pictures_and_the_report_are_made(database: Path) -> None:
    for words in (
        ("show", database.name, "farm0_t0_s0", "-o", "one.png"),
        ("report", database.name, "-o", "all.html"),
    ):
        done = vindeby(database.parent, *words)
        assert done.returncode == 0, done.stderr
