"""A kill, or a failing disk, at every system call of publishing and of merging."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.crash.tools import (
    CALLS,
    FULL,
    acknowledged,
    assert_nothing_lost,
    command,
    count_calls,
    need_strace,
    run_plain,
    sampled,
    stopped,
    tell,
    traced,
)
from tests.store.examples import publish, records, sums
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge

pytestmark = pytest.mark.timeout(7200 if FULL else 1200)

FAULTS = {
    "kill": ("signal=SIGKILL:when={n}", 2),
    "EIO once": ("error=EIO:when={n}", 1),
    "ENOSPC from then on": ("error=ENOSPC:when={n}+", 1),
}
"""What goes wrong, and at how many places when not all are tried."""


def prepared(folder: Path) -> dict[str, str]:
    """A database with 4 records, and 3 shards beside it; what is promised."""
    run = RunDirectory(folder / "out.h5")
    publish(run, records(4))
    merge(run.output)
    for number in range(3):
        publish(run, records(4, start=10 + 4 * number))
    return sums([*records(4), *records(12, start=10)])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("template")
    return folder, prepared(folder)


@pytest.fixture(scope="module")
def publish_calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    need_strace()
    folder = tmp_path_factory.mktemp("count")
    return count_calls(command("publish", folder / "out.h5"), folder / "log")


@pytest.fixture(scope="module", params=["classic", "table"])
def merge_calls(
    request: pytest.FixtureRequest,
    template: tuple[Path, dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, dict[str, int]]:
    need_strace()
    folder = tmp_path_factory.mktemp("count")
    shutil.copytree(template[0], folder / "run")
    return request.param, count_calls(
        command("merge", folder / "run" / "out.h5", request.param), folder / "log"
    )


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", FAULTS)
def test_publishing(fault: str, call: str, publish_calls: dict[str, int], tmp_path: Path) -> None:
    inject, most = FAULTS[fault]
    points = sampled(publish_calls[call], most)
    tell(f"publishing, {fault}, {call}: {len(points)} of {publish_calls[call]} points")
    for number in points:
        folder = tmp_path / str(number)
        folder.mkdir()
        output = folder / "out.h5"
        done = traced(call, inject.format(n=number), command("publish", output), tmp_path / "log")
        assert "Traceback" not in done.stderr
        assert done.returncode in ({0, 137, -9} if fault == "kill" else {0, 1}), done.stderr
        promised = acknowledged(done.stdout)
        assert_nothing_lost(output, promised)
        if done.returncode == 0:
            assert len(promised) == 36
        again = run_plain(command("publish", output))
        assert (again.returncode, again.stderr) == (0, "")
        merge(output)
        assert_nothing_lost(output, {**promised, **acknowledged(again.stdout)})
        assert RunDirectory(output).temporary_paths() == []


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", FAULTS)
def test_merging(
    fault: str,
    call: str,
    merge_calls: tuple[str, dict[str, int]],
    template: tuple[Path, dict[str, str]],
    tmp_path: Path,
) -> None:
    inject, most = FAULTS[fault]
    file_format, calls = merge_calls
    source, promised = template
    points = sampled(calls[call], most)
    tell(f"merging, {file_format}, {fault}, {call}: {len(points)} of {calls[call]} points")
    for number in points:
        folder = tmp_path / str(number)
        shutil.copytree(source, folder)
        output = folder / "out.h5"
        done = traced(call, inject.format(n=number), command("merge", output, file_format), tmp_path / "log")
        assert "Traceback" not in done.stderr
        assert done.returncode in ({0, 137, -9} if fault == "kill" else {0, 1}), done.stderr
        assert_nothing_lost(output, promised)
        said: list[str] = []
        report = merge(output, MergeOptions(file_format=file_format, progress=said.append))
        assert [text for text in said if "merge.lock" in text] == []  # it waits for nobody
        assert [path for path in folder.rglob(".*") if path.suffix != ".h5"] == []
        assert report.records == len(promised)
        assert_nothing_lost(output, promised)
        assert RunDirectory(output).shard_paths() == []
        assert sorted(path.name for path in folder.iterdir()) == ["out.h5", "out.h5.run"]


def files_below(folder: Path) -> dict[str, bytes]:
    """What stands there, but for the lock and the notes in audit/."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and path.parent.name not in {"audit", "merge.lock"}
        and not path.name.startswith(".merge.lock.")
    }


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wakes", ["during the other merge", "after it"])
def test_a_merge_that_is_stopped_and_taken_over_changes_nothing_when_it_wakes(
    wakes: str,
    call: str,
    merge_calls: tuple[str, dict[str, int]],
    template: tuple[Path, dict[str, str]],
    tmp_path: Path,
) -> None:
    file_format, calls = merge_calls
    source, promised = template
    points = sampled(calls[call], 1)
    tell(f"merging, {file_format}, stopped and waking {wakes}, {call}: {len(points)} of {calls[call]} points")
    for number in points:
        folder, log = tmp_path / str(number), tmp_path / f"{number}.log"
        shutil.copytree(source, folder)
        output = folder / "out.h5"
        with stopped(call, number, command("merge", output, file_format), log) as wake:

            def wake_early(step: str) -> None:
                if wakes.startswith("during") and step == "verifying":
                    wake()

            merge(output, MergeOptions(file_format=file_format, take_over=True, progress=wake_early))
            assert_nothing_lost(output, promised)
            before = files_below(folder)
            status, reported = wake()
        assert "Traceback" not in reported
        # It was stopped before it took the lock or after it gave it back, or it ends because it lost it.
        assert status == 0 or (status == 1 and "merge.lock" in reported), reported
        assert files_below(folder) == before
        assert sorted(before) == ["out.h5"]
        assert not list(folder.rglob(".merge.lock.*"))
        assert_nothing_lost(output, promised)


def test_the_sweep_reaches_the_calls_that_matter(
    publish_calls: dict[str, int], merge_calls: tuple[str, dict[str, int]]
) -> None:
    assert publish_calls["write"] >= 3
    assert publish_calls["rename"] == 3
    assert publish_calls["fsync"] >= 9
    file_format, calls = merge_calls
    assert calls["pwrite64"] >= 3
    assert calls["rename"] >= 5
    assert calls["unlink"] >= 4
    assert calls["fsync"] >= 6  # the new database and its folder, and twice the audit and its folder
    if file_format == "table":
        assert calls["ftruncate"] >= 1


@pytest.mark.core
def test_a_kill_does_kill(publish_calls: dict[str, int], tmp_path: Path) -> None:
    arguments = command("publish", tmp_path / "out.h5")
    done = traced("rename", "signal=SIGKILL:when=2", arguments, tmp_path / "log")
    assert done.returncode in {137, -9}
    assert len(acknowledged(done.stdout)) == 12
