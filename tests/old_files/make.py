"""Writes the files of this format version that later versions of vindeby must read: ``python -m tests.old_files.make``.

Run it once when the format version is raised, into a folder of the new version's number, and never again for
an old one.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import segments_of
from vindeby.store.format.seal import FORMAT_VERSION
from vindeby.store.format.shard import ShardWriter, shard_bytes
from vindeby.store.merge.merge import MergeOptions, merge

FOLDER = Path(__file__).parent / f"version_{FORMAT_VERSION}"
ROOT: dict[str, Attribute] = {
    "campaign": "name: old\n",
    "grid_size": 18,
    "random_pct": 30.0,
    "total_configs": 4,
}


def records() -> list[Record]:
    """The same records for ever: plain arithmetic, no generator that might change."""
    return [
        Record(
            f"farm0_t{count}_s{seed}",
            f"{seed:064x}",
            {"layout": np.arange(2.0 * count).reshape(2, count) * 100 + seed, "aep": np.array(12.5 + seed)},
            {
                "farm_idx": 0,
                "type_idx": count,
                "ss_seed": seed,
                "seconds": 0.25,
                "farm": "Thor øst",
                "ok": True,
            },
        )
        for count in (2, 3)
        for seed in (0, 1)
    ]


def various() -> list[Record]:
    """Records of every type and of odd shapes: no fingerprint, empty texts and arrays, names outside ASCII."""
    arrays = {
        "layout": np.arange(6.0).reshape(2, 3),
        "none": np.zeros((2, 0)),
        "small": np.arange(4, dtype=np.int8),
        "single": np.array(1.5, np.float32),
        "flags": np.array([True, False]),
        "größe": np.array([1, 2**63 - 1], np.uint64),
    }
    attributes: dict[str, Attribute] = {"empty": "", "name": "Ærø\nøst", "ünit": -(2**63), "ok": False}
    return [
        Record("no_fingerprint", "", arrays, attributes),
        Record("no_attributes", "f" * 64, {"aep": np.array(2.5)}),
        Record("nøgle", "", {"aep": np.array([[3.5]])}, {"long": "x" * 5000, "number": float("inf")}),
    ]


def make(path: Path, batch: list[Record], file_format: str) -> None:
    """A database with these records, without its run directory."""
    run = RunDirectory(path)
    ShardWriter(run.create()).publish(batch)
    merge(run.output, MergeOptions(file_format=file_format, root=ROOT))
    shutil.rmtree(run.path)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "records.shard").write_bytes(shard_bytes(segments_of(records())))
    for file_format in ("classic", "table"):
        make(FOLDER / f"{file_format}.h5", records(), file_format)
        make(FOLDER / f"various_{file_format}.h5", various(), file_format)
        # A database that another program copied: what was sealed is gone, what HDF5 does not see is lost.
        subprocess.run(
            ["h5repack", FOLDER / f"{file_format}.h5", FOLDER / f"repacked_{file_format}.h5"], check=True
        )


if __name__ == "__main__":
    main()
