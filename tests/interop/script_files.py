"""Files as an older script leaves them: one per worker, and perhaps a part of the merged one, broken in every way."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from vindeby.campaign import Campaign
from vindeby.store.format.record import Record


def write_group(
    file: h5py.File, record: Record, *, aep: Any = "stored", layout: Any = None, **attributes: Any
) -> None:
    """A result as such scripts store it; ``aep=None`` leaves it out, a number stands instead of it."""
    group = file.create_group(record.key)
    group.create_dataset("layout", data=record.arrays["layout"] if layout is None else layout)
    if aep is not None:
        group.create_dataset("aep", data=float(record.arrays["aep"]) if aep == "stored" else aep)
    own = ("farm_idx", "type_idx", "ss_seed", "n_turbines", "diameter")
    group.attrs.update({name: record.attributes[name] for name in own} | attributes)


def write_worker(path: Path, records: Iterable[Record], **changes: Any) -> Path:
    """One worker's file: an ``init`` dataset, then each result in a group of its own."""
    with h5py.File(path, "w") as file:
        file.create_dataset("init", data=0)
        for record in records:
            write_group(file, record, **changes)
    return path


def cut(path: Path, share: float = 0.5) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])


def left_open(path: Path, records: Iterable[Record]) -> None:
    """As it is on the disk while its writer still has it open."""
    writing = path.with_suffix(".writing")
    with h5py.File(writing, "w", libver="latest") as file:
        for record in records:
            write_group(file, record)
        file.flush()
        shutil.copy(writing, path)
    writing.unlink()


def crashed_run(folder: Path, records: list[Record]) -> Path:
    """The folder of a crashed script, of the first 14 of 16 results or more; ``layouts.h5`` beside it is a part."""
    temporary = folder / "layouts.h5_temp"
    temporary.mkdir()
    write_worker(temporary / "worker_101.h5", records[:2])
    (temporary / "worker_102.h5").touch()
    write_worker(temporary / "worker_103.h5", [])
    write_worker(temporary / "worker_104.h5", records[2:4], aep=0.0)
    cut(write_worker(temporary / "worker_105.h5", records[4:8]))
    left_open(temporary / "worker_106.h5", records[8:10])
    (temporary / "worker_107.h5").write_bytes(b"\0" * 800)
    with h5py.File(temporary / "worker_108.h5", "w") as file:
        for record, aep in zip(records[9:12], ("stored", None, np.nan), strict=True):
            write_group(file, record, aep=aep)
    cut(write_worker(folder / "layouts.h5", records[12:14]), 0.98)
    return temporary


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def shifted(campaign: Campaign, record: Record, by_m: float) -> Any:
    """The layout with its first turbine moved to the east."""
    layout = record.arrays["layout"].copy()
    layout[0, 0] += by_m
    return layout
