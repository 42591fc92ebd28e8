"""What others added to a file that vindeby wrote: found by comparison with what vindeby writes, and copied by HDF5.

Both happen inside a guarded child. Objects are copied by the library itself (H5Ocopy), attributes one by one. What
cannot be copied so that it means the same is refused by name before anything is written: references and links to
elsewhere, data outside the file, objects under several names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from vindeby.store.format.root import Addition, ArrayAttributes
from vindeby.store.read.confined import plain


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


def copy_additions(
    *, old: str, new: str, additions: list[list[Any]], row_counts: list[int], progress: Callable[[str], None]
) -> dict[str, Any]:
    """Copy ``additions`` from ``old`` to ``new``.

    A dataset with as many rows as one of ``row_counts`` is a column beside those of a table.
    The answer names under ``refused`` what cannot be copied, with the reason; then ``new`` was not changed.
    """
    wanted = [Addition.from_json(entry) for entry in additions]
    with h5py.File(old, "r", locking=False) as source, h5py.File(new, "r+", locking=False) as target:
        refused = _misaligned(source, target, wanted, row_counts)
        for one in wanted:
            progress(str(one))
            refused += _obstacles(source, target, one)
        for one in [] if refused else wanted:
            progress(str(one))
            _copy(source[one.owner or "/"], target[one.owner or "/"], one)
    return {"refused": refused}


def _copy(source: Any, target: Any, addition: Addition) -> None:
    name = addition.name.encode()
    if addition.attribute:
        _copy_attribute(source, target, name)
    elif isinstance(link := source.get(addition.name, getlink=True), h5py.SoftLink):
        target[addition.name] = link
    else:
        h5py.h5o.copy(source.id, name, target.id, name)


def _copy_attribute(source: Any, target: Any, name: bytes) -> None:
    """Type, shape and bytes as they are; text and lists of any length by their values."""
    stored = h5py.h5a.open(source.id, name)
    kind, space = stored.get_type(), stored.get_space()
    if h5py.h5a.exists(target.id, name):
        h5py.h5a.delete(target.id, name)
    made = h5py.h5a.create(target.id, name, kind, space)
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        return
    by_value = kind.detect_class(h5py.h5t.VLEN) or stored.dtype.hasobject
    values = np.empty(space.shape, stored.dtype if by_value else f"V{kind.get_size()}")
    stored.read(values, None if by_value else kind)
    made.write(values, None if by_value else kind)


def _obstacles(source: h5py.File, target: h5py.File, addition: Addition) -> list[str]:
    """Why an addition cannot be copied, each reason with the path that it is about."""
    if addition.owner and addition.owner not in target:
        return [f"{addition}: the new database has no {addition.owner}"]
    owner, new_owner = source[addition.owner or "/"], target[addition.owner or "/"]
    if addition.attribute:
        reason = _type_obstacle(h5py.h5a.open(owner.id, addition.name.encode()).get_type())
        if not addition.owner and addition.name in new_owner.attrs:
            reason = "the new database has a root attribute of that name"
        return [f"{addition}: {reason}"] if reason else []
    taken = [f"{addition}: the new database has an object of that name"] if addition.name in new_owner else []
    return [*taken, *_object_obstacles(owner, addition.name, str(addition))]


def _object_obstacles(group: h5py.Group, name: str, path: str) -> Iterator[str]:
    link = group.get(name, getlink=True)
    if isinstance(link, h5py.SoftLink):
        return
    if not isinstance(link, h5py.HardLink):
        yield f"{path}: it is a link to another file"
        return
    item = group[name]
    if h5py.h5o.get_info(item.id).rc > 1:
        yield f"{path}: it has several names (hard links); use a soft link for the others"
        return
    for attribute in item.attrs:
        if reason := _type_obstacle(h5py.h5a.open(item.id, attribute.encode()).get_type()):
            yield f"{path}@{attribute}: {reason}"
    if isinstance(item, h5py.Dataset) and (reason := _dataset_obstacle(item)):
        yield f"{path}: {reason}"
    if isinstance(item, h5py.Group):
        for member in item:
            yield from _object_obstacles(item, member, f"{path}/{member}")


def _dataset_obstacle(dataset: h5py.Dataset) -> str:
    if dataset.is_virtual:
        return "it is a virtual dataset, whose data are in another place"
    if dataset.id.get_create_plist().get_external_count():
        return "its data are in another file (external storage)"
    return _type_obstacle(dataset.id.get_type())


def _type_obstacle(kind: Any) -> str:
    if kind.committed():
        return "its type is a named datatype, shared with other objects"
    return "it holds references to objects" if kind.detect_class(h5py.h5t.REFERENCE) else ""


def _misaligned(
    source: h5py.File, target: h5py.File, wanted: Sequence[Addition], row_counts: list[int]
) -> list[str]:
    """Datasets with one row per record of a table, where the records will not be in the same rows."""
    if not isinstance(source.get("key"), h5py.Dataset) or "schemas" not in source.attrs:
        return []
    keys = source["key"][()]
    if "schemas" in target.attrs and np.array_equal(target["key"][: len(keys)], keys):
        return []
    columns = []
    for addition in wanted:
        owner = source[addition.owner or "/"]
        if addition.attribute or not isinstance(owner.get(addition.name, getlink=True), h5py.HardLink):
            continue
        item = owner[addition.name]
        if isinstance(item, h5py.Dataset) and item.shape and 1 < item.shape[0] in row_counts:
            columns.append(f"{addition}: it has one row per record, and the records will be in other rows")
    return columns
