"""A nanny that restarts its Dask worker again and again: it is given up, and the campaign goes on with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.dask_machines import machines, wait_until
from tests.cluster.test_dask_losses import InBackground, campaign_of, events
from tests.cluster.undisturbed import undisturbed
from tests.runner.campaigns import equal, results
from vindeby.errors import TaskError
from vindeby.runner.cluster import dask_pool

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of connections that died
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

DIES = """
import os, threading, time
from distributed import Worker

def die():
    from vindeby.runner.cluster import batch
    while not batch._hosts:
        time.sleep(0.01)
    os._exit(1)

def dask_setup(worker):
    if isinstance(worker, Worker):
        threading.Thread(target=die, daemon=True).start()
"""


def test_a_worker_that_dies_as_soon_as_it_is_used_is_given_up_and_another_does_the_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "_WATCH_S", 0.1)
    (tmp_path / "dies.py").write_text(DIES)
    campaign, output = campaign_of(tmp_path, waits=[1, 2, 3, 4, 5]), tmp_path / "out.h5"
    with machines(tmp_path / "dask", "good") as cluster:
        going = InBackground(campaign, output, cluster.address)
        wait_until(lambda: events(output, "node joined"))
        cluster.start_worker(
            "bad", options=("--nanny", "--preload", str(tmp_path / "dies.py"), "--death-timeout", "100")
        )
        wait_until(lambda: events(output, "node given up"))
        (tmp_path / "gate").touch()
        going.wait()
    assert going.error is None
    assert going.summary is not None
    assert going.summary.complete
    assert len(events(output, "node lost")) == 3
    assert any("3 times in a row without finishing a task" in message for message in going.messages)
    assert equal(results(output), undisturbed(tmp_path, campaign))


def test_a_run_ends_when_its_only_worker_is_lost_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "_WATCH_S", 0.1)
    monkeypatch.setattr(dask_pool, "LOSSES_ALONE", 2)
    (tmp_path / "dies.py").write_text(DIES)
    with machines(tmp_path / "dask") as cluster:
        cluster.start_worker(
            "bad", options=("--nanny", "--preload", str(tmp_path / "dies.py"), "--death-timeout", "100")
        )
        going = InBackground(campaign_of(tmp_path), tmp_path / "out.h5", cluster.address)
        going.wait()
    assert isinstance(going.error, TaskError)
    assert "2 times in a row without finishing a task" in str(going.error)
