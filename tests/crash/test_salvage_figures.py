"""How much is saved from worker files that were cut or left marked as open, against a plain open.

A record counts as present when every byte that HDF5 reads to get at it, starting from its own group, lies
before the cut. Those bytes are found by watching the library read each group of the whole file.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.crash.tools import FULL, tell
from tests.store.examples import NAMING, foreign_file, rescued
from vindeby.store.foreign.guard import Guard
from vindeby.store.foreign.search import group_addresses
from vindeby.store.foreign.superblock import lookup3_bytes, patched_superblock, read_superblock

pytestmark = pytest.mark.timeout(7200 if FULL else 1200)

RECORDS = 20


class Watched(io.BytesIO):
    """A file in memory that remembers how far it was read, apart from the superblock."""

    furthest = 0

    def readinto(self, buffer: Any) -> int:
        start = self.tell()
        got = super().readinto(buffer)
        if start >= 96:
            self.furthest = max(self.furthest, start + got)
        return got


def needed_bytes(data: bytes) -> dict[str, int]:
    """For each record, how much of the file must be there."""
    block = read_superblock(data)
    assert block is not None
    needed = {}
    with tempfile.TemporaryFile() as whole:
        whole.write(data)
        whole.flush()
        addresses = group_addresses(whole.fileno())
    for address in addresses:
        head = patched_superblock(data[:4096], block, root=address)
        watched = Watched(head + data[4096:])
        with h5py.File(watched, "r") as file:
            if "layout" not in file:
                continue
            for name in file:
                file[name][()]
            attributes = {name: file.attrs[name] for name in file.attrs}
        needed[NAMING.format(**attributes)] = watched.furthest
    assert len(needed) == RECORDS
    return needed


def plainly_readable(path: Path) -> int:
    """How many records a plain h5py script gets."""
    count = 0
    try:
        with h5py.File(path, "r") as file:
            for name in file:
                if name != "init":
                    file[name]["layout"][()], file[name]["aep"][()]
                    count += 1
    except (OSError, RuntimeError, KeyError):
        pass
    return count


@pytest.mark.parametrize("libver", [None, "latest"], ids=["earliest", "latest"])
def test_nearly_everything_that_is_there_is_saved_from_cut_files(libver: str | None, tmp_path: Path) -> None:
    whole = tmp_path / "whole.h5"
    foreign_file(whole, range(RECORDS), libver=libver)
    data = whole.read_bytes()
    needed = needed_bytes(data)
    offsets = np.linspace(1, len(data) - 1, 200 if FULL else 14).astype(int)
    present = saved = plain = 0
    with Guard() as guard:
        for offset in offsets:
            path = tmp_path / "cut.h5"
            path.write_bytes(data[:offset])
            there = {key for key, end in needed.items() if end <= offset}
            _, found = rescued(path, guard)
            for key, record in found.items():
                seed = int(key.rsplit("_s", 1)[1])
                np.testing.assert_array_equal(record.layout, np.arange(132.0).reshape(2, 66) + seed)
                assert record.aep == 100.0
            present += len(there)
            saved += len(there & found.keys())
            plain += plainly_readable(path)
            assert path.read_bytes() == data[:offset]
    tell(
        f"{libver}: {present} records present in {len(offsets)} cuts, {saved} saved, {plain} by a plain open"
    )
    assert present > 50
    assert saved >= 0.95 * present
    assert plain < 0.2 * present


@pytest.mark.parametrize("cut", [1.0, 0.7])
def test_files_left_marked_as_open_are_saved(cut: float, tmp_path: Path) -> None:
    whole = tmp_path / "whole.h5"
    foreign_file(whole, range(RECORDS), libver="latest")
    data = bytearray(whole.read_bytes())
    data[11] |= 0b101
    data[44:48] = lookup3_bytes(bytes(data[:44])).to_bytes(4, "little")
    path = tmp_path / "marked.h5"
    path.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(OSError, match=r"already open for write|truncated"):
        h5py.File(path, "r")
    there = {key for key, end in needed_bytes(whole.read_bytes()).items() if end <= path.stat().st_size}
    with Guard() as guard:
        _, found = rescued(path, guard)
    assert len(there & found.keys()) >= 0.95 * len(there)
    assert len(there) == RECORDS or cut < 1


@pytest.mark.core
def test_a_file_whose_signature_is_gone_is_saved_too(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    foreign_file(path, range(RECORDS))
    path.write_bytes(bytes(48) + path.read_bytes()[48:])
    assert plainly_readable(path) == 0
    with Guard() as guard:
        saved, found = rescued(path, guard)
    assert len(found) == RECORDS
    assert saved.findings[0].verdict.value == "no HDF5 signature"
