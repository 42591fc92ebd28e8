"""Adoption of folders with what no script meant to leave: numbers that are none, links that lead nowhere."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.campaign.examples import small
from vindeby.campaign import Campaign
from vindeby.interop.adopt import adopt
from vindeby.store.disk.run_directory import RunDirectory

adopting: Any = importlib.import_module("vindeby.interop.adopt.adopt")


@pytest.fixture
def one_farm() -> Campaign:
    data = small()
    data.update(farms=data["farms"][:1], turbines=data["turbines"][:1], method="random-start", seeds=2)
    return Campaign.from_data(data)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 0.5, -1.0, "one"])
def test_attributes_that_are_no_numbers_of_a_configuration_are_said(
    tmp_path: Path, one_farm: Campaign, number: float | str
) -> None:
    with h5py.File(tmp_path / "worker.h5", "w") as file:
        group = file.create_group("a result")
        group.create_dataset("layout", data=np.arange(8.0).reshape(2, 4))
        group.attrs.update(farm_idx=number, type_idx=0, ss_seed=0)
    report = adopt([tmp_path / "worker.h5"], tmp_path / "o.h5", one_farm)
    assert [one.reason for one in report.left_out] == [
        "neither its name nor its attributes say which configuration it is of"
    ]


def test_a_link_that_leads_to_itself_is_said_and_does_not_stop_the_adoption(
    tmp_path: Path, one_farm: Campaign
) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    (folder / "a.h5").symlink_to("a.h5")
    (folder / "b.h5").symlink_to("nowhere")
    (folder / "c.h5").touch()
    report = adopt([folder], tmp_path / "o.h5", one_farm)
    assert [Path(one.path).name for one in report.files] == ["a.h5", "b.h5", "c.h5"]
    assert all(one.findings for one in report.files)


def worker_file(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        group = file.create_group("farm0_t0_s0")
        group.create_dataset("layout", data=np.arange(8.0).reshape(2, 4))
        group.create_dataset("aep", data=1.0)
    return path


@pytest.mark.slow
def test_a_file_that_vanishes_while_it_is_read_does_not_stop_the_adoption(
    tmp_path: Path, one_farm: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [worker_file(tmp_path / name) for name in ("a.h5", "b.h5")]
    read_any = adopting.read_any

    def read_and_lose(path: Path, *more: Any, **others: Any) -> Any:
        reading = read_any(path, *more, **others)
        if path == paths[0]:
            path.unlink()
        return reading

    monkeypatch.setattr(adopting, "read_any", read_and_lose)
    report = adopt(paths, tmp_path / "o.h5", one_farm)
    gone, there = (one for one in report.files if Path(one.path) in paths)
    assert any("it changed while it was read" in finding for finding in gone.findings)
    assert not there.findings


def test_files_are_adopted_once_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    one, other = worker_file(tmp_path / "b.h5"), worker_file(tmp_path / "a.h5")
    linked, soft = tmp_path / "c.h5", tmp_path / "d.h5"
    linked.hardlink_to(one)
    soft.symlink_to(other)
    run = RunDirectory(tmp_path / "o.h5")
    assert adopting.script_files([one, other, one, linked, soft], run) == [one, other]
