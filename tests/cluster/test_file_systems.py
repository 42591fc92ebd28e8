"""Two machines and one file system: each sees the run directory through a mount of its own, late and slowly.

A stand-in for NFS, which needs a kernel that has it: two FUSE mounts of one folder, with delays, stale listings and
expired handles (``slow_mount.py``). Machines differ by their host name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.dask_machines import wait_until
from tests.cluster.undisturbed import undisturbed
from tests.contracts.test_pools import steered
from tests.kernel import skip_without_fuse, skip_without_namespaces
from tests.runner.campaigns import ROOT, equal, results
from tests.store.examples import contents, records, sums
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.rows import checksum_of
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import merge

STALE_S = 1.0
LONG_STALE_S = 3.0
"""Where a test must come to look before a listing is renewed."""


class Machine:
    """A mount, and commands that run under another host name."""

    def __init__(self, folder: Path, name: str, stale_s: float) -> None:
        self.name, self.place = name, folder / name
        self.place.mkdir()
        self.output = self.place / "out.h5"
        script = str(Path(__file__).with_name("slow_mount.py"))
        with (folder / f"{name}.log").open("wb") as log:
            self.mount = subprocess.Popen(
                [sys.executable, script, str(folder / "shared"), str(self.place), str(stale_s)],
                stdout=log,
                stderr=log,
            )
        try:
            wait_until(lambda: os.path.ismount(self.place) or self.mount.poll() is not None, 30.0)
        finally:
            if not os.path.ismount(self.place):
                self.mount.kill()
        if not os.path.ismount(self.place):
            raise OSError((folder / f"{name}.log").read_text()[-2000:])

    def words(self, *words: str) -> list[str]:
        there = f'hostname {self.name} && exec "$@"'
        return ["unshare", "--uts", "sh", "-c", there, "sh", sys.executable, "-m", "vindeby", *words]

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with self.place.with_suffix(".out").open("wb") as out:
            return subprocess.Popen(self.words(*words), cwd=ROOT, stdout=out, stderr=out)

    def vindeby(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*words), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )

    def end(self) -> None:
        subprocess.run(["umount", "-l", str(self.place)], check=False)
        self.mount.wait(30)


@pytest.fixture
def pair(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Machine, Machine]]:
    skip_without_fuse(tmp_path)
    skip_without_namespaces("uts")
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed: apt-get install util-linux")
    if subprocess.run([sys.executable, "-c", _HAS_FUSE], check=False, capture_output=True).returncode:
        pytest.skip("python3-fusepy is not installed: apt-get install python3-fusepy")
    (tmp_path / "shared").mkdir()
    machines: list[Machine] = []
    try:
        for name in ("one", "two"):
            machines.append(Machine(tmp_path, name, getattr(request, "param", STALE_S)))
        yield machines[0], machines[1]
    finally:
        for machine in machines:
            machine.end()


_HAS_FUSE = """
import sys
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import fusepy
except ImportError:
    import fuse
"""


def campaign_file(folder: Path, seeds: int, **parameters: object) -> tuple[Campaign, str]:
    data = steered(folder, seeds, **parameters).to_data()
    data["run"] = {"workers": 1, "flush_s": 0.05}
    campaign = Campaign.from_data(data)
    (folder / "campaign.yaml").write_text(campaign.dumps())
    return campaign, str(folder / "campaign.yaml")


def test_parts_on_two_machines_are_merged_on_one_and_read_on_the_other(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = pair
    campaign, file = campaign_file(tmp_path, 10)
    running = [
        machine.start("run", file, "-o", str(machine.output), "--part", f"{number}/2")
        for number, machine in enumerate(pair, start=1)
    ]
    assert [process.wait(120) for process in running] == [0, 0], [
        process.communicate() for process in running
    ]
    time.sleep(STALE_S)
    merged = two.vindeby("merge", str(two.output))
    assert merged.returncode == 0, merged.stderr
    time.sleep(STALE_S)
    found = one.vindeby("missing", str(one.output))
    assert "all 10 results are there" in found.stderr
    assert equal(results(one.output), undisturbed(tmp_path, campaign))


@pytest.mark.parametrize("pair", [LONG_STALE_S], indirect=True)
def test_a_merge_with_a_stale_listing_leaves_what_it_did_not_see_for_the_next(
    pair: tuple[Machine, Machine],
) -> None:
    here, there = (RunDirectory(machine.output) for machine in pair)
    batch = records(9)
    writer = ShardWriter(here.create())
    writer.publish(batch[:3])
    time.sleep(LONG_STALE_S)
    assert len(there.shard_paths()) == 1  # this listing is kept
    writer.publish(batch[3:6])
    writer.publish(batch[6:])
    assert len(there.shard_paths()) == 1
    assert merge(there).records == 3
    time.sleep(LONG_STALE_S)
    assert len(there.shard_paths()) == 2
    assert merge(there).records == 9
    time.sleep(LONG_STALE_S)
    assert {key: checksum_of(record) for key, record in contents(pair[0].output).items()} == sums(batch)


def test_a_lock_that_the_other_machine_holds_is_respected(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = pair
    _, file = campaign_file(tmp_path, 4, waits=[2])
    going = one.start("run", file, "-o", str(one.output))
    wait_until((tmp_path / "began-2").exists)
    refused = two.vindeby("run", file, "-o", str(two.output))
    assert refused.returncode == 1
    assert "on one" in refused.stderr
    assert "--take-over" in refused.stderr
    (tmp_path / "gate").touch()
    assert going.wait(120) == 0
    time.sleep(STALE_S)
    assert len(results(two.output)) == 4


def test_handles_that_expire_are_opened_again(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, two = pair
    _, file = campaign_file(tmp_path, 5)
    (tmp_path / "estale").write_text("/shards/")
    assert one.vindeby("run", file, "-o", str(one.output), "--part", "1/1").returncode == 0
    time.sleep(STALE_S)
    merged = two.vindeby("merge", str(two.output))
    (tmp_path / "estale").unlink()
    for machine in pair:
        assert (tmp_path / f"{machine.name}.log").read_text().count("ESTALE") == 3
    assert merged.returncode == 0, merged.stderr
    time.sleep(STALE_S)
    assert len(results(one.output)) == 5
