"""A file system that has room for bytes but for no more files says so."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.crash.test_full_disk import on_small_disk
from tests.crash.tools import acknowledged, assert_nothing_lost, command
from tests.store.examples import publish, records
from vindeby.store.disk.files import storage_error
from vindeby.store.disk.run_directory import RunDirectory


def test_publishing_without_inodes_names_them_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    arguments = command("publish", tmp_path / "mount" / "out.h5")
    status, output, messages, disk = on_small_disk(tmp_path, "20m,nr_inodes=10", None, arguments)
    assert "Traceback" not in messages
    assert status == 1
    assert (
        "No space left on device; out of inodes: 0 of the 10 files (inodes) that it can hold are left"
        in messages
    )
    assert "delete files there that nobody needs" in messages
    assert acknowledged(output)
    assert_nothing_lost(disk / "out.h5", acknowledged(output))


def test_merging_without_inodes_names_them(tmp_path: Path) -> None:
    start = tmp_path / "start"
    start.mkdir()
    publish(RunDirectory(start / "out.h5"), records(4))
    used = len(list(start.rglob("*"))) + 1
    arguments = command("merge", tmp_path / "mount" / "out.h5", "classic")
    status, _, messages, disk = on_small_disk(tmp_path, f"20m,nr_inodes={used + 3}", start, arguments)
    assert "Traceback" not in messages
    assert status == 1
    assert "out of inodes" in messages
    assert len(RunDirectory(disk / "out.h5").shard_paths()) == 1


def test_only_a_file_system_that_counts_its_inodes_and_has_none_left_is_out_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    there = os.statvfs(tmp_path)
    for files, left, expected in [(1000, 0, True), (1000, 500, False), (0, 0, False)]:
        values = list(there)
        values[5], values[6], values[7] = files, left, left
        monkeypatch.setattr(os, "statvfs", lambda _, values=values: os.statvfs_result(values))
        message = str(storage_error(full, tmp_path / "file", 16_000, 1))
        assert ("out of inodes" in message) == expected
        assert ("16,000 are needed" if expected else "bytes are free, more are needed") in message
        assert "after 1 attempts" not in message
