"""Records in an HDF5 file that nobody vouches for, read in the guarded child.

A file has groups, one for each record, whether vindeby wrote it or an older script; or it is a table of ours whose seal
is lost. A record counts only if every dataset of it is readable, of numbers, and within the bytes that are really
there, and if its checksum holds where it states one; then it is the record of a file of ours, whatever other programs
added to it. A record without a checksum gets the mark of its origin (``origin``).

An HDF5 file can name other files: external links, external storage of a dataset, virtual datasets. While a file is
read, this process cannot open another one at all; what leads out of the file is refused by name where it is seen.
"""

from __future__ import annotations

import contextlib
import json
import math
import resource
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray
from vindeby.errors import VindebyError
from vindeby.store.foreign.guard import Asked
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.origin import marked
from vindeby.store.format.record import RESERVED, SUCCESS, Attribute, Record
from vindeby.store.format.root import described, own_record
from vindeby.store.format.rows import Schema, Segment, batches, pieces, segments_of
from vindeby.store.format.seal import FORMAT_VERSION
from vindeby.store.format.shard import shard_bytes
from vindeby.store.format.table import (
    MARK_COLUMNS,
    Paths,
    column_paths,
    column_values,
    own_columns,
    runs,
    table_segment,
)

LIBRARY_ERRORS = (
    OSError,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    MemoryError,
)
_ENERGY = "aep"
"""An array of one number, which other programs may store as an attribute."""
_LONGEST_TEXT = 1000
_LARGEST_ARRAY = 1 << 28
_MOST_ROWS = 1024


class UnusableError(Exception):
    """A record that cannot be used, with the verdict."""

    def __init__(self, verdict: Verdict, detail: str = "") -> None:
        super().__init__(detail)
        self.verdict = verdict
        self.detail = detail


def names_of(holder: Any) -> dict[str, bytes]:
    """Return the names in a group or among attributes as text, each with the bytes that h5py opens it by.

    Bytes that are not UTF-8, as other programs write them, are spelled out.
    """
    stored = (name if isinstance(name, bytes) else name.encode() for name in holder)
    return {name.decode(errors="backslashreplace"): name for name in stored}


def _plain(value: Any) -> Attribute:
    """Return an attribute that h5py read as a plain value; anything but a scalar becomes JSON text."""
    if isinstance(value, h5py.Empty) and value.dtype.kind in "SO":
        return ""  # how PyTables writes a text of no length
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else json.dumps(value.tolist(), default=str)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = value.encode(errors="surrogateescape")
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value if isinstance(value, int | float | bool) else str(value)


@contextlib.contextmanager
def no_more_files() -> Iterator[None]:
    """Keep this process from opening more files; open files can still be read."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


class ForeignReader:
    """Reads one file: records go out as images of shards, findings are collected up to a number."""

    def __init__(self, asked: Asked, progress: Callable[[str], None], send: Callable[[bytes], None]) -> None:
        self._asked, self._progress, self._send = asked, progress, send
        self._findings: list[Finding] = []
        self._left_out = 0
        self._ours = False
        self._kinds: list[tuple[frozenset[str], frozenset[str]]] = []
        self._visited: list[int] = []
        self._proven: set[int] = set()
        """The addresses of the groups whose checksum holds."""

    def read(self, file: h5py.File) -> dict[str, Any]:
        """Send every usable record; return findings about the rest, the root attributes and the groups visited."""
        self._progress("")
        root: dict[str, Attribute] = {}
        is_table = False
        try:
            if not self._asked.rooted:
                root, unreadable = self._attributes(file)
                for error in unreadable:
                    self._note(error.verdict, f"root: {error.detail}")
            self._ours = "root_checksum" in root
            self._kinds = (described(root) or (frozenset(), []))[1]
            is_table = "schemas" in root
            if is_table:
                self._send_table(file, root)
            else:
                for batch in batches(self._records(file), self._asked.batch_bytes):
                    self._send(shard_bytes(segments_of(batch)))
        except UnusableError as error:
            self._note(error.verdict, error.detail)
        if self._left_out:
            rest = Finding(Verdict.INCOMPLETE, f"{self._left_out} more findings are not listed")
            self._findings.append(rest)
        findings = [finding.to_json() for finding in self._findings]
        return {"findings": findings, "root": root, "is_table": is_table, "visited": self._visited}

    def _note(self, verdict: Verdict, detail: str = "", key: str = "") -> None:
        """Keep one finding; beyond a number they are only counted."""
        if len(self._findings) < self._asked.most_findings:
            self._findings.append(Finding(verdict, detail[:_LONGEST_TEXT], key[:_LONGEST_TEXT]))
        else:
            self._left_out += 1

    # --- groups

    def _records(self, file: h5py.File) -> Iterator[Record]:
        """Yield each group that is a record; other groups become findings."""
        rooted = self._asked.rooted
        for name, stored in ({"": b""} if rooted else names_of(file)).items():
            if name in self._asked.skip:
                continue
            self._progress(name)
            record = None
            try:
                if self._ours and file.id.links.get_info(stored).type != h5py.h5l.TYPE_HARD:
                    continue  # another program added it
                group = file if rooted else _member(file, stored)
                if not isinstance(group, h5py.Group):
                    continue
                self._visited.append(int(h5py.h5o.get_info(group.id).addr))
                record = self._record(name, group)
            except UnusableError as error:
                self._note(error.verdict, error.detail, name or rooted)
            except VindebyError as error:
                self._note(Verdict.FOREIGN, str(error), name or rooted)
            except LIBRARY_ERRORS as error:
                self._note(Verdict.INCOMPLETE, reason(error), name or rooted)
            if record is not None and name not in self._asked.sent:
                yield record
        if not rooted:
            self._visited.append(int(h5py.h5o.get_info(file.id).addr))

    def _record(self, name: str, group: h5py.Group) -> Record | None:
        """Return the record in a group; None for a group that was added to a vindeby file."""
        asked = self._asked
        address = int(h5py.h5o.get_info(group.id).addr)
        if self._ours and (address in self._proven or not self._is_own(group)):
            return None  # another program added the group, or a second name of it
        if asked.rooted and group.keys() >= set(MARK_COLUMNS):
            raise UnusableError(Verdict.FOREIGN, "these are the columns of a table")
        attributes, unusable = self._attributes(group)
        marks = {mark: str(attributes.pop(mark)) for mark in RESERVED & attributes.keys()}
        arrays, others = self._arrays(group)
        unusable += others
        if marks.get("status", SUCCESS) != SUCCESS:
            raise UnusableError(Verdict.NOT_MARKED, f"status is {marks['status']!r}")
        key, fingerprint = name or spelled_key(asked.naming, attributes), marks.get("fingerprint", "")
        if "checksum" in marks:
            own = None
            if key and arrays:
                own = own_record(self._kinds, key, fingerprint, arrays, attributes, marks["checksum"])
            if own is not None:
                self._proven.add(address)
                return own
            why = "" if name else f"by its attributes it is {key}" if key else _NAMELESS
            raise unusable[0] if unusable else UnusableError(Verdict.CHECKSUM, why)
        if _ENERGY not in arrays and isinstance(attributes.get(_ENERGY), int | float):
            arrays[_ENERGY] = np.array(float(attributes.pop(_ENERGY)))
        lacking = sorted(set(asked.needed) - arrays.keys())
        if unusable and (lacking or not asked.needed):
            raise unusable[0]
        if lacking or not arrays:
            what = f"no dataset {', '.join(lacking)}" if lacking else "the group has no dataset"
            raise UnusableError(Verdict.INCOMPLETE, what)
        return Record(key or asked.rooted, fingerprint, arrays, marked(attributes, asked.origin))

    def _is_own(self, group: h5py.Group) -> bool:
        """Return whether a group in a vindeby file has the marks or the arrays of a record."""
        arrays = names_of(group).keys()
        return any(mark in group.attrs for mark in RESERVED) or any(own <= arrays for own, _ in self._kinds)

    def _attributes(self, holder: Any) -> tuple[dict[str, Attribute], list[UnusableError]]:
        """Return the attributes of a group or of the root that can be read, and what is wrong with the others."""
        found: dict[str, Attribute] = {}
        unusable: list[UnusableError] = []
        for name, stored in names_of(holder.attrs).items():
            try:
                found[name] = _plain(holder.attrs[stored])
            except LIBRARY_ERRORS as error:
                unusable.append(UnusableError(Verdict.INCOMPLETE, f"attribute {name}: {reason(error)}"))
        return found, unusable

    def _arrays(self, group: h5py.Group) -> tuple[dict[str, NDArray[Any]], list[UnusableError]]:
        """Return the arrays of a group that can be read, and what is wrong with its other members."""
        arrays: dict[str, NDArray[Any]] = {}
        unusable: list[UnusableError] = []
        for item, stored in names_of(group).items():
            try:
                arrays[item] = self._array(item, _member(group, stored))
            except UnusableError as error:
                unusable.append(error)
            except LIBRARY_ERRORS as error:
                unusable.append(UnusableError(Verdict.INCOMPLETE, reason(error)))
        return arrays, unusable

    def _array(self, name: str, dataset: Any) -> NDArray[Any]:
        if not isinstance(dataset, h5py.Dataset):
            raise UnusableError(Verdict.FOREIGN, f"{name} is not a dataset")
        if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
            raise UnusableError(Verdict.FOREIGN, f"{name} has type {dataset.dtype}")
        if dataset.size * dataset.dtype.itemsize > _LARGEST_ARRAY:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has shape {dataset.shape}")
        self._check_extent(name, dataset)
        value = np.asarray(dataset[()])
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise UnusableError(Verdict.IMPLAUSIBLE, f"{name} has values that are not finite")
        return value

    def _check_extent(self, name: str, dataset: h5py.Dataset) -> None:
        """Raise UnusableError where values were never written, or stand behind the end of the real file."""
        ends = [0]
        if dataset.chunks is None:
            offset = dataset.id.get_offset()
            if offset is not None:
                ends.append(offset + dataset.id.get_storage_size())
        else:
            dataset.id.chunk_iter(lambda chunk: ends.append(chunk.byte_offset + chunk.size))
        if dataset.size and dataset.id.get_storage_size() == 0:
            raise UnusableError(Verdict.INCOMPLETE, f"{name} was never written")
        if max(ends) > self._asked.real_size:
            raise UnusableError(
                Verdict.TRUNCATED, f"{name} ends at byte {max(ends)} of {self._asked.real_size}"
            )

    # --- tables

    def _send_table(self, file: h5py.File, root: Mapping[str, Attribute]) -> None:
        """Send the rows of a table without its seal, some at a time."""
        if (version := root.get("format_version", FORMAT_VERSION)) != FORMAT_VERSION:
            raise UnusableError(Verdict.FOREIGN, f"a table of format version {version}, not {FORMAT_VERSION}")
        known = [Schema.from_json(entry) for entry in json.loads(str(root["schemas"]))]
        paths = column_paths(known)
        datasets = {}
        for path in sorted(own_columns(paths)):
            with contextlib.suppress(KeyError, RuntimeError):  # rows that need a lost column are findings
                datasets[path] = _member(file, path.encode())
        count = len(datasets["key"])
        width = max(1, sum(math.prod(one.shape[1:]) * one.dtype.itemsize for one in datasets.values()))
        if width > _LARGEST_ARRAY:
            raise UnusableError(Verdict.IMPLAUSIBLE, f"its rows have {width} bytes")
        step = max(1, min(_MOST_ROWS, self._asked.batch_bytes // width))
        for start in range(0, count, step):
            rows = slice(start, min(start + step, count))
            try:
                columns = {path: column_values(dataset, rows) for path, dataset in datasets.items()}
                self._send_rows(columns, known, paths)
            except UnusableError as error:
                self._note(error.verdict, error.detail)
            except LIBRARY_ERRORS as error:
                self._note(Verdict.INCOMPLETE, f"rows {rows.start} to {rows.stop - 1}: {reason(error)}")

    def _send_rows(self, columns: Mapping[str, NDArray[Any]], known: list[Schema], paths: Paths) -> None:
        """Send each row by the schema that it names, or by any other one that its checksum confirms."""
        codes = np.clip(columns["schema"], 0, len(known) - 1)
        left = np.ones(len(codes), bool)
        for code, members in runs(codes):
            left[members] = ~self._send_intact(table_segment(known[code], paths, columns, members))
        for schema in known if left.any() else ():
            members = np.flatnonzero(left)
            left[members] = ~self._send_intact(table_segment(schema, paths, columns, members))
        for key in columns["key"][left].tolist():
            self._note(Verdict.CHECKSUM if key else Verdict.INCOMPLETE, "", key.decode(errors="replace"))

    def _send_intact(self, segment: Segment) -> BoolArray:
        """Send the rows whose checksum holds; return which they are."""
        intact = segment.intact()
        for piece in pieces(segment.take(intact), self._asked.batch_bytes):
            self._send(shard_bytes([Segment(piece.schema, piece.rows.copy())]))
        return intact


_NAMELESS = "its key is lost, so that it cannot be compared"


def reason(error: BaseException) -> str:
    """Return an error of the library in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def spelled_key(naming: str, attributes: Mapping[str, Attribute]) -> str:
    """Return the key that a record's attributes spell, as ``str.format`` does; empty when they do not."""
    try:
        return string.Formatter().vformat(naming, (), attributes)
    except (LookupError, ValueError, TypeError, AttributeError):
        return ""


def _member(group: h5py.Group, stored: bytes) -> Any:
    """Return the object of this name; UnusableError if it leads to another file."""
    name, links = stored.decode(errors="backslashreplace"), group.id.links
    if links.get_info(stored).type == h5py.h5l.TYPE_EXTERNAL:  # ``Group.get`` takes no name that is not UTF-8
        other = links.get_val(stored)[0].decode(errors="backslashreplace")
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is an external link to {other}")
    found = group[stored]
    if isinstance(found, h5py.Dataset) and (found.is_virtual or found.external):
        what = "is a virtual dataset" if found.is_virtual else f"has its data in {found.external[0][0]}"
        raise UnusableError(Verdict.ELSEWHERE, f"{name} {what}")
    return found
