"""Tasks that do the worst: each is set aside with its reason, and every other task is done."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.runner.campaigns import calling, log_text, marked_processes, one_cell, results
from vindeby.runner import Summary, run
from vindeby.runner.local.worker import KEPT_OF_A_TASK
from vindeby.runner.protocol import Kind
from vindeby.store.disk.events import read_failures
from vindeby.store.disk.run_directory import RunDirectory

FATAL = {
    "segfault": (Kind.KILLED, "SIGSEGV (invalid memory access)"),
    "exit": (Kind.KILLED, "ended itself with status 0"),
    "abort": (Kind.KILLED, "SIGABRT"),
    "hang in C": (Kind.TIME, "longer than the limit of 12 s"),
    "hang": (Kind.TIME, "longer than the limit of 12 s"),
    "100 GB": (Kind.MEMORY, "memory could not be had"),
    "eat memory": (Kind.MEMORY, ""),
    "unpicklable": (Kind.EXCEPTION, "CannotBePickledError: a secret that cannot travel"),
    "unprintable": (Kind.EXCEPTION, "CannotBePrintedError: (its text cannot be made)"),
    "sys.exit": (Kind.EXCEPTION, "SystemExit: 0"),
    "interrupt": (Kind.EXCEPTION, "KeyboardInterrupt"),
    "recursion": (Kind.EXCEPTION, "RecursionError"),
    "kill the group": (Kind.KILLED, "SIGKILL"),
    "close everything": (Kind.KILLED, "the process"),
    "grandchild and death": (Kind.KILLED, "ended itself with status 3"),
    "nan": (Kind.INVALID, "layout is not finite: nan at [1, 2]"),
    "shape": (Kind.INVALID, "the layout has shape (6, 2), but 6 turbines make (2, 6)"),
    "count": (Kind.INVALID, "the layout has shape (2, 5), but 6 turbines make (2, 6)"),
    "no aep": (Kind.INVALID, "there is no aep"),
    "negative aep": (Kind.INVALID, "aep is -1"),
    "complex": (Kind.INVALID, "array 'extra' has type complex128"),
    "nothing": (Kind.INVALID, "returned a NoneType, not a mapping"),
}
HARMLESS = ("print", "speak", "grandchild")


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Summary, Path, Path]:
    """One campaign with all poisons among good tasks."""
    folder = tmp_path_factory.mktemp("poison")
    os.environ["VINDEBY_MARK"] = f"poison-{folder}"
    names = [*FATAL, *HARMLESS]
    poisons = {str(10 * number + 5): name for number, name in enumerate(names)}
    parameters = {"poisons": poisons, "grandchild": str(folder / "grandchild")}
    campaign = one_cell(
        calling(
            "poisonous", 10 * len(names), parameters, time_limit_s=12, memory_limit_mb=250,
            flush_s=0.2,
        )
    )  # fmt: skip
    try:
        return run(campaign, folder / "out.h5"), folder / "out.h5", folder / "grandchild"
    finally:
        del os.environ["VINDEBY_MARK"]


def key_of(name: str) -> str:
    return f"farm0_t0_s{10 * [*FATAL, *HARMLESS].index(name) + 5}"


@pytest.mark.parametrize("name", FATAL)
def test_a_poisonous_task_is_set_aside_with_the_right_reason(
    name: str, poisoned: tuple[Summary, Path, Path]
) -> None:
    kind, words = FATAL[name]
    failure = poisoned[0].failed[key_of(name)]
    assert failure.kind is kind, failure
    assert words in failure.reason, failure
    recorded = read_failures(RunDirectory(poisoned[1]))[key_of(name)]
    assert (recorded.kind, recorded.reason) == (failure.kind.value, failure.reason)
    assert recorded.attempts == (1 if kind is Kind.INVALID else 2)
    assert (RunDirectory(poisoned[1]).logs / recorded.log).exists()


def test_every_other_task_is_done_and_right(poisoned: tuple[Summary, Path, Path], tmp_path: Path) -> None:
    summary, output, _ = poisoned
    assert set(summary.failed) == {key_of(name) for name in FATAL}
    assert summary.done == summary.total - len(FATAL)
    found = results(output)
    assert len(found) == summary.done
    assert all(key_of(name) in found for name in HARMLESS)
    clean = run(one_cell(calling("good", summary.total)), tmp_path / "clean.h5")
    assert clean.complete
    reference = results(tmp_path / "clean.h5")
    for key, record in found.items():
        assert record.arrays["layout"].tobytes() == reference[key].arrays["layout"].tobytes()


def test_what_killed_a_task_is_recorded_with_where_it_was(poisoned: tuple[Summary, Path, Path]) -> None:
    recorded = read_failures(RunDirectory(poisoned[1]))
    for name, words in {
        "segfault": "Segmentation fault",
        "hang in C": "functions.py",
        "hang": "functions.py",
        "unpicklable": "raise error",
        "recursion": "RecursionError",
    }.items():
        assert words in recorded[key_of(name)].traceback, name


def test_a_log_has_what_tasks_and_libraries_say_and_a_bound(poisoned: tuple[Summary, Path, Path]) -> None:
    text = log_text(poisoned[1])
    for line in (
        "printed\n",
        "RuntimeWarning: a library warns",
        "WARNING library: a library logs\n",
        "from another program\n",
    ):
        assert line in text
    assert f" {key_of('speak')} printed " in text
    # More than once, where its worker died of another task before the result was safe.
    times = text.count(f"{key_of('print')} printed 10000000 bytes; the first {KEPT_OF_A_TASK} are kept")
    assert times >= 1
    assert len(text) < (times + 1) * KEPT_OF_A_TASK


def test_no_process_is_left_over_not_even_a_grandchild_in_its_own_session(
    poisoned: tuple[Summary, Path, Path],
) -> None:
    assert poisoned[2].exists(), "there was a grandchild"
    mark = f"VINDEBY_MARK=poison-{poisoned[2].parent}"
    deadline = time.monotonic() + 5.0
    while marked_processes(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked_processes(mark) == []


def test_what_failed_is_not_tried_again_unless_asked(tmp_path: Path) -> None:
    campaign = one_cell(calling("poisonous", 6, {"poisons": {"2": "nan"}}))
    assert run(campaign, tmp_path / "out.h5").failures == {Kind.INVALID: 1}
    again = run(campaign, tmp_path / "out.h5")
    assert (again.done, list(again.resume_state.failed), again.complete) == (0, ["farm0_t0_s2"], False)
    retried = run(campaign, tmp_path / "out.h5", retry_failed=True)
    assert (retried.done, retried.failures) == (0, {Kind.INVALID: 1})


def test_a_function_that_leaks_gets_fresh_workers_and_every_task_is_done(tmp_path: Path) -> None:
    campaign = one_cell(calling("leaking", 30, {"megabytes": 60}, memory_limit_mb=700, workers=1))
    summary = run(campaign, tmp_path / "out.h5")
    assert summary.complete
    assert summary.failures == {}
    events = "".join(path.read_text() for path in RunDirectory(tmp_path / "out.h5").events.glob("*.jsonl"))
    assert events.count('"worker retires"') >= 2


def test_a_task_is_not_blamed_for_memory_that_one_before_it_kept(tmp_path: Path) -> None:
    """The second task of each worker finds too little memory left, though too much for the worker to retire."""
    method = calling("leaking", 6, {"megabytes": 340}, memory_limit_mb=700, workers=1)
    summary = run(one_cell(method), tmp_path / "out.h5")
    assert summary.complete
    assert summary.failures == {}
    events = "".join(path.read_text() for path in RunDirectory(tmp_path / "out.h5").events.glob("*.jsonl"))
    assert events.count('"worker retires"') >= 3
