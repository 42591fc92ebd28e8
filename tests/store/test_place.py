"""Where a database stands: symbolic links are followed once, and what cannot be a database is refused."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.examples import contents, publish, records
from vindeby.errors import ArgumentError
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.files import check_output
from vindeby.store.disk.output_file import write_file
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.salvage import salvage


def to_an_existing_file(folder: Path) -> Path:
    publish(RunDirectory(folder / "real" / "target.h5"), records(2))
    merge(folder / "real" / "target.h5")
    return link(folder / "link.h5", "real/target.h5")


def dangling(folder: Path) -> Path:
    return link(folder / "link.h5", folder / "real" / "target.h5")


def by_two_links(folder: Path) -> Path:
    link(folder / "second.h5", "real/target.h5")
    return link(folder / "link.h5", folder / "second.h5")


def through_a_linked_folder(folder: Path) -> Path:
    link(folder / "linked folder", "real")
    link(folder / "real" / "inner.h5", "target.h5")
    return folder / "linked folder" / "inner.h5"


def link(path: Path, target: Path | str) -> Path:
    path.symlink_to(target)
    return path


LINKS = [to_an_existing_file, dangling, by_two_links, through_a_linked_folder]


@pytest.mark.parametrize("make", LINKS)
@pytest.mark.parametrize("relative", [False, True])
def test_a_database_that_is_a_symbolic_link_is_the_file_that_it_leads_to(
    tmp_path: Path, make: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch, relative: bool
) -> None:
    (tmp_path / "real").mkdir()
    output = make(tmp_path)
    if relative:
        monkeypatch.chdir(tmp_path)
        output = output.relative_to(tmp_path)
    publish(RunDirectory(output), records(3, start=10))
    assert merge(output).records >= 3
    assert output.is_symlink()
    target = tmp_path / "real" / "target.h5"
    assert target.is_file()
    assert contents(target).keys() == contents(output).keys()
    assert (tmp_path / "real" / "target.h5.run").is_dir()
    runs = [path for path in tmp_path.rglob("*.run") if not path.parent.is_symlink()]
    assert [path.name for path in runs] == ["target.h5.run"]
    with RunDirectory(output).lock("merge") as lock, pytest.raises(Exception, match="holds it"):
        merge(target, MergeOptions())
    assert not lock.is_lost


def test_what_looks_at_a_link_sees_the_run_of_its_target(tmp_path: Path) -> None:
    publish(RunDirectory(tmp_path / "target.h5"), records(3))
    link(tmp_path / "link.h5", "target.h5")
    with Database(tmp_path / "link.h5") as database:
        assert len(database) == 3
    assert ResultSet(tmp_path / "link.h5").look().done == 3


def test_salvage_into_a_link_makes_the_file_that_it_leads_to(tmp_path: Path) -> None:
    publish(RunDirectory(tmp_path / "old.h5"), records(3))
    merge(tmp_path / "old.h5")
    link(tmp_path / "link.h5", "new.h5")
    assert salvage([tmp_path / "old.h5"], tmp_path / "link.h5").records == 3
    assert (tmp_path / "link.h5").is_symlink()
    assert len(contents(tmp_path / "new.h5")) == 3


def test_a_written_page_keeps_the_link_that_it_was_named_by(tmp_path: Path) -> None:
    link(tmp_path / "page.html", "real.html")
    write_file(tmp_path / "page.html", b"text")
    assert (tmp_path / "page.html").is_symlink()
    assert (tmp_path / "real.html").read_bytes() == b"text"


def test_a_new_file_never_replaces_one_that_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process makes a file of that name between the last look and the rename."""
    path = tmp_path / "table.csv"

    def late(really: Callable[..., Any]) -> Callable[..., Any]:
        def call(source: Path, target: Path) -> Any:
            path.write_text("of another process")
            return really(source, target)

        return call

    monkeypatch.setattr(os, "link", late(os.link))
    monkeypatch.setattr(Path, "replace", late(Path.replace))
    with pytest.raises(ArgumentError, match="made by another process"):
        write_file(path, b"mine", replace=False)
    assert path.read_text() == "of another process"
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]


def test_a_new_file_is_written_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"

    def refuse(*_: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write_file(path, b"mine", replace=False)
    assert path.read_bytes() == b"mine"
    with pytest.raises(ArgumentError, match="exists and is left as it is"):
        write_file(path, b"another", replace=False)
    assert path.read_bytes() == b"mine"
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def unix_socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda _: Path("/dev/null"), "this is a character device"),
        (
            lambda path: link(path, "/dev/null"),
            r"out.h5 \(a symbolic link to /dev/null\): this is a character device",
        ),
        (fifo, "this is a named pipe"),
        (unix_socket, "is a socket"),
        (folder, "is a folder; name a file in it"),
        (lambda path: link(path, path.name), "is a symbolic link that leads to itself"),
        (lambda path: path.parent / ("n" * 300), "the name has 300 bytes, more than the 191"),
        (lambda path: path.parent / ("ø" * 100), "the name has 200 bytes"),
        (
            lambda path: path.parent / "/".join(["folder"] * 600) / "out.h5",
            "File name too long; choose another name with -o",
        ),
        (
            lambda path: path.parent / os.fsdecode(b"\xff\xfe.h5"),
            r"\\xff\\xfe.h5: the name is not valid UTF-8",
        ),
        (lambda path: path.parent / os.fsdecode(b"\xff") / "out.h5", "not valid UTF-8"),
        (lambda path: path.parent / "file" / "out.h5", "is not a folder"),
    ],
)
def test_what_cannot_become_a_database_is_refused(
    tmp_path: Path, make: Callable[[Path], Path], what: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArgumentError, match=what) as caught:
        check_output(make(tmp_path / "out.h5"))
    assert "-o" in str(caught.value) or "name a file in it" in str(caught.value)
    str(caught.value).encode()


def test_the_longest_name_that_is_accepted_leaves_room_for_every_name_beside_it(tmp_path: Path) -> None:
    """Also when the database is damaged and goes to quarantine, twice."""
    output = tmp_path / f"{'n' * 188}.h5"
    run = RunDirectory(check_output(output))
    for turn in range(3):
        publish(run, records(2, start=10 * turn))
        merge(output, MergeOptions(on_bad="skip"))
        whole = output.read_bytes()
        output.write_bytes(whole[: len(whole) // 2])
    assert len([path for path in run.quarantine.iterdir() if path.suffix == ".h5"]) == 2
