"""Copies what others added to a database into the new one, through the HDF5 library, inside a guarded child.

Objects are copied by the library itself (H5Ocopy), attributes one by one; afterwards both files are opened
again and compared. What cannot be copied so that it means the same is refused by name before anything is written:
references and links that lead elsewhere, data that stands outside the file, objects under several names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import h5py
import numpy as np

from vindeby.store.format.own_fields import Addition

_STEP = 1 << 24


def carry(
    *,
    old: str,
    new: str,
    records: str,
    keys: list[str],
    additions: list[list[Any]],
    row_counts: list[int],
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Copy ``additions`` from ``old`` to ``new``, and first the groups ``keys`` from the file ``records``.

    A dataset with as many rows as one of ``row_counts`` is a column beside those of a table.
    The answer names under ``refused`` what cannot be copied, with the reason; then ``new`` was not changed.
    """
    wanted = [Addition.from_json(entry) for entry in additions]
    with h5py.File(old, "r", locking=False) as source:
        with h5py.File(new, "r", locking=False) as target:
            refused = [text for one in wanted for text in _obstacles(source, target, one, keys, progress)]
            refused += _misaligned(source, target, wanted, row_counts)
        if refused:
            return {"refused": refused}
        with h5py.File(new, "r+", locking=False) as target:
            if keys:
                _copy_records(records, target, keys, progress)
            for addition in wanted:
                progress(str(addition))
                _copy(source, target, addition)
        with h5py.File(new, "r", locking=False) as target:
            different = [str(one) for one in wanted if not _same(source, target, one, progress)]
            different += _different_records(records, target, keys, progress)
    return {"refused": [], "different": different}


def _copy_records(records: str, target: h5py.File, keys: list[str], progress: Callable[[str], None]) -> None:
    with h5py.File(records, "r", locking=False) as fresh:
        for key in keys:
            progress(key)
            h5py.h5o.copy(fresh.id, key.encode(), target.id, key.encode())


def _different_records(
    records: str, target: h5py.File, keys: list[str], progress: Callable[[str], None]
) -> Iterator[str]:
    """Records that do not read as they were written; what others added to them is not looked at here."""
    if not keys:
        return
    with h5py.File(records, "r", locking=False) as fresh:
        for key in keys:
            progress(key)
            one, two = fresh[key], target[key]
            same = all(_same_attribute(one, two, name) for name in one.attrs) and all(
                name in two and _same_dataset(one[name], two[name], progress) for name in one
            )
            if not same:
                yield key


def _copy(source: h5py.File, target: h5py.File, addition: Addition) -> None:
    one, two = source[addition.owner or "/"], target[addition.owner or "/"]
    if addition.attribute:
        _copy_attribute(one, two, addition.name)
        return
    link = one.get(addition.name, getlink=True)
    if isinstance(link, h5py.SoftLink):
        two[addition.name] = h5py.SoftLink(link.path)
    else:
        h5py.h5o.copy(one.id, addition.name.encode(), two.id, addition.name.encode())


def _copy_attribute(one: Any, two: Any, name: str) -> None:
    """Type, shape and bytes as they are; text and lists of any length by their values."""
    stored = h5py.h5a.open(one.id, name.encode())
    kind, space = stored.get_type(), stored.get_space()
    if name in two.attrs:
        del two.attrs[name]
    made = h5py.h5a.create(two.id, name.encode(), kind, space)
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        return
    if _any_class(kind, {h5py.h5t.VLEN}) or _has_text_of_any_length(kind):
        values = np.empty(space.shape, stored.dtype)
        stored.read(values)
        made.write(values)
    else:
        raw = np.empty(space.shape, f"V{kind.get_size()}")
        stored.read(raw, mtype=kind)
        made.write(raw, mtype=kind)


def _obstacles(
    source: h5py.File, target: h5py.File, addition: Addition, keys: list[str], progress: Callable[[str], None]
) -> Iterator[str]:
    """Why an addition cannot be copied, each reason with the path that it is about."""
    progress(str(addition))
    if addition.owner.partition("/")[0] not in keys and addition.owner and addition.owner not in target:
        yield f"{addition}: the new database has no {addition.owner}"
        return
    owner = source[addition.owner or "/"]
    if addition.attribute:
        if not addition.owner and addition.name in target.attrs:
            yield f"{addition}: the new database has a root attribute of that name"
        reason = _attribute_obstacle(owner, addition.name)
        if reason:
            yield f"{addition}: {reason}"
        return
    if addition.owner not in keys and addition.name in target[addition.owner or "/"]:
        yield f"{addition}: the new database has an object of that name"
    yield from _object_obstacles(owner, addition.name, str(addition), progress)


def _object_obstacles(
    group: h5py.Group, name: str, path: str, progress: Callable[[str], None]
) -> Iterator[str]:
    link = group.get(name, getlink=True)
    if isinstance(link, h5py.SoftLink):
        return
    if not isinstance(link, h5py.HardLink):
        yield f"{path}: it is a link to another file"
        return
    progress(path)
    item = group[name]
    if h5py.h5o.get_info(item.id).rc > 1:
        yield f"{path}: it has several names (hard links); use a soft link for the others"
        return
    for attribute in item.attrs:
        reason = _attribute_obstacle(item, attribute)
        if reason:
            yield f"{path}@{attribute}: {reason}"
    if isinstance(item, h5py.Dataset):
        reason = _dataset_obstacle(item)
        if reason:
            yield f"{path}: {reason}"
    elif isinstance(item, h5py.Group):
        for member in item:
            yield from _object_obstacles(item, member, f"{path}/{member}", progress)


def _dataset_obstacle(dataset: h5py.Dataset) -> str:
    if dataset.is_virtual:
        return "it is a virtual dataset, whose data stands elsewhere"
    if dataset.id.get_create_plist().get_external_count():
        return "its data stands in another file (external storage)"
    return _type_obstacle(dataset.id.get_type())


def _attribute_obstacle(item: Any, name: str) -> str:
    return _type_obstacle(h5py.h5a.open(item.id, name.encode()).get_type())


def _type_obstacle(kind: Any) -> str:
    if kind.committed():
        return "its type is a named datatype, shared with other objects"
    if _any_class(kind, {h5py.h5t.REFERENCE}):
        return "it holds references to objects"
    return ""


def _any_class(kind: Any, classes: set[int]) -> bool:
    """Is the type, or anything that it is made of, of one of these classes?"""
    own = kind.get_class()
    if own in classes:
        return True
    if own == h5py.h5t.COMPOUND:
        return any(_any_class(kind.get_member_type(place), classes) for place in range(kind.get_nmembers()))
    if own in {h5py.h5t.ARRAY, h5py.h5t.VLEN}:
        return _any_class(kind.get_super(), classes)
    return False


def _has_text_of_any_length(kind: Any) -> bool:
    own = kind.get_class()
    if own == h5py.h5t.STRING:
        return bool(kind.is_variable_str())
    if own == h5py.h5t.COMPOUND:
        return any(
            _has_text_of_any_length(kind.get_member_type(place)) for place in range(kind.get_nmembers())
        )
    return own == h5py.h5t.ARRAY and _has_text_of_any_length(kind.get_super())


def _misaligned(
    source: h5py.File, target: h5py.File, wanted: list[Addition], row_counts: list[int]
) -> list[str]:
    """Datasets with one row per record of a table, where the records will not stand in the same rows."""
    if not isinstance(source.get("key"), h5py.Dataset) or "schemas" not in source.attrs:
        return []
    keys = source["key"][()]
    same_form = "schemas" in target.attrs
    if same_form and np.array_equal(target["key"][: len(keys)], keys):
        return []
    columns = []
    for addition in wanted:
        owner = source[addition.owner or "/"]
        if addition.attribute or not isinstance(owner.get(addition.name, getlink=True), h5py.HardLink):
            continue
        item = owner[addition.name]
        if isinstance(item, h5py.Dataset) and item.shape and 1 < item.shape[0] in row_counts:
            columns.append(f"{addition}: it has one row per record, and the records will stand in other rows")
    return columns


def _same(source: h5py.File, target: h5py.File, addition: Addition, progress: Callable[[str], None]) -> bool:
    one, two = source[addition.owner or "/"], target[addition.owner or "/"]
    if addition.attribute:
        return _same_attribute(one, two, addition.name)
    return _same_member(one, two, addition.name, progress)


def _same_member(one: h5py.Group, two: h5py.Group, name: str, progress: Callable[[str], None]) -> bool:
    first, second = one.get(name, getlink=True), two.get(name, getlink=True)
    if isinstance(first, h5py.SoftLink):
        return isinstance(second, h5py.SoftLink) and first.path == second.path
    if not isinstance(second, h5py.HardLink):
        return False
    progress(name)
    a, b = one[name], two[name]
    if type(a) is not type(b) or set(a.attrs) != set(b.attrs):
        return False
    if not all(_same_attribute(a, b, attribute) for attribute in a.attrs):
        return False
    if isinstance(a, h5py.Dataset):
        return _same_dataset(a, b, progress)
    if isinstance(a, h5py.Group):
        return set(a) == set(b) and all(_same_member(a, b, member, progress) for member in a)
    return bool(a.id.equal(b.id))


def _same_attribute(one: Any, two: Any, name: str) -> bool:
    if name not in two.attrs:
        return False
    a, b = (h5py.h5a.open(item.id, name.encode()) for item in (one, two))
    if not a.get_type().equal(b.get_type()) or a.shape != b.shape:
        return False
    if a.get_space().get_simple_extent_type() != b.get_space().get_simple_extent_type():
        return False
    return _same_values(one.attrs[name], two.attrs[name])


def _same_dataset(one: h5py.Dataset, two: h5py.Dataset, progress: Callable[[str], None]) -> bool:
    kind = one.id.get_type()
    if not kind.equal(two.id.get_type()) or one.shape != two.shape or one.maxshape != two.maxshape:
        return False
    if one.shape is None:
        return True
    plain = not (_any_class(kind, {h5py.h5t.VLEN}) or _has_text_of_any_length(kind))
    if plain and one.chunks is not None and two.chunks == one.chunks:
        return _same_chunks(one, two, progress)
    return all(_same_values(one[part], two[part]) for part in _parts(one, progress))


def _same_chunks(one: h5py.Dataset, two: h5py.Dataset, progress: Callable[[str], None]) -> bool:
    """The chunks as they are stored: nothing need know how to decompress them."""
    if one.id.get_num_chunks() != two.id.get_num_chunks():
        return False
    places: list[tuple[int, ...]] = []
    one.id.chunk_iter(lambda info: places.append(info.chunk_offset))
    for place in places:
        progress(str(place))
        if one.id.read_direct_chunk(place) != two.id.read_direct_chunk(place):
            return False
    return True


def _parts(dataset: h5py.Dataset, progress: Callable[[str], None]) -> Iterator[Any]:
    """Selections of a dataset that need little memory each."""
    if not dataset.shape:
        yield ()
        return
    row = max(1, dataset.size * max(1, dataset.dtype.itemsize) // max(1, dataset.shape[0]))
    step = max(1, _STEP // row)
    for start in range(0, dataset.shape[0], step):
        progress(str(start))
        yield slice(start, start + step)


def _same_values(one: Any, two: Any) -> bool:
    if isinstance(one, h5py.Empty) or isinstance(two, h5py.Empty):
        return bool(one == two)
    a, b = np.asarray(one), np.asarray(two)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.hasobject:
        return repr(a.tolist()) == repr(b.tolist())
    return a.tobytes() == b.tobytes()
