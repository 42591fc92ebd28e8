"""Records that a merge takes out of the database because others replace them: kept, never deleted.

They go to ``replaced/`` in the run directory before the database changes, in files like shards: verified, sealed, and
readable by ``vindeby validate`` and ``vindeby salvage``. A merge that is interrupted after that and done again finds
the same records there and does not write them twice.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from vindeby.store.disk.files import Files, Retry, publish_bytes
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.image import build_image
from vindeby.store.format.record import Record
from vindeby.store.format.rows import checksum_of

_MOST_BYTES = 1 << 26


def keep_replaced(run: RunDirectory, records: Sequence[Record]) -> list[Path]:
    """Put records into ``replaced/``, durably; the files that hold them."""
    return [_keep(run, batch) for batch in _batches(records)]


def _keep(run: RunDirectory, records: list[Record]) -> Path:
    digest = hashlib.sha256("".join(sorted(map(checksum_of, records))).encode()).hexdigest()[:12]
    for path in run.replaced.glob(f"*-{digest}.h5"):
        return path
    stamp, owner = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), Identity.current()
    target = run.replaced / f"{stamp}-{digest}.h5"

    def names() -> tuple[Path, Path]:
        return run.replaced / f".{target.name}.{owner.pid}-{owner.token}.tmp", target

    return publish_bytes(Files(), Retry(), build_image(records).data, names, run.path.parent)


def _batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """By size, for large arrays; and so that no key occurs twice in a file."""
    batch: dict[str, Record] = {}
    size = 0
    for record in records:
        if record.key in batch or size > _MOST_BYTES:
            yield list(batch.values())
            batch, size = {}, 0
        batch[record.key] = record
        size += sum(array.nbytes for array in record.arrays.values())
    if batch:
        yield list(batch.values())
