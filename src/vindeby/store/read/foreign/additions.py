"""What others added to a file that vindeby wrote: found by comparing what stands there with what vindeby writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import h5py

from vindeby.store.format.array_attributes import ArrayAttributes
from vindeby.store.format.own_fields import Addition
from vindeby.store.read.foreign.hdf5_library import plain


def dataset_additions(path: str, dataset: h5py.Dataset, written: Mapping[str, str]) -> Iterator[Addition]:
    """The attributes of one of our datasets that vindeby did not write."""
    for name in dataset.attrs:
        if name not in written or plain(dataset.attrs[name]) != written[name]:
            yield Addition(path, name, attribute=True)


def table_additions(file: h5py.File, own: set[str], written: ArrayAttributes) -> list[Addition]:
    """What others added to a table: at the root, in the groups of its columns, and as attributes of those."""
    found = [Addition("", name) for name in file if name not in own and name not in {"arrays", "attributes"}]
    for part in ("arrays", "attributes"):
        if isinstance(file.get(part), h5py.Group):
            group = file[part]
            found += [Addition(part, name) for name in group if f"{part}/{name}" not in own]
            found += [Addition(part, name, attribute=True) for name in group.attrs]
    for path in sorted(own):
        if isinstance(file.get(path), h5py.Dataset):
            part, _, name = path.partition("/")
            texts = written.get(name.partition("@")[0], {}) if part == "arrays" else {}
            found += dataset_additions(path, file[path], texts)
    return found
