"""Functions that spoil the process they run in: no other task is blamed or changed, and good results are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.runner.campaigns import content, results
from tests.runner.misbehaving import campaign_of
from vindeby.runner import run
from vindeby.runner.protocol import Kind
from vindeby.store.disk.events import EventTail
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record

pytestmark = pytest.mark.slow

SEEDS = 40
SPOILERS = (
    "stdout",
    "closed stdout",
    "closed descriptors",
    "numpy",
    "numpy and failure",
    "errors",
    "os",
    "children",
)
FAILING = {"numpy": Kind.EXCEPTION, "numpy and failure": Kind.EXCEPTION, "os": Kind.KILLED}
"""Those that break their own result; the others leave a result that counts."""
FORKS = {"raise": 1, "exit": 7, "return": 1}
"""How a forked child leaves the function, and the status that its parent sees."""


def key_of(name: str, names: Sequence[str]) -> str:
    return f"farm0_t0_s{_seed(name, names)}"


def _seed(name: str, names: Sequence[str]) -> int:
    return 4 * names.index(name) + 3


def layouts(records: dict[str, Record]) -> dict[str, object]:
    return {key: content(record)["arrays"]["layout"] for key, record in records.items()}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The layouts of a campaign in which nothing is spoiled."""
    output = tmp_path_factory.mktemp("clean") / "out.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent.parent.parent))
        assert run(campaign_of("gated", SEEDS), output).complete
    return layouts(results(output))


def retired(output: Path) -> list[str]:
    events = EventTail(RunDirectory(output)).read_new(complete=True)
    return [str(entry["reason"]) for entry in events if entry["event"] == "worker retires"]


def test_tasks_that_leave_their_process_broken_harm_no_other(
    clean: dict[str, object], tmp_path: Path
) -> None:
    output = tmp_path / "out.h5"
    spoilers = {str(_seed(name, SPOILERS)): name for name in SPOILERS}
    summary = run(campaign_of("spoiling", SEEDS, {"spoilers": spoilers}, workers=1), output)
    failed = {key_of(name, SPOILERS): kind for name, kind in FAILING.items()}
    assert {key: failure.kind for key, failure in summary.failed.items()} == failed
    for name in ("numpy", "numpy and failure"):
        key = key_of(name, SPOILERS)
        assert "a stand-in that was left behind" in summary.failed[key].reason
        assert any(reason.startswith(f"{key} failed in this process") for reason in retired(output)), name
    assert layouts(results(output)) == {key: layout for key, layout in clean.items() if key not in failed}


def test_the_first_task_of_a_process_that_breaks_it_and_fails_harms_no_other(
    clean: dict[str, object], tmp_path: Path
) -> None:
    output = tmp_path / "out.h5"
    summary = run(campaign_of("spoiling", 8, {"spoilers": {"0": "numpy and failure"}}, workers=1), output)
    assert set(summary.failed) == {"farm0_t0_s0"}
    expected = {f"farm0_t0_s{seed}": clean[f"farm0_t0_s{seed}"] for seed in range(1, 8)}
    assert layouts(results(output)) == expected


def test_a_forked_child_that_leaves_the_function_does_not_go_on_as_a_second_worker(
    clean: dict[str, object], tmp_path: Path
) -> None:
    output = tmp_path / "out.h5"
    names = [*FORKS]
    how = {str(_seed(name, names)): name for name in names}
    summary = run(campaign_of("forking", SEEDS, {"how": how}, workers=1), output)
    assert (summary.failures, summary.done, summary.complete) == ({}, SEEDS, True)
    found = results(output)
    assert layouts(found) == clean
    for name, status in FORKS.items():
        key = key_of(name, names)
        assert found[key].arrays["ended"] == status
        assert found[key].aep < 99.0


def test_a_function_may_use_a_pool_of_forked_processes(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    assert run(campaign_of("with_a_pool", 3, {"numbers": [1, 2, 3]}), output).complete
    for record in results(output).values():
        assert np.array_equal(record.arrays["squares"], [1, 4, 9])
        assert np.array_equal(record.arrays["sizes"], [1, 3])


def test_a_task_is_tried_again_while_no_other_is_computed(tmp_path: Path) -> None:
    campaign = campaign_of("fails_once", 4, {"folder": str(tmp_path)}, workers=3)
    assert run(campaign, tmp_path / "out.h5").complete
    began, *ends = (float((tmp_path / f"task-{seed}").read_text().split()[seed > 0]) for seed in range(4))
    assert began >= max(ends)
