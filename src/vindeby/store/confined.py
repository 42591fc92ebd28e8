"""Objects of an HDF5 file that lie in the file itself; anything that leads to another file is refused by name.

An HDF5 file can name other files: external links, external storage of a dataset, virtual datasets. The library
follows them without a word, so that a file from a stranger could have any file of this machine read, or have a
reader wait for ever on a named pipe. So every link is looked at before it is followed, and every dataset before
anything is read from it; and while a file is read, this process cannot open another one at all.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from typing import Any

import h5py

from vindeby.store.inspect import Verdict

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


def member(group: h5py.Group, name: str, followed: int = 0) -> Any:
    """The object of this name, if its data lie in this file; a soft link is followed as long as it stays here."""
    kind = group.id.links.get_info(name.encode(errors="surrogateescape")).type
    if kind == h5py.h5l.TYPE_SOFT:
        return _target(group, name, str(group.get(name, getlink=True).path), followed + 1)
    if kind == h5py.h5l.TYPE_EXTERNAL:
        file = group.get(name, getlink=True).filename
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is an external link to {file}")
    if kind != h5py.h5l.TYPE_HARD:
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is a link of an unknown kind")
    found = group[name]
    if isinstance(found, h5py.Dataset):
        _check_dataset(name, found)
    return found


def reach(group: h5py.Group, path: str, followed: int = 0) -> Any:
    """The object at the end of a path with several steps."""
    found: Any = group.file["/"] if path.startswith("/") else group
    for step in (part for part in path.split("/") if part not in {"", "."}):
        if not isinstance(found, h5py.Group):
            raise KeyError(path)
        found = member(found, step, followed)
    return found


def _target(group: h5py.Group, name: str, path: str, followed: int) -> Any:
    if followed > _MOST_LINKS:
        raise UnusableError(Verdict.FOREIGN, f"{name} is a soft link that leads in circles")
    try:
        return reach(group, path, followed)
    except UnusableError as error:
        detail = f"{name} is a soft link to {path}: {error.detail}"
        raise UnusableError(error.verdict, detail[:1000]) from None


def _check_dataset(name: str, dataset: h5py.Dataset) -> None:
    """Before its shape is asked for: that alone makes the library open the sources of a virtual dataset."""
    made = dataset.id.get_create_plist()
    if made.get_layout() == h5py.h5d.VIRTUAL:
        raise UnusableError(Verdict.ELSEWHERE, f"{name} is a virtual dataset")
    if made.get_external_count():
        file = made.get_external(0)[0].decode(errors="replace")
        raise UnusableError(Verdict.ELSEWHERE, f"{name} has its data in {file} (external storage)")
