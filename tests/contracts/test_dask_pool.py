"""The contract of pools, held by processes on Dask workers of a ``LocalCluster``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.test_pools import PoolContract, setup_for
from tests.runner.campaigns import ROOT
from vindeby.campaign import Campaign
from vindeby.runner.cluster.dask_pool import DaskPool
from vindeby.runner.protocol import WorkerPool
from vindeby.store.disk.run_directory import RunDirectory

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

_TO_A_PROCESS_S = 1.0
"""From the coordinator through the scheduler, the Dask worker and its agent."""


def processes_below() -> list[int]:
    """Processes of the runner that Dask workers of this process have started and that still live."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.status() != "zombie" and "vindeby.runner.local" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


class DaskContract(PoolContract):
    """With a client of whatever Dask cluster."""

    client: Any
    kill_names_task = False

    def make(self, campaign: Campaign, directory: RunDirectory, slots: int) -> WorkerPool:
        return DaskPool(setup_for(campaign, directory, "contract"), self.client)

    def let_orders_arrive(self) -> None:
        time.sleep(_TO_A_PROCESS_S)


class TestDaskPool(DaskContract):
    @pytest.fixture(autouse=True)
    def _client(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client = client
        monkeypatch.syspath_prepend(str(ROOT))

    def left_over(self) -> list[Any]:
        return processes_below()
