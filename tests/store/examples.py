"""Records to store, foreign files to read, and ways to damage them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.door import Rescue
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of
from vindeby.store.format.shard import Receipt, ShardWriter
from vindeby.store.merge.audit import MergeReport
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.read.reading import Reading, read_any

NAMING = "farm{farm_idx}_t{type_idx}_s{ss_seed}"


def record(
    seed: int, turbines: int = 5, *, farm: int = 0, shift: float = 0.0, seconds: float = 1.5
) -> Record:
    """A record such as a campaign makes; equal arguments give an equal record."""
    generator = np.random.default_rng([seed, turbines, farm])
    return Record(
        f"farm{farm}_t1_s{seed}",
        f"{seed:064x}",
        {"layout": generator.uniform(0, 1e4, (2, turbines)) + shift, "aep": np.array(100.0 + seed)},
        {
            "farm_idx": farm,
            "type_idx": 1,
            "ss_seed": seed,
            "n_turbines": turbines,
            "diameter": 126.5,
            "seconds": seconds,
            "engine": "vindeby",
            "farm": "Thor øst",
            "converged": seed % 2 == 0,
        },
    )


def records(count: int, start: int = 0) -> list[Record]:
    """Records of several schemas."""
    return [record(seed, 4 + seed % 3) for seed in range(start, start + count)]


def publish(run: RunDirectory, batch: list[Record]) -> Receipt:
    return ShardWriter(run.create()).publish(batch)


def contents(path: Path) -> dict[str, Record]:
    with Database(path) as database:
        return dict(database)


def rescued(path: Path, guard: Guard, naming: str = NAMING) -> tuple[Reading, dict[str, Record]]:
    """What a salvage finds in one file, and the records."""
    reading = read_any(path, guard, rescue=Rescue(naming))
    return reading, reading.records()


def sums(batch: list[Record]) -> dict[str, str]:
    return {one.key: checksum_of(one) for one in batch}


def foreign_file(path: Path, seeds: range, *, libver: Any = None, aep: float = 100.0) -> None:
    """A worker file as an older script leaves it: no marks, no checksums, an ``init`` dataset."""
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset("init", data=0)
        for seed in seeds:
            group = file.create_group(f"farm0_t1_s{seed}")
            group.create_dataset("layout", data=np.arange(132.0).reshape(2, 66) + seed)
            group.create_dataset("aep", data=aep)
            group.attrs.update(farm_idx=0, type_idx=1, ss_seed=seed, n_turbines=66, diameter=150.0)


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def merge_keeping_shards(run: RunDirectory, options: MergeOptions | None = None) -> MergeReport:
    """Merge, and leave the shards as a merge does that is killed before it deletes them."""
    kept = run.path / "kept"
    shutil.copytree(run.shards, kept)
    try:
        return merge(run, options)
    finally:
        shutil.copytree(kept, run.shards, dirs_exist_ok=True)
        shutil.rmtree(kept)
