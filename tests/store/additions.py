"""What users add to a database with other programs, and a way to compare what HDF5 shows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests.store.examples import publish, records
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge

KEY = "farm0_t1_s1"

ROOT = ("mine", "notes", "@author", "@weights", "@nothing")
IN_RECORDS = (
    f"{KEY}/wake_loss",
    f"{KEY}/extra",
    f"{KEY}@reviewed",
    f"{KEY}/layout@datum",
    f"{KEY}/aep@datum",
)
IN_COLUMNS = ("arrays/wake_loss", "attributes/reviewed", "arrays/extra", "arrays/layout@datum", "key@datum")


def merged(run: RunDirectory, count: int = 6, file_format: str = "classic") -> Path:
    publish(run, records(count))
    merge(run.output, MergeOptions(file_format=file_format))
    return run.output


def add_to_root(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file.create_dataset("mine", data=np.arange(24.0).reshape(4, 6), chunks=(2, 3), compression="gzip")
        notes = file.create_group("notes")
        notes.create_dataset("text", data=["first", "second, longer", "øst"])
        notes["deeper/value"] = np.array([(1, 2.5)], dtype=[("a", "<i2"), ("b", ">f4")])
        notes.attrs["by"] = "A. User"
        notes["same"] = h5py.SoftLink("/notes/text")
        file.attrs["author"] = "A. User"
        file.attrs["weights"] = np.array([1, 2, 3], ">i2")
        file.attrs["nothing"] = h5py.Empty("S1")


def add_to_record(path: Path, key: str = KEY) -> None:
    with h5py.File(path, "r+") as file:
        group = file[key]
        group["wake_loss"] = np.linspace(0.0, 1.0, 5)
        group["extra/by_turbine"] = np.arange(5, dtype="i2")
        group.attrs["reviewed"] = "yes, twice"
        group["layout"].attrs["datum"] = "EPSG:25832"
        group["aep"].attrs["datum"] = np.array([1.0, 2.0])


def add_to_columns(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        rows = len(file["key"])
        file["arrays/wake_loss"] = np.linspace(0.0, 1.0, rows)
        file["attributes/reviewed"] = np.array([b"yes"] * rows)
        file["arrays/extra/deep"] = np.arange(3)
        file["arrays/layout"].attrs["datum"] = "EPSG:25832"
        file["key"].attrs["datum"] = 3


def seen(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """What h5py reads for each name: types, shapes and values, with everything below and every attribute."""
    found: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        for name in names:
            owner, _, attribute = name.partition("@")
            if attribute:
                found[name] = _attribute(file[owner or "/"], attribute)
            else:
                found[name] = _object(file, name)
    return found


def _object(file: h5py.File, name: str) -> Any:
    link = file.get(name, getlink=True)
    if isinstance(link, h5py.SoftLink):
        return ("soft link", link.path)
    item = file[name]
    attributes = {key: _attribute(item, key) for key in item.attrs}
    if isinstance(item, h5py.Group):
        return attributes, {key: _object(file, f"{name}/{key}") for key in item}
    stored = item.id.get_type().encode(), item.chunks, item.compression
    return attributes, item.dtype.str, item.shape, stored, np.asarray(item[()]).tolist()


def _attribute(item: Any, name: str) -> Any:
    value = item.attrs[name]
    kind = item.attrs.get_id(name).get_type().encode()
    return kind, str(value) if isinstance(value, h5py.Empty) else np.asarray(value).tolist()
