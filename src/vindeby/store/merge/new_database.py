"""A new sealed database: its root, and its comparison with what it was made from.

A merge makes OUT.h5 this way, and so are the results kept that no longer belong there: each file in ``replaced/`` is a
database that ``vindeby.open`` reads.
"""

import contextlib
import hashlib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vindeby._version import __version__
from vindeby.campaign.tasks import RESULT_ARRAYS
from vindeby.errors import StorageError
from vindeby.store.disk.files import Files, make_directories
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.file_format import Content, FileFormat
from vindeby.store.format.formats import file_format_named, iterate
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.root import OWN_FIELDS, description, root_checksum
from vindeby.store.format.rows import Schema, batches, checksum_of, segments_of
from vindeby.store.format.seal import FORMAT_VERSION, open_sealed
from vindeby.store.merge.sources import folded, widen

DEFAULT_FORMAT = "classic"
STALE = "stale_configs"
"""The root attribute that counts the results of an older version of the campaign; absent where there are none."""


def sealed_root(
    root: Mapping[str, Attribute],
    file_format: FileFormat,
    schemas: Iterable[Schema],
    count: int,
    stale: int = 0,
) -> dict[str, Attribute]:
    """Return root attributes with the counts of a new database, of which ``stale`` records, and their checksum."""
    kept = {name: value for name, value in root.items() if name not in ("root_checksum", STALE)}
    new: dict[str, Attribute] = {
        **kept,
        "format_version": FORMAT_VERSION,
        "layout": file_format.name,
        "successful_configs": count - stale,
        "version": __version__,
        **({STALE: stale} if stale else {}),
    }
    new[OWN_FIELDS] = description(new, schemas)
    return {**new, "root_checksum": root_checksum(new)}


def verify_new(path: Path, expected: NDArray[np.uint64]) -> str:
    """Compare every record of a new database with its source checksum; return the digest of the seal.

    It is read from the disk: every block is compared with the seal, and each record with its own checksum.
    """
    found = [np.empty(0, np.uint64)]
    with open_sealed(path) as file:
        file.read_from_disk()
        file.verify(once=True)
        for segment in iterate(file):
            if not segment.intact().all():
                raise StorageError(f"{path}: a record is not what was written; the disk or memory is failing")
            found.append(folded(segment.rows["checksum"]))
        digest = file.seal.digest
    if not np.array_equal(np.sort(np.concatenate(found)), np.sort(expected)):
        raise StorageError(
            f"{path}: the new database does not hold the records that were merged; nothing changed"
        )
    return digest


def keep_results(
    run: RunDirectory, records: Iterable[Record], root: Mapping[str, Attribute], why: str
) -> None:
    """Put results into ``replaced/``, as databases with these root attributes; no key occurs twice in a file."""
    for batch in batches(records):
        while batch:
            first = {record.key: record for record in reversed(batch)}
            _keep(run, list(first.values()), root, why)
            batch = [record for record in batch if first[record.key] is not record]


def _keep(run: RunDirectory, records: list[Record], root: Mapping[str, Attribute], why: str) -> None:
    digest = hashlib.sha256("".join(sorted(map(checksum_of, records))).encode()).hexdigest()[:12]
    if any(run.replaced.glob(f"*-{digest}.h5")):
        return
    segments, file_format = segments_of(records), file_format_named(DEFAULT_FORMAT)
    schemas = tuple(sorted({segment.schema for segment in segments}))
    widths: dict[str, int] = {}
    for segment in segments:
        widen(widths, segment)
    whole = sealed_root(root, file_format, schemas, len(records))
    make_directories(Files(), run.replaced, run.path.parent)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    temporary = run.replaced / f".{digest}.{Identity.current().token}.tmp"
    try:
        file_format.write(temporary, Content(len(records), schemas, widths, whole, segments, RESULT_ARRAYS))
        verify_new(temporary, folded(np.concatenate([one.rows["checksum"] for one in segments])))
        target = run.noted_place(run.replaced, f"{run.output.stem}-{stamp}-{digest}", Path("results.h5"), why)
        temporary.rename(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    Files().fsync_directory(run.replaced)
