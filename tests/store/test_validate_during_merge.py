"""Validation of a run in progress, while a merge takes shards away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.store.examples import foreign_file, publish, record, records
from vindeby.errors import DataError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import merge
from vindeby.store.merge.sources import MergeSelection, select
from vindeby.store.validate import validate


def test_a_shard_that_is_merged_after_it_was_listed_is_found_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDirectory(tmp_path / "out.h5")
    publish(run, records(4))
    merge(run.output)
    publish(run, records(4, start=10))
    listed = RunDirectory.shard_paths

    def list_then_merge(self: RunDirectory) -> list[Path]:
        paths = listed(self)
        with monkeypatch.context() as inside:
            inside.setattr(RunDirectory, "shard_paths", listed)
            merge(self.output)
        return paths

    monkeypatch.setattr(RunDirectory, "shard_paths", list_then_merge)
    report = validate(run.output)
    assert (report.records, report.issues, report.valid) == (8, [], True)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_database_that_is_replaced_between_two_looks_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: bool
) -> None:
    run, other = RunDirectory(tmp_path / "out.h5"), RunDirectory(tmp_path / "other.h5")
    publish(run, records(5))
    merge(run.output)
    publish(run, [record(4, shift=1.0)])
    publish(other, records(2))
    merge(other.output)
    if not sealed:
        foreign_file(other.output, range(2))

    def replace_then_select(*arguments: Any) -> MergeSelection:
        if other.output.exists():
            other.output.replace(run.output)
        return select(*arguments)

    monkeypatch.setattr("vindeby.store.validate.select", replace_then_select)
    assert validate(run.output).records == 2 + 1


def test_a_folder_that_never_holds_still_is_an_error_and_not_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDirectory(tmp_path / "out.h5")
    publish(run, records(2))
    monkeypatch.setattr(RunDirectory, "shard_paths", lambda self: [self.shards / "gone" / "0.h5"])
    with pytest.raises(DataError, match="appear and disappear"):
        validate(run.output)
