"""A record that nothing proves to be what vindeby computed keeps a mark, whatever it is merged with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.store.examples import NAMING, contents, foreign_file, publish, record, records, sums
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.origin import in_words
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate


def origins(path: Path) -> dict[str, object]:
    return {key: one.attributes.get("origin") for key, one in contents(path).items()}


def lose_attributes(path: Path, *, root: bool) -> None:
    """What a tool leaves that copies datasets and no attributes."""
    with h5py.File(path, "r+") as file:
        for item in [*file.values(), *([file] if root else [])]:
            for name in list(item.attrs):
                del item.attrs[name]


def test_foreign_records_keep_their_mark_through_merges(run: RunDirectory) -> None:
    foreign_file(run.output, range(3))
    publish(run, records(2, start=10))
    wanted: dict[str, object] = {f"farm0_t1_s{seed}": "foreign" for seed in range(3)}
    wanted |= {f"farm0_t1_s{seed}": None for seed in range(10, 13)}
    merge(run.output)
    publish(run, [record(12)])
    merge(run.output, MergeOptions(file_format="table"))
    merge(run.output, MergeOptions(file_format="classic"))
    assert origins(run.output) == wanted
    with h5py.File(run.output) as file:
        assert file["farm0_t1_s0"].attrs["origin"] == "foreign"
        assert "origin" not in file["farm0_t1_s10"].attrs
    report = validate(run.output)
    assert report.to_json()["origins"] == {"foreign": 3}
    assert "6 results, 3 of unverified origin (foreign)" in report.notes


def test_foreign_records_are_marked_when_another_file_is_merged_in(run: RunDirectory, tmp_path: Path) -> None:
    publish(run, records(2))
    foreign_file(tmp_path / "given.h5", range(5, 7))
    merge(run.output, MergeOptions(extra=[tmp_path / "given.h5"]))
    assert list(filter(None, origins(run.output).values())) == ["foreign"] * 2


@pytest.mark.parametrize("root", [False, True])
def test_records_that_lost_their_checksum_are_foreign(run: RunDirectory, root: bool) -> None:
    publish(run, records(4))
    merge(run.output)
    lose_attributes(run.output, root=root)
    assert set(origins(run.output).values()) == {"foreign"}
    merge(run.output)
    publish(run, [record(4)])
    merge(run.output)
    assert sorted(map(str, origins(run.output).values())) == ["None", *["foreign"] * 4]
    assert validate(run.output).origins == {"foreign": 4}


def test_a_record_that_still_meets_its_checksum_needs_no_mark(run: RunDirectory) -> None:
    publish(run, records(4))
    merge(run.output)
    with h5py.File(run.output, "r+") as file:
        del file["farm0_t1_s2"].attrs["checksum"]
    assert origins(run.output) == {f"farm0_t1_s{seed}": "foreign" if seed == 2 else None for seed in range(4)}


@pytest.mark.skipif(shutil.which("h5repack") is None, reason="h5repack is not installed")
@pytest.mark.parametrize("form", ["classic", "table"])
def test_what_h5repack_loses_is_marked_and_what_it_keeps_is_not(run: RunDirectory, form: str) -> None:
    publish(run, records(4))
    merge(run.output, MergeOptions(file_format=form))
    repacked = run.output.with_name("repacked.h5")
    subprocess.run(["h5repack", str(run.output), str(repacked)], check=True, timeout=60)
    with h5py.File(repacked) as file:
        has = {key: form == "table" or "checksum" in file[key].attrs for key in sums(records(4))}
    repacked.replace(run.output)
    merge(run.output)
    found = contents(run.output)
    assert {key: "origin" not in one.attributes for key, one in found.items()} == has
    assert all(checksum_of(one) == sums(records(4))[key] for key, one in found.items() if has[key])


def test_salvaged_records_are_marked_unless_their_checksum_holds(run: RunDirectory, tmp_path: Path) -> None:
    publish(run, records(3))
    merge(run.output)
    with h5py.File(run.output, "r+") as file:
        file.attrs["cut"] = "the seal"
    folder = tmp_path / "workers"
    folder.mkdir()
    foreign_file(folder / "worker_1.h5", range(20, 22))
    foreign_file(folder / "worker_2.h5", range(30, 50))
    whole = (folder / "worker_2.h5").read_bytes()
    (folder / "worker_2.h5").write_bytes(whole[: len(whole) // 2])
    output = tmp_path / "saved.h5"
    report = salvage([run.output, folder], output, naming=NAMING)
    found = origins(output)
    assert report.records == len(found) > 5
    assert {key for key, origin in found.items() if origin is None} == set(sums(records(3)))
    assert {origin for origin in found.values() if origin} == {"salvaged"}
    merge(output, MergeOptions(file_format="table"))
    assert origins(output) == found


def test_a_foreign_attribute_named_origin_is_kept_beside_the_mark(run: RunDirectory) -> None:
    foreign_file(run.output, range(1))
    with h5py.File(run.output, "r+") as file:
        file["farm0_t1_s0"].attrs["origin"] = "a cluster"
    merge(run.output)
    (one,) = contents(run.output).values()
    assert (one.origin, one.stated_origin) == ("foreign", "a cluster")


def test_a_record_without_a_fingerprint_counts_as_foreign(run: RunDirectory) -> None:
    publish(run, [Record("farm0_t0_s0", "", {"layout": np.ones((2, 3))}), record(1)])
    merge(run.output)
    assert validate(run.output).origins == {"foreign": 1}


def test_origins_are_said_in_words() -> None:
    assert in_words({}) == ""
    assert in_words({"salvaged": 12}) == "12 of unverified origin (salvaged)"
    assert (
        in_words({"salvaged": 2, "foreign": 1200}) == "1,202 of unverified origin (1,200 foreign, 2 salvaged)"
    )
