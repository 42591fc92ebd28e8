"""Addresses and scheduler files that cannot be right are refused at once, before a client tries them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vindeby.campaign.sections.run_options import RunOptions
from vindeby.errors import ArgumentError
from vindeby.runner.cluster.connect import connected


@pytest.fixture
def no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a client was made")

    monkeypatch.setattr(distributed, "Client", type("Client", (), {"__init__": fail}))


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("address", ["foo://bar:1", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:port"])
@pytest.mark.core
def test_an_address_that_cannot_be_one_is_refused(tmp_path: Path, address: str) -> None:
    with (
        pytest.raises(ArgumentError, match="is not the address of a scheduler"),
        connected(address, RunOptions(), None, tmp_path, print),
    ):
        pass


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("text", ["", "not json", "[]", '{"a": 1}', "\x00\xff"])
def test_a_file_that_is_no_scheduler_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(text, encoding="latin-1")
    with (
        pytest.raises(ArgumentError, match="is not a scheduler file"),
        connected(str(file), RunOptions(), None, tmp_path, print),
    ):
        pass


LOST_WORKER = """
import sys
from pathlib import Path
import dask, distributed
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.runner.cluster.connect import connected

with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster:
    def tell_a_worker_that_is_gone():
        gone, message = ["tcp://127.0.0.1:9"], {"op": "identity"}
        with dask.config.set({"distributed.comm.timeouts.connect": "100ms"}):
            cluster.sync(cluster.scheduler.broadcast, msg=message, workers=gone, on_error="return")

    with connected(cluster.scheduler_address, RunOptions(), None, Path(sys.argv[1]), print):
        tell_a_worker_that_is_gone()
    print((Path(sys.argv[1]) / "dask.log").read_text(), flush=True)
    tell_a_worker_that_is_gone()
"""


def test_lines_of_dasks_own_log_go_to_the_logs_of_the_run_as_long_as_it_lasts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST_WORKER, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("broadcast to tcp://127.0.0.1:9 failed") == 1
    assert done.stderr.count("broadcast to tcp://127.0.0.1:9 failed") == 1
