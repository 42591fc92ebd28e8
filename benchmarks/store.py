"""The store against what people use: ``python benchmarks/store.py [--records N] [--million]``.

Prints ratios measured side by side in one run, the best of several rounds each: publishing durably against
plain h5py appends (not durable) and SQLite (WAL, synchronous=FULL); merging against a loop of H5Ocopy over the
same data; system calls and bytes of a publish; and, with --million, a million records from 8 processes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np

from vindeby.store.disk.files import Files
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.states import Known, missing_tasks
from vindeby.store.validate import validate

TURBINES = 66
BATCH = 500
ROUNDS = 3


def record(number: int) -> Record:
    generator = np.random.default_rng(number)
    return Record(
        f"farm{number % 10}_t{number % 6}_s{number}",
        f"{number:064x}",
        {"layout": generator.uniform(0, 3e4, (2, TURBINES)), "aep": np.array(5000.0 + number)},
        {
            "farm_idx": number % 10,
            "type_idx": number % 6,
            "ss_seed": number,
            "n_turbines": TURBINES,
            "diameter": 240.0,
            "seconds": 0.125,
            "engine": "vindeby",
            "version": "0.1.0",
            "farm": f"tender-{number % 10}",
            "turbine": f"type-{number % 6}",
        },
    )


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def classic_append(path: Path, batch: list[Record]) -> None:
    """What a script does: open, make groups, close. Nothing is forced to the disk."""
    with h5py.File(path, "a") as file:
        for one in batch:
            group = file.create_group(one.key)
            for name, value in one.arrays.items():
                group.create_dataset(name, data=value)
            for name, text in {**one.attributes, "status": "success", "checksum": "0" * 64}.items():
                group.attrs[name] = text
            group.attrs["fingerprint"] = one.fingerprint


def sqlite_insert(path: Path, batches: list[list[Record]]) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, fingerprint TEXT, data BLOB)"
    )
    for batch in batches:
        rows = [(one.key, one.fingerprint, pickle.dumps((one.arrays, one.attributes))) for one in batch]
        with connection:
            connection.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
    connection.close()


class Counting(Files):
    """Counts what a publish asks of the disk."""

    fsyncs = directories = renames = size = 0

    def write(self, descriptor: int, data: memoryview) -> int:
        done = super().write(descriptor, data)
        self.size += done
        return done

    def fsync(self, descriptor: int) -> None:
        self.fsyncs += 1
        super().fsync(descriptor)

    def fsync_directory(self, path: Path) -> None:
        self.directories += 1
        super().fsync_directory(path)

    def rename(self, source: Path, target: Path) -> None:
        self.renames += 1
        super().rename(source, target)


def publishers(folder: Path, batches: list[list[Record]]) -> dict[str, Callable[[], object]]:
    """The same batches, three ways, each into an empty folder."""
    writer = ShardWriter(RunDirectory(fresh(folder / "v") / "out.h5").create())
    appended, database = fresh(folder / "h") / "a.h5", fresh(folder / "s") / "a.db"
    return {
        "vindeby (durable)": lambda: [writer.publish(part) for part in batches],
        "h5py append (not durable)": lambda: [classic_append(appended, part) for part in batches],
        "SQLite WAL, FULL (durable)": lambda: sqlite_insert(database, batches),
    }


def bench_publish(folder: Path, count: int) -> None:
    print(f"\npublishing {count} records of (2, {TURBINES}), one process, records a second:")
    batch = [record(number) for number in range(count)]
    for size in (1, 10, 100, BATCH):
        some = batch[: min(count, size * 40)]
        batches = [some[start : start + size] for start in range(0, len(some), size)]
        best = dict.fromkeys(publishers(folder, []), float("inf"))
        for _ in range(ROUNDS):
            for name, work in publishers(folder, batches).items():
                best[name] = min(best[name], timed(work))
        rates = ", ".join(f"{name} {len(some) / seconds:,.0f}" for name, seconds in best.items())
        print(f"  {size:4d} a batch: {rates}")
    files = Counting()
    writer = ShardWriter(RunDirectory(fresh(folder / "v") / "out.h5").create(), files=files)
    writer.publish(batch[:BATCH])
    raw = sum(sum(value.nbytes for value in one.arrays.values()) for one in batch[:BATCH])
    print(
        f"  a first batch of {min(count, BATCH)}: {files.fsyncs} fsync of the file, {files.directories} of "
        f"directories, {files.renames} rename, {files.size} bytes for {raw} bytes of arrays"
    )


def bench_merge(folder: Path, count: int) -> None:
    print(f"\nmerging {count} records, best of {ROUNDS}, against an H5Ocopy loop over the same data:")
    run = RunDirectory(fresh(folder / "m") / "out.h5").create()
    writer = ShardWriter(run)
    workers = fresh(folder / "w")
    for start in range(0, count, BATCH):
        batch = [record(number) for number in range(start, min(count, start + BATCH))]
        writer.publish(batch)
        classic_append(workers / f"worker_{start // BATCH % 32}.h5", batch)
    works: dict[str, Callable[[], object]] = {"H5Ocopy loop": lambda: copy_loop(workers, folder / "loop.h5")}
    for file_format in ("classic", "table"):
        works[file_format] = partial(merge, run.output, MergeOptions(file_format=file_format))
    kept = run.shards.rename(run.path / "kept")
    wall, processor = dict.fromkeys(works, float("inf")), dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            run.output.unlink(missing_ok=True)
            shutil.copytree(kept, run.shards, copy_function=os.link, dirs_exist_ok=True)
            start = time.process_time()
            wall[name] = min(wall[name], timed(work))
            processor[name] = min(processor[name], time.process_time() - start)
    for name in works:
        print(
            f"  {name:12s} {wall[name]:7.2f} s, {wall[name] / count * 1e6:6.1f} us a record, "
            f"{wall['H5Ocopy loop'] / wall[name]:6.2f} x faster; processor {processor[name]:7.2f} s, "
            f"{processor[name] / count * 1e6:6.1f} us a record, "
            f"{processor['H5Ocopy loop'] / processor[name]:6.2f} x less"
        )


def copy_loop(workers: Path, target: Path) -> None:
    """The merge of a script: no check, no fsync."""
    target.unlink(missing_ok=True)
    with h5py.File(target, "w") as merged:
        for path in sorted(workers.iterdir()):
            with h5py.File(path, "r") as file:
                for name in file:
                    file.copy(name, merged)


def publish_share(arguments: tuple[str, int, int]) -> None:
    output, start, stop = arguments
    writer = ShardWriter(RunDirectory(Path(output)))
    generator = np.random.default_rng(start)
    for at in range(start, stop, BATCH):
        batch = []
        layouts = generator.uniform(0, 3e4, (BATCH, 2, TURBINES))
        for number in range(at, min(stop, at + BATCH)):
            one = record(0)
            attributes = {**one.attributes, "ss_seed": number}
            arrays = {"layout": layouts[number - at], "aep": np.array(1.0 + number)}
            batch.append(Record(f"farm0_t0_s{number}", f"{number:064x}", arrays, attributes))
        writer.publish(batch)


def bench_million(folder: Path, count: int) -> None:
    print(f"\n{count} records from 8 processes on {os.cpu_count()} cores:")
    run = RunDirectory(fresh(folder / "x") / "out.h5").create()
    share = -(-count // 8)
    parts = [(str(run.output), at, min(count, at + share)) for at in range(0, count, share)]
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        seconds = timed(lambda: pool.map(publish_share, parts))
    print(f"  publishing {seconds:.0f} s, {count / seconds:,.0f} records a second (making them included)")
    for name in ("merge", "missing", "validate"):
        code = [sys.executable, __file__, "--step", name, str(run.output), str(count)]
        print("  " + subprocess.run(code, check=True, capture_output=True, text=True).stdout.strip())


def step(name: str, output: Path, count: int) -> None:
    """One step in a process of its own, so that its memory is its own."""
    expected = {f"farm0_t0_s{number}": f"{number:064x}" for number in range(count)} if name != "merge" else {}
    if name == "merge":
        seconds = timed(lambda: merge(output, MergeOptions(file_format="table")))
    elif name == "missing":
        seconds = timed(lambda: [missing_tasks(expected, Known.of(Database(output)))])
    else:
        seconds = timed(lambda: validate(output, expected=expected))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}: {seconds:.1f} s, {seconds / count * 1e6:.1f} us a record, at most {memory:.0f} MB of memory"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--million", action="store_true", help="also a million records, which takes minutes")
    parser.add_argument("--only", choices=["publish", "merge", "million"])
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder without it")
    parser.add_argument("--step", nargs=3, metavar=("NAME", "OUT", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step(options.step[0], Path(options.step[1]), int(options.step[2]))
        return
    print(f"h5py {h5py.version.version}, HDF5 {h5py.version.hdf5_version}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        if options.only in {None, "publish"}:
            bench_publish(folder, 2000)
        if options.only in {None, "merge"}:
            bench_merge(folder, options.records)
        if options.million or options.only == "million":
            bench_million(folder, 1_000_000)


if __name__ == "__main__":
    main()
