"""A path that is no regular file is refused at once, and never opened."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import vindeby
from tests.store.examples import foreign_file, publish, record
from vindeby.errors import InputError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.superblock import probe
from vindeby.store.format.finding import Verdict
from vindeby.store.format.seal import SealedFile
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database, open_database
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate


def _pipe(path: Path) -> str:
    os.mkfifo(path)
    return "a named pipe"


def _socket(path: Path) -> str:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))  # the name of a socket must be short
    return "a socket"


def _device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "a character device"


def _folder(path: Path) -> str:
    path.mkdir()
    return "folder"


MAKE: dict[str, Callable[[Path], str]] = {
    "pipe": _pipe,
    "socket": _socket,
    "device": _device,
    "folder": _folder,
}


@pytest.fixture(params=MAKE)
def special(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, str]:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "special.h5"
    return path, MAKE[request.param](path)


def test_what_is_no_regular_file_is_refused_without_opening_it(
    special: tuple[Path, str], tmp_path: Path
) -> None:
    path, kind = special
    with pytest.raises(InputError, match=kind):
        validate(path)
    with pytest.raises(InputError, match=kind):
        open_database(path)
    with pytest.raises(InputError, match=kind):
        merge(path)
    with pytest.raises(InputError, match=kind):
        merge(tmp_path / "out.h5", MergeOptions(extra=[path]))
    if not path.is_dir():
        with pytest.raises(InputError, match=kind):
            salvage([path], tmp_path / "new.h5")
    assert not (tmp_path / "new.h5").exists()
    finding = probe(path).finding
    assert finding is not None
    assert finding.verdict is Verdict.CANNOT_OPEN
    with pytest.raises(OSError, match="not a regular file"):
        SealedFile.open(path)


@pytest.mark.parametrize(
    "words", [["validate"], ["missing"], ["merge"], ["show"], ["salvage", "-o", "new.h5"]]
)
def test_every_command_refuses_a_named_pipe_with_exit_status_2(words: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.h5")
    more = ["key"] if words == ["show"] else []
    done = vindeby(tmp_path, *words, "pipe.h5", *more, timeout_s=50.0)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pipe.h5: this is a named pipe (FIFO), not a regular file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_named_pipe_among_shards_is_a_finding(run: RunDirectory) -> None:
    shard = publish(run, [record(1)]).path
    pipe = shard.with_name("000007.shard")
    os.mkfifo(pipe)
    with Database(run.output) as database:
        assert dict(database) == {record(1).key: record(1)}
        assert "named pipe" in str(database.findings[pipe][0])
    report = validate(run.output)
    assert [(issue.file, "named pipe" in issue.what) for issue in report.issues] == [(str(pipe), True)]


def test_a_named_pipe_in_a_folder_is_listed_and_the_rest_is_salvaged(tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    foreign_file(folder / "a.h5", range(3))
    os.mkfifo(folder / "b.h5")
    (folder / "c.h5").symlink_to("nowhere")
    report = salvage([folder], tmp_path / "new.h5")
    assert report.records == 3
    assert not report.complete
    assert [[str(finding) for finding in saved.findings] for saved in report.files[1:]] == [
        ["cannot be opened: it is a named pipe (FIFO), not a regular file"],
        ["missing"],
    ]
