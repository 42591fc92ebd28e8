"""Of processes that need the same machine code, one compiles and the others wait; nothing makes them wait for ever."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest
from numba.core.compiler_lock import global_compiler_lock

from vindeby.wake.compiling import compiled
from vindeby.wake.compiling.compiled import (
    CompiledElsewhereError,
    Keeping,
    compiling_alone,
    keep_on_disk,
    kernel,
    watched,
)

HOLDS = """
import sys, time
from pathlib import Path
from vindeby.wake.compiling.compiled import compiling_alone
with compiling_alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(1000)
"""


def seconds_to_lock(path: Path) -> float:
    began = time.monotonic()
    with compiling_alone(path):
        return time.monotonic() - began


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which machine code is kept."""
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)
    tmp_path.chmod(0o700)
    return tmp_path


def test_a_lock_is_free_again_and_leaves_no_file(tmp_path: Path) -> None:
    for _ in range(2):
        with compiling_alone(tmp_path / "loop.nbc"):
            assert [file.name for file in tmp_path.iterdir()] == ["loop.compiling"]
        assert not list(tmp_path.iterdir())


def test_a_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "loop.nbc")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    assert seconds_to_lock(tmp_path / "loop.nbc") < 10.0


def test_a_process_forked_meanwhile_does_not_keep_the_lock(tmp_path: Path) -> None:
    with compiling_alone(tmp_path / "loop.nbc"):
        waiting = os.open(tmp_path / "loop.compiling", os.O_RDWR)
        [held] = [
            int(link.name)
            for link in Path("/proc/self/fd").iterdir()
            if link.resolve() == tmp_path / "loop.compiling" and int(link.name) != waiting
        ]
        copy = os.dup(held)  # as a forked process has it
    fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(waiting)
    os.close(copy)


def test_who_has_waited_too_long_compiles_and_leaves_the_lock_to_its_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LONGEST_WAIT_S", 0.2)
    with compiling_alone(tmp_path / "loop.nbc"):
        for _ in range(2):
            assert seconds_to_lock(tmp_path / "loop.nbc") >= 0.2


def test_where_there_can_be_no_lock_nobody_waits(tmp_path: Path) -> None:
    assert seconds_to_lock(tmp_path / "missing" / "loop.nbc") < 10.0


def test_a_loop_that_cannot_be_compiled_lets_others_go_on(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LONGEST_WAIT_S", 0.2)

    @kernel()
    def loop(number: float) -> object:
        return number.nothing  # type: ignore[attr-defined]

    with pytest.raises(Exception, match="nothing"):
        loop(1.0)
    assert not list(kept.iterdir())


def test_who_does_not_want_to_wait_learns_that_another_compiles(tmp_path: Path) -> None:
    with compiling_alone(tmp_path / "loop.nbc"):
        with (
            pytest.raises(CompiledElsewhereError),
            watched(lambda _: None, waits=False),
            compiling_alone(tmp_path / "loop.nbc"),
        ):
            pass
        assert [file.name for file in tmp_path.iterdir()] == ["loop.compiling"]


def test_compiling_and_waiting_are_announced_and_loading_is_not(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LONGEST_WAIT_S", 0.2)
    heard: list[str] = []

    def loop(number: float) -> float:
        return number + 1.0

    with watched(heard.append):
        assert kernel()(loop)(1.0) == 2.0
        assert heard == ["compiling"]
        assert kernel()(loop)(1.0) == 2.0
        assert heard == ["compiling"]
        with compiling_alone(kept / "other.nbc"), compiling_alone(kept / "other.nbc"):
            assert set(heard[1:]) == {"waiting"}


def test_a_thread_that_waits_for_a_file_holds_the_lock_of_the_compiler(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that had the file and waited for the compiler would stop another that compiles and needs the file."""
    alone, held = compiled.compiling_alone, []

    def noted(path: Path) -> Any:
        held.append(global_compiler_lock.is_locked())
        return alone(path)

    monkeypatch.setattr(compiled, "compiling_alone", noted)

    def loop(number: float) -> float:
        return number + 1.0

    assert kernel()(loop)(1.0) == 2.0
    assert held == [True]


def test_threads_that_load_the_same_loop_at_the_same_time_add_it_once(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def loop(number: float) -> float:
        return number + 1.0

    kernel()(loop)(1.0)
    path_for, both = compiled._path_for, threading.Barrier(2)

    def after_both(*given: Any) -> Path | None:
        both.wait(60.0)
        return path_for(*given)

    monkeypatch.setattr(compiled, "_path_for", after_both)
    loaded: Any = kernel()(loop)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(loaded, [1.0, 2.0])) == [2.0, 3.0]

    def looked_up(signature: object) -> None:
        pytest.fail(f"{signature} is not found at once")

    loaded.compile = looked_up
    assert loaded(3.0) == 4.0


class Forth(NamedTuple):
    first: float
    second: float


class Back(NamedTuple):
    second: float
    first: float


Back.__name__ = Forth.__name__  # another version of the same class


def test_a_loop_is_compiled_again_for_named_tuples_whose_fields_have_changed_places(kept: Path) -> None:

    def loop(both: tuple[Any]) -> float:
        return float(both[0].first)

    assert kernel()(loop)((Forth(first=1.0, second=2.0),)) == 1.0
    assert kernel()(loop)((Back(first=1.0, second=2.0),)) == 1.0
    assert len(list(kept.iterdir())) == 2


def test_a_kept_loop_with_a_changed_byte_is_compiled_again(kept: Path) -> None:
    heard: list[str] = []

    def loop(number: float) -> float:
        return number + 1.0

    with watched(heard.append):
        kernel()(loop)(1.0)
        [file] = kept.iterdir()
        whole = file.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            changed = bytearray(whole)
            changed[place] ^= 1
            file.write_bytes(changed)
            assert kernel()(loop)(1.0) == 2.0
            assert file.read_bytes() != changed
    assert heard == ["compiling"] * 4


@pytest.mark.parametrize("fails", ["dumped", "add", "made_from"])
def test_code_that_cannot_be_kept_is_compiled(kept: Path, fails: str) -> None:

    def failing(*_: object) -> Any:
        raise RuntimeError(fails)

    def add_one(number: float) -> float:
        return number + 1.0

    keeping = Keeping(lambda _: b"N.", lambda *_: None, lambda: "of this")._replace(**{fails: failing})
    for _ in range(2):  # the second time there is a file, unless nothing was kept
        dispatcher = numba.njit(add_one)
        keep_on_disk(dispatcher, keeping)
        assert dispatcher(1.0) == 2.0
    assert len(list(kept.iterdir())) == (fails == "add")
