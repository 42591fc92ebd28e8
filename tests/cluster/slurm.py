"""A real SLURM of one node on loopback, with its own configuration, munge and ports in a temporary folder."""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.runner.campaigns import marked_processes

LONGEST_S = 120.0
COMMANDS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "scontrol")

_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
ReturnToService=2
JobRequeue=1
KillWait=5
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """The cluster, through SLURM's own commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}

    def command(self, *words: str) -> str:
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def queue(self) -> dict[str, str]:
        """The state of each job or element that is in the queue, such as RUNNING."""
        lines = self.command("squeue", "--noheader", "--array", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def until(self, true: Callable[[], object], longest_s: float = LONGEST_S) -> None:
        deadline = time.monotonic() + longest_s
        while not true():
            assert time.monotonic() < deadline, (self.queue(), self.log())
            time.sleep(0.2)

    def log(self) -> str:
        return (self.folder / "slurmctld.log").read_text(errors="replace")[-4000:]


def missing() -> str:
    """What is not installed; empty when everything is."""
    absent = [name for name in COMMANDS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    return f"SLURM is not installed ({', '.join(absent)}): apt-get install slurm-wlm munge" if absent else ""


@contextmanager
def running(folder: Path) -> Iterator[Slurm]:
    """Start it, and end it with everything that runs in it.

    A job that is requeued waits until its credential has expired; ``cred_expire`` makes that a short time.
    """
    if why := missing():
        pytest.skip(why)
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    values = {
        "host": platform.node().partition(".")[0],
        "user": getpass.getuser(),
        "folder": folder,
        "controller_port": _free_port(),
        "node_port": _free_port(),
    }
    (folder / "slurm.conf").write_text(_CONFIGURATION.format(**values))
    slurm = Slurm(folder)
    try:
        _start(slurm, str(values["host"]))
        yield slurm
    finally:
        with suppress(AssertionError, subprocess.TimeoutExpired):
            slurm.command("scancel", "--user", getpass.getuser())
            slurm.until(lambda: not slurm.queue(), 30.0)
        _end([folder / f"{name}.pid" for name in ("slurmd", "slurmctld", "munged")])
        for pid in marked_processes(
            f"SLURM_CONF={folder}/"
        ):  # proctrack/linuxproc loses who outlives its script
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _start(slurm: Slurm, host: str) -> None:
    folder = slurm.folder
    files = [f"--{kind}-file={folder}/munge.{kind}" for kind in ("key", "log", "seed")]
    _run(
        slurm,
        "munged",
        "--force",
        *files,
        f"--socket={folder}/munge.socket",
        f"--pid-file={folder}/munged.pid",
    )
    _run(slurm, "slurmctld", "-c")
    _run(slurm, "slurmd", "-N", host)

    def is_up() -> bool:
        with suppress(AssertionError):
            return slurm.command("sinfo", "--noheader", "--format=%T").strip() in {"idle", "mixed"}
        return False

    slurm.until(is_up)


def _run(slurm: Slurm, name: str, *arguments: str) -> None:
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert path is not None
    with (slurm.folder / f"{name}.out").open("wb") as out:
        subprocess.run(
            [path, *arguments], env=slurm.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
            timeout=60, check=True,
        )  # fmt: skip


def _end(pid_files: list[Path]) -> None:
    """Ask all of them, then kill those that take their time to save a state that nobody needs."""
    left = []
    for pid_file in pid_files:
        with suppress(OSError, ValueError):
            left.append(int(pid_file.read_text()))
            os.kill(left[-1], signal.SIGTERM)
    deadline = time.monotonic() + 1.0
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = [pid for pid in left if Path(f"/proc/{pid}").exists()]
    for pid in left:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
