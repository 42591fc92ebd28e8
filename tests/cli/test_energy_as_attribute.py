"""An energy that a script stored as an attribute is an energy for every command, or for none."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.campaign.examples import small
from tests.command import vindeby
from tests.store.examples import publish
from vindeby.assembly.physics import CampaignCheck
from vindeby.campaign import Campaign
from vindeby.interop.adopt import adopt
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.merge.merge import merge
from vindeby.store.read.database import Database

pytestmark = pytest.mark.slow

LAYOUT = np.stack([100.0 + 1000.0 * np.arange(4), np.full(4, 500.0)])


def worker_file(path: Path, energy_gwh: float = 300.0) -> None:
    """Eight results, of which four have their energy in a dataset, three in an attribute, one in a list of one."""
    path.parent.mkdir()
    with h5py.File(path, "w") as file:
        for seed in range(8):
            group = file.create_group(f"farm0_t0_s{seed}")
            group["layout"] = LAYOUT
            group.attrs.update(farm_idx=0, type_idx=0, ss_seed=seed, n_turbines=4, diameter=130.0)
            if seed < 4:
                group["aep"] = energy_gwh
            else:
                group.attrs["aep"] = energy_gwh if seed < 7 else np.array([energy_gwh])


def seen(folder: Path, name: str) -> dict[str, int]:
    """How many results have an energy, and how many are done, by every command that says so."""
    monitored = json.loads(vindeby(folder, "monitor", name, "--json").stdout)
    assert (monitored["expected"], monitored["missing"]) == (None, None)
    validated = json.loads(vindeby(folder, "validate", name, "--json").stdout)
    return {
        "query": len(json.loads(vindeby(folder, "query", name, "aep > 0", "--json").stdout)),
        "validate": 8 - len(validated["issues"]),
        "monitor": monitored["done"],
        "monitor again": json.loads(vindeby(folder, "monitor", name, "--json").stdout)["done"],
    }


def test_every_command_sees_the_same_energies(tmp_path: Path) -> None:
    worker_file(tmp_path / "workers" / "worker.h5")
    saved = vindeby(tmp_path, "salvage", "workers", "-o", "out.h5")
    assert saved.returncode == 0
    for name in ("out.h5", "workers/worker.h5"):
        assert set(seen(tmp_path, name).values()) == {8}
    with Database(tmp_path / "out.h5") as database:
        assert all(float(record.arrays["aep"]) == 300.0 for record in database.values())


def test_an_attribute_in_a_record_of_vindeby_is_an_energy_for_none(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5")
    numbers = {"farm_idx": 0, "type_idx": 0, "n_turbines": 4}
    for seed in range(8):
        has = {"aep": np.array(300.0)} if seed < 4 else {}
        said = {**numbers, "ss_seed": seed, **({} if has else {"aep": 300.0})}
        publish(run, [Record(f"farm0_t0_s{seed}", "", {"layout": LAYOUT, **has}, said)])
    merge(run.output)
    assert set(seen(tmp_path, "out.h5").values()) == {4}


def test_adopt_takes_the_energy_of_an_attribute(tmp_path: Path) -> None:
    data = small()
    data.update(farms=data["farms"][:1], turbines=data["turbines"][:1], method="random-start", seeds=8)
    campaign = Campaign.from_data(data)
    (cell,) = campaign.cells()
    spacing_m = 1.01 * campaign.tasks()[0].spacing_m
    steps = spacing_m * np.arange(cell.n_turbines)
    layout = np.stack([100.0 + steps % 3500.0, 100.0 + spacing_m * (steps // 3500.0)])
    energy = CampaignCheck(campaign).energy_gwh(Record("farm0_t0_s0", "", {"layout": layout}))
    assert energy is not None
    with h5py.File(tmp_path / "worker.h5", "w") as file:
        for seed in range(8):
            group = file.create_group(f"farm0_t0_s{seed}")
            group["layout"] = layout
            group.attrs.update(farm_idx=0, type_idx=0, ss_seed=seed, aep=energy)
    report = adopt([tmp_path / "worker.h5"], tmp_path / "out.h5", campaign)
    assert (report.adopted, report.changed) == (8, {}), str(report)
