from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.store.examples import contents, publish, record, records
from vindeby.errors import ArgumentError, StorageError
from vindeby.store.disk.files import Files, Retry
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import SHARDS_PER_DIRECTORY, ShardWriter
from vindeby.store.read.database import Database

QUICK = Retry(attempts=3, first_wait_s=0.0)


def test_a_published_batch_is_read_back_equal(run: RunDirectory) -> None:
    batch = records(25)
    receipt = publish(run, batch)
    assert set(receipt.keys) == {one.key for one in batch}
    assert receipt.path.stat().st_size == receipt.size
    assert contents(run.output) == {one.key: one for one in batch}


def test_a_forked_writer_takes_names_of_its_own(run: RunDirectory) -> None:
    writer = ShardWriter(run)
    writer.publish([record(1)])
    pid = os.fork()
    if pid == 0:
        writer.publish([record(2)])
        os._exit(0)
    os.waitpid(pid, 0)
    writer.publish([record(3)])
    assert len(run.shard_paths()) == 3
    assert len(contents(run.output)) == 3


def test_two_writers_of_one_process_do_not_overwrite_each_other(run: RunDirectory) -> None:
    first, second = ShardWriter(run), ShardWriter(run)
    one, two = first.publish([record(1)]), second.publish([record(2)])
    assert one.path != two.path
    assert set(contents(run.output)) == {"farm0_t1_s1", "farm0_t1_s2"}


def test_directories_fan_out(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vindeby.store.format.shard.SHARDS_PER_DIRECTORY", 3)
    writer = ShardWriter(run)
    for seed in range(10):
        writer.publish([record(seed)])
    sizes = [len(list(folder.iterdir())) for folder in run.shards.iterdir()]
    assert max(sizes) == 3
    assert len(contents(run.output)) == 10
    assert SHARDS_PER_DIRECTORY <= 5000


@pytest.mark.parametrize("batch", [[], [record(1), record(1)]])
def test_nothing_and_a_key_twice_are_refused(run: RunDirectory, batch: list[object]) -> None:
    with pytest.raises(ArgumentError):
        ShardWriter(run).publish(batch)  # type: ignore[arg-type]
    assert run.shard_paths() == []


class Failing(Files):
    """Fails a step a number of times."""

    def __init__(self, step: str, number: int, times: int) -> None:
        self.step, self.number, self.left = step, number, times
        self.created: list[Path] = []
        self.synced: list[int] = []

    def _maybe(self, step: str) -> None:
        if step == self.step and self.left:
            self.left -= 1
            raise OSError(self.number, os.strerror(self.number))

    def create(self, path: Path) -> int:
        self._maybe("create")
        self.created.append(path)
        return super().create(path)

    def write(self, descriptor: int, data: memoryview) -> int:
        self._maybe("write")
        return super().write(descriptor, data[:1000])

    def fsync(self, descriptor: int) -> None:
        self.synced.append(descriptor)
        self._maybe("fsync")
        super().fsync(descriptor)

    def close(self, descriptor: int) -> None:
        super().close(descriptor)
        self._maybe("close")

    def digest(self, path: Path) -> bytes:
        data = super().digest(path)
        if self.step == "digest" and self.left:
            self.left -= 1
            return b"other"
        return data

    def rename(self, source: Path, target: Path) -> None:
        self._maybe("rename")
        super().rename(source, target)
        self._maybe("late rename")

    def fsync_directory(self, path: Path) -> None:
        self._maybe("fsync_directory")
        super().fsync_directory(path)


STEPS = ["create", "write", "fsync", "close", "digest", "rename", "late rename", "fsync_directory"]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE])
@pytest.mark.parametrize("step", STEPS)
def test_a_disk_that_fails_for_a_while_is_tried_again(run: RunDirectory, step: str, number: int) -> None:
    files = Failing(step, number, 2)
    ShardWriter(run, files=files, retry=QUICK).publish(records(5))
    assert len(contents(run.output)) == 5
    assert run.temporary_paths() == []


def test_an_fsync_that_failed_is_never_tried_again_on_the_same_file(run: RunDirectory) -> None:
    files = Failing("fsync", errno.EIO, 2)
    ShardWriter(run, files=files, retry=QUICK).publish(records(2))
    assert len(files.created) == 3
    assert len(set(files.created)) == 3
    assert len(files.synced) == 3


@pytest.mark.parametrize("step", [step for step in STEPS if step != "late rename"])
def test_a_disk_that_stays_full_gives_a_clear_error_and_keeps_what_was_acknowledged(
    run: RunDirectory, step: str
) -> None:
    publish(run, records(3))
    writer = ShardWriter(run, files=Failing(step, errno.ENOSPC, 99), retry=QUICK)
    with pytest.raises(StorageError) as caught:
        writer.publish(records(2, start=50))
    message = str(caught.value)
    assert "after 3 attempts" in message
    assert "everything acknowledged so far is safe" in message
    if step != "digest":
        assert "are needed" in message
        assert "No space left on device" in message
        assert "make room there" in message
    assert contents(run.output).items() >= {one.key: one for one in records(3)}.items()
    assert run.temporary_paths() == []


def test_a_rename_whose_success_was_reported_as_failure_is_recognised(run: RunDirectory) -> None:
    files = Failing("late rename", errno.EIO, 1)
    ShardWriter(run, files=files, retry=Retry(attempts=1)).publish([record(1)])
    assert len(run.shard_paths()) == 1


def test_a_permission_error_is_not_tried_again(run: RunDirectory) -> None:
    files = Failing("create", errno.EACCES, 99)
    with pytest.raises(StorageError, match="Permission denied"):
        ShardWriter(run, files=files, retry=QUICK).publish([record(1)])
    assert files.left == 98


def test_temporary_files_of_the_dead_are_known(run: RunDirectory) -> None:
    path = publish(run, [record(1)]).path
    mine = path.with_name(f".000007.{_started()}.tmp")
    mine.write_bytes(b"half")
    assert run.abandoned_paths() == []
    dead = path.with_name(".000008.1.tmp")
    dead.write_bytes(b"half")
    assert run.abandoned_paths() == [dead]


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.ESTALE])
def test_a_directory_that_cannot_be_listed_does_not_count_as_empty(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = publish(run, records(2)).path
    fail_to_list(path.parent, number, monkeypatch)
    for listed in (run.shard_paths, run.shard_names, lambda: Database(run)):
        with pytest.raises(OSError, match=os.strerror(number)):
            listed()


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENOTDIR])
def test_a_directory_that_is_gone_when_it_is_listed_has_no_shards(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = publish(run, records(2)).path
    other = publish(run, records(2, start=10)).path
    fail_to_list(path.parent, number, monkeypatch)
    assert run.shard_paths() == ([] if other.parent == path.parent else [other])


def fail_to_list(folder: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.scandir

    def scandir(path: str | Path = ".") -> object:
        if Path(path) == folder:
            raise OSError(number, os.strerror(number), str(path))
        return really(path)

    monkeypatch.setattr(os, "scandir", scandir)


def _started() -> str:
    from vindeby.store.disk.process import Identity

    return Identity.current().started


def test_small_files_are_replaced_as_a_whole(run: RunDirectory) -> None:
    run.freeze_campaign("first")
    run.freeze_campaign("second")
    assert run.campaign_text() == "second"
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".")] == []


class Shortening(Files):
    """A file system that reports success for a rename and keeps only a part, once."""

    def __init__(self) -> None:
        self.shortened: list[Path] = []

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        if not self.shortened:
            self.shortened.append(target)
            os.truncate(target, 1000)


def test_a_rename_that_lost_a_part_is_noticed_before_anything_is_acknowledged(run: RunDirectory) -> None:
    files = Shortening()
    receipt = ShardWriter(run, files=files, retry=QUICK).publish(records(2))
    assert [receipt.path] != files.shortened
    assert receipt.path.stat().st_size == receipt.size
    assert set(contents(run.output)) == set(receipt.keys)
