"""Records that state a checksum and do not meet it, in a file of their own that nothing takes for results.

Such a record may be right but for one bit, and a person may want to see it. Each is a group with the status
``doubtful``, which every reader of vindeby leaves out, with no checksum of its own; the one that it stated, the
file it came from and the reason stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py

from vindeby.store.carefulfile import CarefulFile
from vindeby.store.files import force_file
from vindeby.store.rows import Segment, array_field, attribute_field
from vindeby.store.salvage.saved import Saved

DOUBTFUL = "doubtful"


def write_doubtful(path: Path, files: Sequence[Saved]) -> int:
    """Write what is doubtful in these files, if anything is; how many records."""
    count = 0
    if not any(saved.doubtful for saved in files):
        return count
    try:
        with CarefulFile(path) as target:
            with h5py.File(target, "w") as file:
                file.attrs["kind"] = "vindeby doubtful records"
                file.attrs["note"] = (
                    "each of these records states a checksum that it does not meet: do not use as results"
                )
                for source, row in _rows(files):
                    _write(file, source, row)
                    count += 1
            target.check()
        force_file(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return count


def _rows(files: Sequence[Saved]) -> Iterator[tuple[Path, Segment]]:
    for saved in files:
        for place in saved.doubtful:
            yield saved.path, saved.spool.row(place)


def _write(file: h5py.File, source: Path, segment: Segment) -> None:
    row: Any = segment.rows[0]
    key = _text(row["key"]).replace("/", "_").replace("\0", "") or "nameless"
    name, number = key, 1
    while name in file or name in {".", ".."}:
        number += 1
        name = f"{key} ({number})"
    group = file.create_group(name)
    for item, _ in segment.schema.attributes:
        value = row[attribute_field(item)].item()
        group.attrs[item] = _text(value) if isinstance(value, bytes) else value
    for item, dtype, shape in segment.schema.arrays:
        if 0 in shape:
            group.create_dataset(item, shape, dtype)
        else:
            group.create_dataset(item, data=row[array_field(item)])
    group.attrs["status"] = DOUBTFUL
    group.attrs["stated_checksum"] = _text(row["checksum"])
    group.attrs["stated_fingerprint"] = _text(row["fingerprint"])
    group.attrs["source"] = str(source)
    group.attrs["reason"] = "checksum mismatch"


def _text(value: bytes) -> str:
    return value.decode(errors="replace").replace("\0", "")
