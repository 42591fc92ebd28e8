"""A file from a stranger reads no other file, and costs no more than its size allows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.store.examples import NAMING, foreign_file, rescued
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.finding import Verdict
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.salvage import salvage

pytestmark = pytest.mark.slow

SECRET = b"0123456789abcdef" * 8


@pytest.fixture
def guard() -> Iterator[Guard]:
    with Guard(ReadLimits(silence_s=20)) as shared:
        yield shared


def add(file: h5py.File, name: str) -> h5py.Group:
    group = file.create_group(name)
    group["aep"] = 100.0
    group.attrs.update(farm_idx=0, type_idx=1, ss_seed=7, n_turbines=66, diameter=150.0)
    return group


def hostile_file(path: Path) -> dict[str, str]:
    """Three good records, and every way to lead a reader to another file; what a link out of it is refused for."""
    folder = path.parent
    (folder / "secret").write_bytes(SECRET)
    os.mkfifo(folder / "pipe")
    foreign_file(folder / "other.h5", range(50, 51))
    foreign_file(path, range(3))
    secret, pipe, other = (str(folder / name) for name in ("secret", "pipe", "other.h5"))
    source = h5py.VirtualSource(other, "farm0_t1_s50/layout", (2, 66))
    virtual = h5py.VirtualLayout((2, 66), "f8")
    virtual[...] = source
    endless = h5py.VirtualLayout((2, 66), "f8", maxshape=(2, None))
    endless[:, : h5py.h5s.UNLIMITED] = h5py.VirtualSource(pipe, "x", (2, 66), maxshape=(2, None))[
        :, : h5py.h5s.UNLIMITED
    ]
    with h5py.File(path, "a", libver=("v110", "v110")) as file:
        for name, target in (("storage", secret), ("storage_pipe", pipe)):
            add(file, name).create_dataset("layout", (2, 8), "f8", external=[(target, 0, 128)])
        add(file, "virtual").create_virtual_dataset("layout", virtual)
        add(file, "virtual_pipe").create_virtual_dataset("layout", endless)
        file["link"] = h5py.ExternalLink(other, "farm0_t1_s50")
        file["link_pipe"] = h5py.ExternalLink(pipe, "x")
        add(file, "inner_link")["layout"] = h5py.ExternalLink(pipe, "x")
        file["soft"] = h5py.SoftLink("/link")
        file["soft_through"] = h5py.SoftLink("/link_pipe/x/y")
        file["circle"] = h5py.SoftLink("/circle")
        file.create_dataset("plain", (2, 8), "f8", external=[(secret, 0, 128)])
    return {
        "storage": "layout has its data in",
        "storage_pipe": "layout has its data in",
        "virtual": "layout is a virtual dataset",
        "virtual_pipe": "layout is a virtual dataset",
        "link": "link is an external link to",
        "link_pipe": "link_pipe is an external link to",
        "inner_link": "layout is an external link to",
        "soft": "",
        "soft_through": "",
        "plain": "plain has its data in",
    }


def test_whatever_leads_to_another_file_is_refused_by_name_and_the_rest_is_saved(
    guard: Guard, tmp_path: Path
) -> None:
    path = tmp_path / "a.h5"
    refused = hostile_file(path)
    reading = read_any(path, guard)
    said = {one.key: one for one in reading.findings}
    for name, reason in refused.items():
        if reason:
            assert said[name].verdict is Verdict.ELSEWHERE, said[name]
            assert said[name].detail.startswith(reason)
    assert said["circle"].verdict is Verdict.INCOMPLETE
    assert said.keys() == {*refused, "circle"}
    assert {key.decode() for one in reading.segments for key in one.rows["key"]} == {
        f"farm0_t1_s{seed}" for seed in range(3)
    }


def test_salvage_and_open_refuse_them_too(guard: Guard, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    refused = hostile_file(path)
    with Database(path, guard) as database:
        assert set(database) == {f"farm0_t1_s{seed}" for seed in range(3)}
    report = salvage([path], tmp_path / "new.h5", naming=NAMING)
    assert report.records == 3
    assert {*refused} <= {one.key for one in report.files[0].findings}
    assert SECRET not in (tmp_path / "new.h5").read_bytes()


def test_nor_do_links_inside_a_table_lead_out(guard: Guard, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with h5py.File(tmp_path / "table.h5", "w") as file:
        file.attrs["schemas"] = '[{"arrays":[["x","<f8",[]]],"attributes":[]}]'
        for link in ("key", "schema", "arrays"):
            file[link] = h5py.ExternalLink(str(tmp_path / "pipe"), "x")
    reading = read_any(tmp_path / "table.h5", guard)
    assert [one.verdict for one in reading.findings] == [Verdict.ELSEWHERE]


def test_a_soft_link_that_stays_in_the_file_is_followed(guard: Guard, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        add(file, "data/inner")["layout"] = np.zeros((2, 66))
        file["farm0_t1_s7"] = h5py.SoftLink("/data/inner")
    reading = read_any(path, guard)
    assert [key for one in reading.segments for key in one.rows["key"].tolist()] == [b"farm0_t1_s7"]


@pytest.mark.parametrize("same", [True, False])
def test_a_file_cannot_give_results_without_end(same: bool, tmp_path: Path) -> None:
    path = tmp_path / "bomb.h5"
    with h5py.File(path, "w") as file:
        for number in range(40):
            if same and number:
                file[f"farm0_t1_s{number}"] = file["farm0_t1_s0"]
            else:
                group = file.create_group(f"farm0_t1_s{number}")
                group.create_dataset(
                    "layout", data=np.zeros((2, 1 << 16)), compression="gzip", chunks=(2, 1 << 14)
                )
    assert path.stat().st_size < 1 << 20
    with Guard(ReadLimits(kept_bytes=4 << 20, batch_bytes=1 << 20)) as guard:
        reading = read_any(path, guard)
        saved, _ = rescued(path, guard)
    for one in (reading, saved):
        assert 0 < sum(segment.rows.nbytes for segment in one.segments) <= 4 << 20
        assert "gives more than 4194304 bytes of results" in one.findings[0].detail


class CountingGuard(Guard):
    calls = 0

    def call(self, task: str, **arguments: Any) -> Iterator[tuple[bytes, bytes]]:
        self.calls += 1
        return super().call(task, **arguments)


@pytest.mark.parametrize("libver", [None, "latest"])
def test_empty_groups_are_read_once_and_listed_up_to_a_number(libver: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    foreign_file(path, range(2), libver=libver)
    with h5py.File(path, "a", libver=libver) as file:
        for number in range(2000):
            file.create_group(f"empty{number}")
    with CountingGuard(ReadLimits(most_findings=100)) as guard:
        saved, records = rescued(path, guard)
    assert len(records) == 2
    assert guard.calls == 1
    assert len(saved.findings) == 101
    assert saved.findings[-1].detail == "1900 more findings are not listed"


def test_a_file_that_takes_too_long_for_its_size_is_given_up(tmp_path: Path) -> None:
    foreign_file(tmp_path / "a.h5", range(40))
    with Guard(ReadLimits(least_seconds=-1.0, seconds_per_mb=0.0)) as guard:
        reading = read_any(tmp_path / "a.h5", guard)
        assert [str(one) for one in reading.findings] == [
            "the HDF5 library did not come back from it: it takes too long for its size"
        ]


def test_the_search_group_by_group_has_one_time_limit_for_all_groups(tmp_path: Path) -> None:
    """Each group takes long for few bytes: all hold the same dataset, with a chunk for each of its numbers."""
    path = tmp_path / "slow.h5"
    with h5py.File(path, "w") as file:
        slow = file.create_dataset("base", (2, 5000), "i1", chunks=(1, 1))
        slow[...] = 1
        for number in range(60):
            group = file.create_group(f"farm0_t0_s{number}")
            group["layout"] = slow
            group.attrs.update(checksum="0" * 64, farm_idx=0, type_idx=0, ss_seed=number)
    with CountingGuard(ReadLimits(least_seconds=0.2, seconds_per_mb=0.0)) as guard:
        list(guard.call("gridded", path="none", wanted=[]))
        saved, _ = rescued(path, guard)
    found = [str(one) for one in saved.findings]
    assert any(one.endswith("it takes too long for its size") for one in found), found
    assert "incomplete record: the search group by group ended: it takes too long for its size" in found
    assert guard.calls < 60
