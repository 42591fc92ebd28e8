"""A disk that refuses, at every call of taking, renewing and giving back a lock: nobody waits for who is gone."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vindeby.store.disk.lock import Lock

CALLS = ("mkdir", "rename", "unlink", "fsync", "rmdir", "open")


def use(path: Path) -> None:
    with Lock(path, "merge") as lock:
        lock.confirm()


def failing(patches: pytest.MonkeyPatch, name: str, fails: Callable[[int], bool]) -> Callable[[], int]:
    """Let some calls of this kind fail, by their number; what comes counts the calls."""
    numbers = itertools.count(1)
    call, module = (io.open, builtins) if name == "open" else (getattr(os, name), os)

    def refusing(*arguments: Any, **more: Any) -> Any:
        writes = name != "open" or (len(arguments) > 1 and arguments[1] in {"x", "w"})
        if writes and fails(next(numbers)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))
        return call(*arguments, **more)

    patches.setattr(module, name, refusing)
    if name == "open":
        patches.setattr(io, name, refusing)
    return lambda: next(numbers) - 1


def quickly(path: Path) -> None:
    said: list[str] = []
    began = time.monotonic()
    with Lock(path, "merge", say=said.append) as lock:
        lock.confirm()
    assert time.monotonic() - began < 5.0
    assert said == []


@pytest.mark.parametrize("from_then_on", [False, True])
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_the_next_one_takes_it_at_once_and_clears_up(
    name: str, there: bool, from_then_on: bool, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patches:
        count = failing(patches, name, lambda _: False)
        if there:
            use(tmp_path / "merge.lock")
        before = count()
        use(tmp_path / "merge.lock")
        calls = count() - before - 1
    for number in range(1, calls + 1):
        path = tmp_path / f"{number}" / "merge.lock"
        path.parent.mkdir()
        if there:
            use(path)
        with pytest.MonkeyPatch.context() as patches:
            failing(patches, name, range(number, 1000 if from_then_on else number + 1).__contains__)
            with contextlib.suppress(OSError):
                use(path)
        quickly(path)
        if name != "unlink":
            assert list(path.parent.iterdir()) == [path], (name, number)
