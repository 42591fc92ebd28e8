"""Salvage works in batches of bytes."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.store.examples import contents, record
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import ReadLimits
from vindeby.store.format.record import Record
from vindeby.store.format.rows import batches, segments_of
from vindeby.store.salvage import salvage

pytestmark = pytest.mark.slow


def large_file(path: Path, count: int, values: int) -> None:
    with h5py.File(path, "w") as file:
        for seed in range(count):
            group = file.create_group(f"farm0_t1_s{seed}")
            group.create_dataset("layout", data=np.arange(2.0 * values).reshape(2, values) + seed)
            group.attrs["ss_seed"] = seed


def test_more_bytes_than_one_shard_holds_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vindeby.store.format.shard.MAXIMUM_SEGMENT", 1 << 20)
    large_file(tmp_path / "a.h5", 40, 4096)  # 2.6 MB in fewer than 1,000 records
    report = salvage([tmp_path / "a.h5"], tmp_path / "new.h5", limits=ReadLimits(batch_bytes=1 << 19))
    assert report.complete
    assert report.records == 40
    found = contents(tmp_path / "new.h5")
    for seed in range(40):
        assert found[f"farm0_t1_s{seed}"].layout[0, 0] == seed


def test_a_batch_counts_the_bytes_that_its_texts_are_padded_to() -> None:
    long = Record("long", "", {"x": np.zeros(1)}, {"text": "t" * 100_000})
    short = [Record(f"s{number}", "", {"x": np.zeros(1)}, {"text": ""}) for number in range(200)]
    made = list(batches([*short[:100], long, *short[100:]], 1 << 20))
    assert [one.key for batch in made for one in batch] == [f"s{n}" for n in range(100)] + ["long"] + [
        f"s{n}" for n in range(100, 200)
    ]
    for batch in made:
        assert sum(segment.rows.nbytes for segment in segments_of(batch)) <= 1 << 20


def test_a_record_larger_than_a_batch_comes_alone() -> None:
    made = list(batches([record(1), record(2, 5000), record(3)], 10_000))
    assert [[one.ss_seed for one in batch] for batch in made] == [[1], [2], [3]]


def test_nothing_of_a_salvage_is_left_beside_its_output(tmp_path: Path) -> None:
    large_file(tmp_path / "a.h5", 3, 10)
    salvage([tmp_path / "a.h5"], tmp_path / "new.h5")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.h5", "new.h5", "new.h5.run"]
    assert RunDirectory(tmp_path / "new.h5").shard_paths() == []
