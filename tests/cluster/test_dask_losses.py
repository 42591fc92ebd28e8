"""Parts of a Dask cluster are lost in mid-campaign: nothing published is, and the results are those of a quiet run."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.dask_machines import machines, wait_until
from tests.cluster.undisturbed import undisturbed
from tests.contracts.test_pools import setup_for, steered
from tests.kernel import is_refusal, skip_for, skip_without_namespaces
from tests.runner.campaigns import ROOT, equal, marked_processes, results
from vindeby.campaign import Campaign
from vindeby.errors import InputError, TaskError
from vindeby.runner import Summary, run
from vindeby.runner.cluster import dask_pool
from vindeby.runner.cluster.batch import versions
from vindeby.runner.protocol import CannotGoOn, Outcome
from vindeby.store.disk.events import EventTail
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of connections that died
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def campaign_of(folder: Path, seeds: int = 12, **parameters: Any) -> Campaign:
    data = steered(folder, seeds, **parameters).to_data()
    data["run"] = {"flush_s": 0.1, "wait_for_workers_s": 60.0}
    return Campaign.from_data(data)


class InBackground:
    """A run in a thread, with what came of it."""

    def __init__(self, campaign: Campaign, output: Path, pool: object) -> None:
        self.summary: Summary | None = None
        self.error: Exception | None = None
        self.messages: list[str] = []
        self._thread = threading.Thread(target=self._run, args=(campaign, output, pool))
        self._thread.start()

    def _run(self, campaign: Campaign, output: Path, pool: object) -> None:
        try:
            self.summary = run(campaign, output, pool=pool, on_message=self.messages.append)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    def wait(self) -> None:
        self._thread.join(200.0)
        assert not self._thread.is_alive()


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "_WATCH_S", 0.2)


def events(output: Path, name: str) -> list[dict[str, Any]]:
    found = EventTail(RunDirectory(output)).read_new(complete=True)
    return [event for event in found if event["event"] == name]


def published(output: Path) -> int:
    return sum(event["tasks"] for event in events(output, "published"))


def test_a_machine_is_killed_another_comes_and_the_client_stays_open(tmp_path: Path) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    with (
        machines(tmp_path / "dask", "one", "two") as cluster,
        distributed.Client(cluster.address, set_as_default=False) as client,
    ):
        client.wait_for_workers(2)
        going = InBackground(campaign, output, client)
        wait_until(lambda: (tmp_path / "began-5").exists() and published(output) >= 5)
        address = events(output, "node joined")[0]["address"]
        names = {info["id"]: at for at, info in client.scheduler_info()["workers"].items()}
        cluster.kill(next(name for name, at in names.items() if at == address))
        cluster.start_worker("three")
        wait_until(lambda: len(events(output, "node joined")) == 3 and events(output, "node lost"))
        (tmp_path / "gate").touch()
        going.wait()
        assert going.error is None
        assert going.summary is not None
        assert going.summary.complete
        assert client.submit(len, "abc").result() == 3
        wait_until(lambda: set(marked_processes(cluster.mark)) == {p.pid for p in cluster.processes.values()})
    assert equal(results(output), undisturbed(tmp_path, campaign))


def test_the_scheduler_is_killed_and_the_same_command_goes_on_with_another(tmp_path: Path) -> None:
    data = campaign_of(tmp_path, waits=[5]).to_data()
    data["run"]["wait_for_workers_s"] = 10.0
    campaign, output = Campaign.from_data(data), tmp_path / "out.h5"
    with machines(tmp_path / "dask", "one") as cluster:
        with distributed.Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(1)
        going = InBackground(campaign, output, str(cluster.file))
        wait_until(lambda: (tmp_path / "began-5").exists())
        before = published(output)
        cluster.kill("scheduler")
        wait_until(lambda: any("it is waited for, for up to 10 s" in said for said in going.messages), 30.0)
        going.wait()
        assert isinstance(going.error, TaskError)
        assert "rerun the same command to resume" in str(going.error)
        with Database(output) as database:
            kept = len(database)
        assert kept >= before
        wait_until(lambda: set(marked_processes(cluster.mark)) <= {cluster.processes["one"].pid})
        cluster.kill("one")
        shutil.rmtree(cluster.folder / "one")
        cluster.start_scheduler()
        cluster.start_worker("one")
        (tmp_path / "gate").touch()
        data["run"]["wait_for_workers_s"] = 60.0
        summary = run(Campaign.from_data(data), output, pool=str(cluster.file))
        assert summary.complete
        assert (summary.resume_state.done, summary.done) == (kept, 12 - kept)
    assert equal(results(output), undisturbed(tmp_path, campaign))


def test_the_coordinator_is_killed_and_the_next_one_ends_what_it_left(tmp_path: Path) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    (tmp_path / "campaign.yaml").write_text(campaign.dumps())
    with machines(tmp_path / "dask", "one") as cluster:
        words = [
            "-m",
            "vindeby",
            "run",
            str(tmp_path / "campaign.yaml"),
            "-o",
            str(output),
            "--dask",
            cluster.address,
        ]
        coordinator = subprocess.Popen([sys.executable, *words], cwd=ROOT, stderr=subprocess.DEVNULL)
        wait_until(lambda: (tmp_path / "began-5").exists() and published(output))
        coordinator.kill()
        coordinator.wait()
        with Database(output) as database:
            kept = len(database)
        (tmp_path / "began-5").unlink()
        going = InBackground(campaign, output, cluster.address)
        wait_until((tmp_path / "began-5").exists)
        (tmp_path / "gate").touch()
        going.wait()
        assert going.error is None
        assert going.summary is not None
        assert going.summary.complete
        # The worker may have published what it had finished after its coordinator was gone; task 5 waited.
        assert kept <= going.summary.resume_state.done < 12
        wait_until(lambda: set(marked_processes(cluster.mark)) == {p.pid for p in cluster.processes.values()})
    assert equal(results(output), undisturbed(tmp_path, campaign))


def test_a_stopped_run_finishes_the_task_that_is_running_and_keeps_what_its_batch_has_finished(
    tmp_path: Path,
) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    (tmp_path / "campaign.yaml").write_text(campaign.dumps())
    with machines(tmp_path / "dask", "one") as cluster:
        words = ["run", str(tmp_path / "campaign.yaml"), "-o", str(output), "--dask", cluster.address]
        coordinator = subprocess.Popen(
            [sys.executable, "-m", "vindeby", *words], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        wait_until((tmp_path / "began-5").exists)
        coordinator.send_signal(signal.SIGINT)
        wait_until(lambda: events(output, "asked to stop"))
        threading.Event().wait(2.0)  # until the Dask worker has heard of it
        (tmp_path / "gate").touch()
        assert coordinator.wait(60.0) == 130
        with Database(output) as database:
            kept = set(database)
        summary = run(campaign, output, pool=cluster.address)
    assert kept == {f"farm0_t0_s{seed}" for seed in range(6)}
    assert (summary.resume_state.done, summary.done) == (6, 6)
    assert equal(results(output), undisturbed(tmp_path, campaign))


def test_a_scheduler_that_is_silent_for_a_while_is_waited_for(tmp_path: Path) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    with machines(tmp_path / "dask", "one") as cluster:
        going = InBackground(campaign, output, cluster.address)
        wait_until((tmp_path / "began-5").exists)
        cluster.kill("scheduler", signal.SIGSTOP)
        (tmp_path / "gate").touch()
        threading.Event().wait(4.0)
        assert going.error is None
        assert going.summary is None
        cluster.kill("scheduler", signal.SIGCONT)
        going.wait()
        assert going.error is None
        assert going.summary is not None
        assert going.summary.complete
        assert going.summary.done == 12
    assert published(output) == 12


def _hidden(place: Path) -> tuple[str, ...]:
    """What to put before a command so that it sees an empty folder there; skips where that is not allowed."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed: apt-get install util-linux")
    skip_without_namespaces("mount")
    words = ("unshare", "--mount", "sh", "-c", f"mount -t tmpfs none '{place}' && exec \"$@\"", "hidden")
    done = subprocess.run([*words, "true"], check=False, capture_output=True, text=True)
    if done.returncode:
        assert is_refusal(done.stderr), done.stderr
        skip_for("to mount a file system", done.stderr.strip())
    return words


def test_workers_that_do_not_see_the_run_directory_are_refused(tmp_path: Path) -> None:
    shared, away = tmp_path / "shared", tmp_path / "gates"
    shared.mkdir()
    away.mkdir()
    with machines(tmp_path / "dask") as cluster:
        cluster.start_worker("far", *_hidden(shared))
        with pytest.raises(InputError, match=r"cannot write to .*out\.h5\.run; give -o on a file system"):
            run(campaign_of(away, 8), shared / "out.h5", pool=cluster.address)


@pytest.mark.core
def test_other_versions_on_the_workers_are_refused_and_both_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = versions() | {"Numba": "0.0.1"}
    monkeypatch.setattr(dask_pool, "versions", lambda: ours)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(InputError, match=r"Numba is \d+\.\d+\.\d+ there and 0\.0\.1 here"),
    ):
        run(campaign_of(tmp_path), tmp_path / "out.h5", pool=client)
    assert not RunDirectory(tmp_path / "out.h5").shard_paths()


def test_tasks_of_a_batch_that_dask_gives_up_are_tried_alone_and_only_the_cause_is_set_aside(
    tmp_path: Path,
) -> None:
    campaign, output = campaign_of(tmp_path, ends_machine=[9]), tmp_path / "out.h5"
    with machines(tmp_path / "dask") as cluster:
        cluster.kill("scheduler")
        cluster.environment["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "0"
        cluster.start_scheduler()
        cluster.start_worker("one", options=("--nanny", "--death-timeout", "100"))
        going = InBackground(campaign, output, cluster.address)
        going.wait()
    assert going.error is None
    assert going.summary is not None
    assert (going.summary.done, list(going.summary.failed)) == (11, ["farm0_t0_s9"])
    assert "1 Dask worker in a row were lost with its batch" in going.summary.failed["farm0_t0_s9"].reason
    others = undisturbed(tmp_path, campaign_of(tmp_path))
    del others["farm0_t0_s9"]
    assert {key: record.arrays["layout"].tobytes() for key, record in results(output).items()} == {
        key: record.arrays["layout"].tobytes() for key, record in others.items()
    }


def test_without_workers_a_run_ends_when_its_patience_does(tmp_path: Path) -> None:
    campaign, directory = campaign_of(tmp_path), RunDirectory(tmp_path / "out.h5").create()
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        pool = dask_pool.DaskPool(setup_for(campaign, directory, "nobody"), client, patience_s=0.0)
        heard = [event for _ in range(10) for event in pool.wait(0.1)]
        pool.close()
    reason = "there are no Dask workers, for 0 s; see to it that the Dask cluster runs"
    assert heard == [CannotGoOn(Outcome.POOL_LOST, reason)]
