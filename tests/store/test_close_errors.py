"""A disk that reports an error only when a file is closed, as network file systems do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.store.examples import contents, publish, records
from vindeby.errors import StorageError
from vindeby.store.disk.events import EventLog
from vindeby.store.disk.files import CarefulFile, Files, Retry
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge


def fail_to_close(monkeypatch: pytest.MonkeyPatch, part_of_name: str) -> list[str]:
    """From now on closing a file whose name holds this text fails, although it is closed; which ones did."""
    failed: list[str] = []
    close = os.close

    def failing(descriptor: int) -> None:
        try:
            name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        except OSError:
            name = ""
        close(descriptor)
        if part_of_name in name:
            failed.append(name)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "close", failing)
    return failed


@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_a_new_database_that_cannot_be_closed_is_an_error_that_names_it_and_changes_nothing(
    run: RunDirectory, file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(run, records(3))
    merge(run.output, MergeOptions(file_format=file_format))
    publish(run, records(3, start=10))
    failed = fail_to_close(monkeypatch, ".merge-")
    with pytest.raises(StorageError, match=r"out\.h5: cannot write: Input/output error.*safe"):
        merge(run.output)
    monkeypatch.undo()
    assert len(failed) == 1
    assert len(contents(run.output)) == 6
    assert list(run.output.parent.glob(".out.h5.merge*")) == []
    assert merge(run.output).records == 6


def test_a_shard_that_cannot_be_closed_is_written_anew_and_at_last_an_error_that_names_it(
    run: RunDirectory,
) -> None:
    class Failing(Files):
        def close(self, descriptor: int) -> None:
            super().close(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    writer = ShardWriter(run, files=Failing(), retry=Retry(3, 0.0))
    with pytest.raises(
        StorageError, match=r"00000\d\.shard: cannot write after 3 attempts: Input/output error"
    ):
        writer.publish(records(2))
    assert run.shard_paths() == []


def test_an_event_log_that_cannot_be_closed_does_not_end_a_run(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(run)
    log.write("run started")
    failed = fail_to_close(monkeypatch, ".jsonl")
    log.close()
    assert len(failed) == 1


def test_a_position_that_no_file_can_have_is_an_error_only_when_it_is_asked_for(tmp_path: Path) -> None:
    with CarefulFile(tmp_path / "a") as file:
        assert file.seek((1 << 63) - 1) == file.tell()
        assert (file.write(memoryview(b"ab")), file.tell()) == (2, (1 << 63) + 1)
        with pytest.raises(OSError, match=r"too large|Invalid"):
            file.check()
        file._error = None
        assert file.seek(0, os.SEEK_END) == 0
