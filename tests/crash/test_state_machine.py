"""Everything in any order, against a model in memory: what was acknowledged and not damaged is always there."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.crash.tools import FULL
from tests.store.examples import flip, merge_keeping_shards, publish, record
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.rows import segments_of
from vindeby.store.format.shard import shard_bytes
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate

pytestmark = pytest.mark.timeout(7200 if FULL else 1200)

seeds = st.integers(0, 8)


class StoreMachine(RuleBasedStateMachine):
    """``sure`` must be readable; ``damaged`` may be, and then only with the right value."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.run = RunDirectory(self.folder / "out.h5").create()
        self.sure: dict[str, Record] = {}
        self.variants: dict[str, list[Record]] = {}
        self.shards: dict[Path, list[Record]] = {}
        self.bad: set[Path] = set()
        self.conflicts = False

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def _publish(self, batch: list[Record]) -> None:
        self.shards[publish(self.run, batch).path] = batch
        for one in batch:
            self.sure.setdefault(one.key, one)
            self.variants.setdefault(one.key, []).append(one)

    @rule(chosen=st.sets(seeds, min_size=1, max_size=4), turbines=st.integers(1, 3))
    def publish_some(self, chosen: set[int], turbines: int) -> None:
        batch = [record(seed, 1 + seed % 3) for seed in chosen]
        self._publish([one for one in batch if one.key not in self.variants] or batch)

    @rule(seed=seeds)
    def publish_again_with_another_duration(self, seed: int) -> None:
        self._publish([record(seed, 1 + seed % 3, seconds=9.0)])

    @rule(seed=seeds)
    def publish_something_else_under_the_same_key(self, seed: int) -> None:
        self._publish([record(seed, 1 + seed % 3, shift=1.0)])

    @rule(seed=seeds, part=st.floats(0, 0.99))
    def die_while_writing(self, seed: int, part: float) -> None:
        data = shard_bytes(segments_of([record(seed, 2)]))
        directory = self.run.shards / "gone-1-abc-0000"
        directory.mkdir(exist_ok=True)
        (directory / ".000000.1.tmp").write_bytes(data[: int(len(data) * part)])

    @precondition(lambda self: self.shards)
    @rule(number=st.integers(0, 999), how=st.sampled_from(["flip", "cut", "empty"]), part=st.floats(0, 0.999))
    def corrupt_a_shard(self, number: int, how: str, part: float) -> None:
        path = list(self.shards)[number % len(self.shards)]
        size = path.stat().st_size
        if how == "flip" and size:
            flip(path, int(part * size * 8))
        elif size:
            path.write_bytes(path.read_bytes()[: int(part * size) if how == "cut" else 0])
        self.bad.add(path)
        self._forget_what_only_this_had()

    def _forget_what_only_this_had(self) -> None:
        merged = set(self._merged())
        safe = {one.key for path, batch in self.shards.items() if path not in self.bad for one in batch}
        self.sure = {key: one for key, one in self.sure.items() if key in merged | safe}

    def _merged(self) -> dict[str, Record]:
        if not self.run.output.exists():
            return {}
        alone = self.folder / "alone.h5"
        shutil.copyfile(self.run.output, alone)
        with Database(alone) as database:
            return dict(database)

    @rule(file_format=st.sampled_from(["classic", "table", None]), keep=st.booleans())
    def merge_strictly(self, file_format: str | None, keep: bool) -> None:
        before = self.run.output.read_bytes() if self.run.output.exists() else b""
        if not self.run.output.exists() and not self.shards:
            return
        refused: list[Path] = []
        try:
            (merge_keeping_shards if keep else merge)(self.run, MergeOptions(file_format=file_format))
        except BadFilesError as error:
            refused = [Path(entry.path) for entry in error.report.bad_files]
        if refused:
            assert set(refused) <= self.bad
            assert before == (self.run.output.read_bytes() if self.run.output.exists() else b"")
        else:
            self._after_merge()

    @precondition(lambda self: self.shards)
    @rule(file_format=st.sampled_from(["classic", "table"]))
    def merge_leaving_bad_files_out(self, file_format: str) -> None:
        report = merge(self.run.output, MergeOptions(file_format=file_format, on_bad="skip"))
        for entry in report.bad_files:
            assert Path(entry.path) in self.bad
            assert entry.fate.startswith("moved to ")
        self._after_merge()

    def _after_merge(self) -> None:
        self.shards = {path: batch for path, batch in self.shards.items() if path.exists()}
        self.bad &= set(self.shards)
        assert self._merged().keys() >= self.sure.keys()

    @rule()
    def salvage_everything(self) -> None:
        files = [path for path in [self.run.output, *self.run.shard_paths()] if path.exists()]
        if not files:
            return
        target = self.folder / "saved" / "new.h5"
        report = salvage(files, target)
        if self.sure:
            with Database(target) as database:
                found = dict(database)
            assert report.records == len(found)
            assert found.keys() >= self.sure.keys()
            self._all_true(found)
        shutil.rmtree(target.parent, ignore_errors=True)

    @rule()
    def look_for_problems(self) -> None:
        if not self.run.output.exists() and not self.shards:
            return
        report = validate(self.run.output, expected={key: one.fingerprint for key, one in self.sure.items()})
        assert report.missing == []
        known = [issue for issue in report.issues if "different content" in issue.what]
        known += [
            issue for issue in report.issues if issue.what.startswith("total_configs is")
        ]  # no campaign here
        assert {Path(issue.file) for issue in report.issues if issue not in known} <= self.bad

    def _all_true(self, found: dict[str, Record]) -> None:
        for key, one in found.items():
            assert one in self.variants[key]

    @invariant()
    def everything_sure_is_readable_and_true(self) -> None:
        if not self.run.output.exists() and not self.shards:
            return
        with Database(self.run.output) as database:
            found = dict(database)
        assert found.keys() >= self.sure.keys()
        self._all_true(found)


StoreMachine.TestCase.settings = settings(
    max_examples=150 if FULL else 12, stateful_step_count=20 if FULL else 12, deadline=None
)
TestStoreMachine = StoreMachine.TestCase
