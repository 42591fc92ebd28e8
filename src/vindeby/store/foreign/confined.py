"""Objects of an HDF5 file that lie in the file itself; anything that leads to another file is refused by name.

An HDF5 file can name other files: external links, external storage of a dataset, virtual datasets. The library
follows them without a word, so that a file from a stranger could have any file of this machine read, or have a
reader wait for ever on a named pipe. So every link is looked at before it is followed, and every dataset before
anything is read from it; and while a file is read, this process cannot open another one at all.
"""

import contextlib
import json
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

from vindeby.arrays import BoolArray
from vindeby.store.foreign.guard import Asked
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment, pieces
from vindeby.store.format.shard import shard_bytes

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


def reason(error: BaseException) -> str:
    """An error of the library in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def readable(data: bytes) -> str:
    """Return a name or text of HDF5; bytes that are not UTF-8, as other programs write them, are spelled out."""
    return data.decode(errors="backslashreplace")


def names_of(holder: Any) -> dict[str, bytes]:
    """Return the names in a group or among attributes as text, each with the bytes that h5py opens it by."""
    stored = (name if isinstance(name, bytes) else name.encode() for name in holder)
    return {readable(name): name for name in stored}


def plain(value: Any) -> Attribute:
    """An attribute as h5py gives it, as a plain value; anything but a scalar becomes JSON text."""
    if isinstance(value, h5py.Empty) and value.dtype.kind in "SO":
        return ""  # how PyTables writes a text of no length
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else json.dumps(value.tolist(), default=str)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = value.encode(errors="surrogateescape")
    if isinstance(value, bytes):
        return readable(value)
    return value if isinstance(value, int | float | bool) else str(value)


_SHORTEST = 64
_LONGEST_TEXT = 1000

Send = Callable[[bytes], None]


class SpentError(Exception):
    """A file gives more than it may; what was read so far counts."""


@dataclass
class Answer:
    """What the child says about a file: records go out as images of shards, findings are collected up to a number."""

    asked: Asked
    result: Send
    findings: list[Finding] = field(default_factory=list)
    left_out: int = 0
    _spent: int = 0

    def spend(self, size: int) -> None:
        """So many bytes are about to be read or sent; SpentError when there are not as many left."""
        self._spent += size + _SHORTEST
        if self._spent > self.asked.result_bytes:
            raise SpentError

    def note_spent(self) -> None:
        """Say that the file gives more than it may."""
        what = f"it gives more than {self.asked.result_bytes} bytes of results, too many for its size"
        self.note(Verdict.IMPLAUSIBLE, f"{what}; the rest is left out")

    def note(self, verdict: Verdict, detail: str = "", key: str = "") -> None:
        """One finding; beyond a number they are only counted."""
        if len(self.findings) < self.asked.most_findings:
            self.findings.append(Finding(verdict, detail[:_LONGEST_TEXT], key[:_LONGEST_TEXT]))
        else:
            self.left_out += 1

    def intact(self, segment: Segment) -> BoolArray:
        """Send the rows whose checksum holds, as results; which they are."""
        intact = segment.intact()
        for piece in pieces(segment.take(intact), self.asked.batch_bytes):
            self.spend(piece.rows.nbytes)
            self.result(shard_bytes([Segment(piece.schema, piece.rows.copy())]))
        return intact

    def damaged(self, damaged: Segment) -> None:
        """Note rows whose checksum does not hold, each by its key."""
        named = damaged.rows["key"] != b""
        for key in damaged.rows["key"][named].tolist():
            self.note(Verdict.CHECKSUM, "", key.decode(errors="replace"))
        if not named.all():
            self.note(Verdict.INCOMPLETE, f"{int((~named).sum())} rows without a key")

    def close(self) -> list[dict[str, str]]:
        """The findings, and how many more there were."""
        if self.left_out:
            rest = Finding(Verdict.INCOMPLETE, f"{self.left_out} more findings are not listed")
            return [finding.to_json() for finding in [*self.findings, rest]]
        return [finding.to_json() for finding in self.findings]


_MOST_LINKS = 16


class UnusableError(Exception):
    """A record that cannot be used, with the verdict."""

    def __init__(self, verdict: Verdict, detail: str = "") -> None:
        super().__init__(detail)
        self.verdict = verdict
        self.detail = detail


@contextlib.contextmanager
def no_more_files() -> Iterator[None]:
    """This process cannot open a file; those that are open can be read. A second line, should a check miss one."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def member(group: h5py.Group, stored: bytes, followed: int = 0) -> Any:
    """The object of this name, if its data lie in this file; a soft link is followed as long as it stays here."""
    kind, name = group.id.links.get_info(stored).type, readable(stored)
    if kind == h5py.h5l.TYPE_SOFT:
        return _target(group, name, group.id.links.get_val(stored), followed + 1)
    if kind == h5py.h5l.TYPE_EXTERNAL:
        file = readable(group.id.links.get_val(stored)[0])
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is an external link to {file}")
    if kind != h5py.h5l.TYPE_HARD:
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is a link of an unknown kind")
    found = group[stored]
    if isinstance(found, h5py.Dataset):
        _check_dataset(name, found)
    return found


def reach(group: h5py.Group, path: bytes, followed: int = 0) -> Any:
    """The object at the end of a path with several steps."""
    found: Any = group.file["/"] if path.startswith(b"/") else group
    for step in (part for part in path.split(b"/") if part not in {b"", b"."}):
        if not isinstance(found, h5py.Group):
            raise KeyError(readable(path))
        found = member(found, step, followed)
    return found


def _target(group: h5py.Group, name: str, path: bytes, followed: int) -> Any:
    if followed > _MOST_LINKS:
        raise UnusableError(Verdict.FOREIGN, f"{name} is a soft link that leads in circles")
    try:
        return reach(group, path, followed)
    except UnusableError as error:
        detail = f"{name} is a soft link to {readable(path)}: {error.detail}"
        raise UnusableError(error.verdict, detail[:1000]) from None


def _check_dataset(name: str, dataset: h5py.Dataset) -> None:
    """Refuse external data before the shape is read, which alone opens the sources of a virtual dataset."""
    made = dataset.id.get_create_plist()
    if made.get_layout() == h5py.h5d.VIRTUAL:
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is a virtual dataset")
    if made.get_external_count():
        file = readable(made.get_external(0)[0])
        raise UnusableError(Verdict.ELSEWHERE, f"{name} has its data in {file} (external storage)")
