"""A worker in a network namespace of its own, whose cable is pulled: for a moment, and for good."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.dask_machines import Machines, wait_until
from tests.cluster.test_dask_losses import InBackground, campaign_of, events, published
from tests.cluster.undisturbed import undisturbed
from tests.kernel import is_refusal, skip_for, skip_without_namespaces
from tests.runner.campaigns import equal, results

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of connections that died
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Cable:
    """A pair of interfaces between this machine and a network namespace."""

    def __init__(self) -> None:
        number = os.getpid()
        self.namespace, self.near, self.far = f"vindeby{number}", f"vn{number}"[:15], f"vf{number}"[:15]
        self.network = f"10.213.{number % 250}"

    def lay(self) -> None:
        """Set it up; skips the test where the kernel does not allow that."""
        inside = ["netns", "exec", self.namespace, "ip"]
        for words in (
            ["netns", "add", self.namespace],
            ["link", "add", self.near, "type", "veth", "peer", "name", self.far],
            ["link", "set", self.far, "netns", self.namespace],
            ["addr", "add", f"{self.network}.1/24", "dev", self.near],
            ["link", "set", self.near, "up"],
            [*inside, "addr", "add", f"{self.network}.2/24", "dev", self.far],
            [*inside, "link", "set", self.far, "up"],
            [*inside, "link", "set", "lo", "up"],
        ):
            if told := self._ip(*words):
                assert is_refusal(told), told
                skip_for("a pair of virtual network interfaces", told)

    def pull(self) -> None:
        assert not self._ip("link", "set", self.near, "down")

    def plug(self) -> None:
        assert not self._ip("link", "set", self.near, "up")

    def remove(self) -> None:
        self._ip("link", "delete", self.near)
        self._ip("netns", "delete", self.namespace)

    def _ip(self, *words: str) -> str:
        """What it says when it fails; else nothing."""
        done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
        return (done.stderr.strip() or f"exit status {done.returncode}") if done.returncode else ""


@pytest.fixture
def cable() -> Iterator[Cable]:
    if shutil.which("ip") is None:
        pytest.skip("ip is not installed: apt-get install iproute2")
    skip_without_namespaces("network", "mount")
    cable = Cable()
    try:
        cable.lay()
        yield cable
    finally:
        cable.remove()


@pytest.fixture
def cluster(cable: Cable, tmp_path: Path) -> Iterator[Machines]:
    (tmp_path / "dask").mkdir()
    cluster = Machines(tmp_path / "dask")
    cluster.environment |= {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s"}
    try:
        cluster.start_scheduler(f"{cable.network}.1")
        cluster.start_worker("far", "ip", "netns", "exec", cable.namespace, host=f"{cable.network}.2")
        yield cluster
    finally:
        cluster.close()


def test_a_short_cut_is_waited_for(cable: Cable, cluster: Machines, tmp_path: Path) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    going = InBackground(campaign, output, cluster.address)
    wait_until((tmp_path / "began-5").exists)
    cable.pull()
    (tmp_path / "gate").touch()
    time.sleep(1.5)
    cable.plug()
    going.wait()
    assert going.error is None
    assert going.summary is not None
    assert going.summary.complete
    assert events(output, "node lost") == []
    assert published(output) == 12


def test_a_worker_that_stays_cut_off_is_given_up_and_another_goes_on(
    cable: Cable, cluster: Machines, tmp_path: Path
) -> None:
    campaign, output = campaign_of(tmp_path, waits=[5]), tmp_path / "out.h5"
    going = InBackground(campaign, output, cluster.address)
    wait_until((tmp_path / "began-5").exists)
    cable.pull()
    cluster.start_worker("near")
    wait_until(lambda: events(output, "node lost"))
    (tmp_path / "gate").touch()
    going.wait()
    assert going.error is None
    assert going.summary is not None
    assert going.summary.complete
    assert equal(results(output), undisturbed(tmp_path, campaign))
