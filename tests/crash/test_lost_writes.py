"""A power cut: what was not forced to the disk may be there, not there, or there in part.

A publish is recorded through ``Files``, then replayed up to every step with every choice of the operations
that no fsync had made durable by then. Whatever was acknowledged before that step must be whole.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.tools import FULL, assert_nothing_lost, tell
from tests.store.examples import records
from vindeby.store.disk.files import Files, Retry
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter

pytestmark = pytest.mark.timeout(7200 if FULL else 1200)


@dataclass(frozen=True)
class Step:
    """One operation: its kind, the path it is on, and what else it needs."""

    kind: str
    path: Path
    target: Path | None = None
    offset: int = 0
    data: bytes = b""


class Recorder(Files):
    """Does everything, and writes down what it did."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._open: dict[int, tuple[Path, int]] = {}

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        self._open[descriptor] = (path, 0)
        self.steps.append(Step("create", path))
        return descriptor

    def write(self, descriptor: int, data: memoryview) -> int:
        done = super().write(descriptor, data[:1000])
        path, offset = self._open[descriptor]
        self.steps.append(Step("write", path, offset=offset, data=bytes(data[:done])))
        self._open[descriptor] = (path, offset + done)
        return done

    def fsync(self, descriptor: int) -> None:
        super().fsync(descriptor)
        self.steps.append(Step("fsync", self._open[descriptor][0]))

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.steps.append(Step("rename", source, target))

    def make_directory(self, path: Path) -> bool:
        made = super().make_directory(path)
        if made:
            self.steps.append(Step("mkdir", path))
        return made

    def fsync_directory(self, path: Path) -> None:
        super().fsync_directory(path)
        self.steps.append(Step("fsync directory", path))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Step], dict[int, dict[str, str]]]:
    """The steps of two publishes, and what had been acknowledged after how many steps."""
    top = tmp_path_factory.mktemp("recorded")
    files = Recorder()
    run = RunDirectory(top / "out.h5").create(files)
    writer = ShardWriter(run, files=files, retry=Retry(attempts=1))
    promised: dict[str, str] = {}
    acknowledged = {}
    for start in (0, 10):
        receipt = writer.publish(records(3, start=start))
        promised |= dict(zip(receipt.keys, receipt.checksums, strict=True))
        acknowledged[len(files.steps)] = dict(promised)
    return top, files.steps, acknowledged


def durable(steps: list[Step], number: int) -> bool:
    """Had an fsync made this step safe by the end of ``steps``?"""
    step, later = steps[number], steps[number + 1 :]
    if step.kind == "write":
        return any(after.kind == "fsync" and after.path == step.path for after in later)
    place = step.target.parent if step.target is not None else step.path.parent
    by_directory = any(after.kind == "fsync directory" and after.path == place for after in later)
    if step.kind == "create":
        # The temporary name matters to nobody; its bytes follow the inode through the rename.
        return by_directory or any(after.kind == "fsync" and after.path == step.path for after in later)
    return by_directory


def replay(
    steps: list[Step], kept: Callable[[int], bool], torn: dict[int, int], top: Path, into: Path
) -> None:
    """Carry out the steps that are kept; a torn write only up to its length there."""
    moved: dict[Path, Path] = {}
    for number, step in enumerate(steps):
        if step.kind.startswith("fsync") or not kept(number):
            continue
        path = into / moved.get(step.path, step.path).relative_to(top)
        if step.kind == "mkdir":
            if path.parent.is_dir():
                path.mkdir(exist_ok=True)
        elif not path.parent.is_dir():
            continue
        elif step.kind == "create":
            path.touch()
        elif step.kind == "write" and path.exists():
            with path.open("r+b") as file:
                file.seek(step.offset)
                file.write(step.data[: torn.get(number, len(step.data))])
        elif step.kind == "rename" and step.target is not None and path.exists():
            path.rename(into / step.target.relative_to(top))
            moved[step.path] = step.target


def choices(doubtful: list[int], generator: random.Random) -> Iterator[frozenset[int]]:
    """Which of the doubtful steps did not reach the disk: all subsets of a few, a sample of many."""
    if len(doubtful) <= (10 if FULL else 4):
        for size in range(len(doubtful) + 1):
            yield from map(frozenset, itertools.combinations(doubtful, size))
        return
    yield frozenset()
    yield frozenset(doubtful)
    yield from (frozenset([number]) for number in doubtful)
    for _ in range(200 if FULL else 8):
        yield frozenset(number for number in doubtful if generator.random() < 0.5)


@pytest.mark.core
def test_what_was_acknowledged_survives_any_power_cut(
    recording: tuple[Path, list[Step], dict[int, dict[str, str]]], tmp_path: Path
) -> None:
    top, steps, acknowledged = recording
    generator = random.Random(1)
    tried = 0
    for end in range(len(steps) + 1):
        done = steps[:end]
        promised = next(
            (acknowledged[mark] for mark in sorted(acknowledged, reverse=True) if mark <= end), {}
        )
        doubtful = [
            n for n, step in enumerate(done) if not step.kind.startswith("fsync") and not durable(done, n)
        ]
        for lost in choices(doubtful, generator):
            writes = [n for n in doubtful if n not in lost and done[n].kind == "write"]
            torn = {n: generator.randrange(len(done[n].data)) for n in writes if generator.random() < 0.5}
            folder = tmp_path / "disk"
            folder.mkdir()
            replay(done, lambda number, lost=lost: number not in lost, torn, top, folder)  # type: ignore[misc]
            assert_nothing_lost_or_torn(folder / "out.h5", promised)
            shutil.rmtree(folder)
            tried += 1
    tell(f"{len(steps)} steps, {tried} choices of what a power cut lost")
    assert tried > 2 * len(steps)


def assert_nothing_lost_or_torn(path: Path, promised: dict[str, str]) -> None:
    if RunDirectory(path).shards.exists() or promised:
        assert_nothing_lost(path, promised)


@pytest.mark.parametrize("kind", ["fsync", "fsync directory"])
def test_the_replay_notices_a_missing_fsync(
    kind: str, recording: tuple[Path, list[Step], dict[int, dict[str, str]]], tmp_path: Path
) -> None:
    """The test above can fail: without one kind of fsync, something acknowledged is lost."""
    top, steps, acknowledged = recording
    careless = [step for step in steps if step.kind != kind]
    doubtful = [n for n, step in enumerate(careless) if "fsync" not in step.kind and not durable(careless, n)]
    assert doubtful
    lost = frozenset(n for n in doubtful if careless[n].kind in {"write", "rename"})
    replay(careless, lambda number: number not in lost, {}, top, tmp_path)
    with pytest.raises(AssertionError):
        assert_nothing_lost(tmp_path / "out.h5", acknowledged[max(acknowledged)])
