"""Functions that leak file descriptors: the worker makes room for a fresh one, and every task is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.campaigns import results
from tests.runner.misbehaving import campaign_of
from vindeby.runner import Summary, run
from vindeby.runner.protocol import Kind
from vindeby.store.disk.events import EventTail
from vindeby.store.disk.run_directory import RunDirectory

pytestmark = pytest.mark.slow


def finished(output: Path, function: str, seeds: int, **parameters: float) -> Summary:
    campaign = campaign_of(function, seeds, {"limit": 256, **parameters}, flush_s=0.3)
    return run(campaign, output)


def retired(output: Path) -> list[str]:
    """What the workers that made room for others gave as their reason."""
    events = EventTail(RunDirectory(output)).read_new(complete=True)
    return [str(entry.get("reason", "")) for entry in events if entry["event"] == "worker retires"]


@pytest.mark.parametrize(("files", "seeds"), [(20, 80), (2, 300), (150, 6)])
def test_every_task_of_a_function_that_leaks_files_is_done(files: int, seeds: int, tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    summary = finished(output, "leaking_files", seeds, files=files)
    assert (summary.failures, summary.done, summary.complete) == ({}, seeds, True)
    assert len(results(output)) == seeds
    assert any("descriptors" in reason or "Too many open files" in reason for reason in retired(output))


def test_a_task_that_alone_needs_more_files_than_there_are_is_blamed_and_no_other(tmp_path: Path) -> None:
    summary = finished(tmp_path / "out.h5", "leaking_files", 3, files=400)
    assert summary.failures == {Kind.EXCEPTION: 3}
    assert all("Too many open files" in failure.reason for failure in summary.failed.values())


def test_a_task_that_leaves_no_descriptor_still_has_its_result_published(tmp_path: Path) -> None:
    summary = finished(tmp_path / "out.h5", "leaking_files", 4, files=0)
    assert (summary.failures, summary.complete) == ({}, True)


def test_results_wait_while_a_task_holds_every_descriptor_and_are_published_after_it(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    summary = finished(output, "borrowing_files", 4, seconds=0.3)
    assert (summary.failures, summary.done, summary.complete) == ({}, 4, True)
    events = EventTail(RunDirectory(output)).read_new(complete=True)
    assert [entry for entry in events if entry["event"] == "disk trouble"] == []
