"""The process that starts every worker, and sees to it that none outlives the coordinator.

It stands between the coordinator and its workers: each is a copy of this process, in which the heavy imports are done
already. It reports how each ended,
kills on request, and when the coordinator is gone, killed or not, kills everything below itself. On Linux it
also inherits what a dead worker leaves behind, processes that a task started and that hid in a session of
their own, and ends them.

It runs no code of a task and has one thread, so that it may fork. ``Spawner`` is the coordinator's end of it.
"""

import contextlib
import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import NoReturn

from vindeby.runner.processes import adopt_orphans, die_with_parent, oom_kills, open_log, start_python

_LOOK_S = 0.02
"""How often it looks for workers that have ended."""
PRELOADED = ("numpy", "vindeby.campaign", "vindeby.store.format.shard", "vindeby.runner.local.worker")


class SpawnerProcess:
    """The loop: requests of the coordinator, and children that end."""

    def __init__(self, control: Connection, heartbeats: int) -> None:
        self.control = control
        self.heartbeats = heartbeats
        """The descriptor of the heartbeats."""
        self.slots: dict[int, int] = {}
        """By the number of each process, the slot of its worker."""
        self.orders = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT

    def run(self) -> None:
        """Serve until the coordinator is gone, then end everything."""
        for order in self.orders:
            signal.signal(order, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a child ended
        die_with_parent(signal.SIGTERM)
        adopt_orphans()
        try:
            while True:
                if self.control.poll(_LOOK_S):
                    self._serve()
                self._reap()
        except (EOFError, SystemExit, OSError):  # a message that is cut short is an OSError
            pass
        finally:
            self._end_all()

    def _serve(self) -> None:
        what, slot, log = self.control.recv()
        if what == "start":
            with socket_of(self.control) as stream:
                _, descriptors, _, _ = socket.recv_fds(stream, 1, 1)
            if not descriptors:
                raise EOFError
            self._start(slot, log, descriptors[0])
        elif what == "kill":
            self._signal(slot, signal.SIGKILL)
        elif what == "dump":
            self._signal(slot, signal.SIGUSR1, group=False)

    def _start(self, slot: int, log: str, channel: int) -> None:
        try:
            pid = self._fork(slot, log, channel)
        except OSError as error:
            sys.stderr.write(f"cannot start a process: {error.strerror}\n")
            self._report_exit(slot, -signal.SIGKILL)
        else:
            self.slots[pid] = slot
            self.control.send({"event": "started", "slot": slot, "pid": pid})
        finally:
            os.close(channel)

    def _fork(self, slot: int, log: str, channel: int) -> int:
        for name in PRELOADED:
            importlib.import_module(name)
        pid = os.fork()
        if pid == 0:
            self._become_worker(slot, log, channel)
        return pid

    def _become_worker(self, slot: int, log: str, channel: int) -> NoReturn:
        """In the child: forget the spawner, then work; it never returns into the loop above."""
        status = 1
        try:
            for order in self.orders:
                signal.signal(order, signal.SIG_DFL)
            os.setsid()
            self.control.close()
            from vindeby.runner.local.worker import work

            status = work(channel, self.heartbeats, slot, log)
        finally:
            os._exit(status)

    def _signal(self, slot: int, number: int, *, group: bool = True) -> None:
        for pid in [pid for pid, taken in self.slots.items() if taken == slot]:
            _send_signal(pid, number, group=group)

    def _reap(self) -> None:
        ended = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid in self.slots:
                ended.append((pid, os.waitstatus_to_exitcode(status)))
        for pid, status in ended:
            _send_signal(pid, signal.SIGKILL)
            self._report_exit(self.slots.pop(pid), status)
        if ended:
            self._end_strays()

    def _report_exit(self, slot: int, status: int) -> None:
        self.control.send({"event": "exited", "slot": slot, "status": status, "oom": oom_kills()})

    def _end_strays(self) -> None:
        """Kill the processes that tasks left behind: children of this process that it did not start."""
        for pid in _children() - self.slots.keys():
            _send_signal(pid, signal.SIGKILL, group=False)

    def _end_all(self) -> None:
        for pid in list(self.slots):
            _send_signal(pid, signal.SIGKILL)
        while True:
            for pid in _children():
                _send_signal(pid, signal.SIGKILL, group=False)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _send_signal(pid: int, number: int, *, group: bool = True) -> None:
    for send in (os.killpg, os.kill) if group else (os.kill,):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(pid, number)


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
    raise SystemExit


def _children() -> set[int]:
    try:
        return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
    except (OSError, ValueError):
        return set()


def main() -> None:
    """Arguments: the search path; the descriptors of control and heartbeats."""
    control, heartbeats = map(int, sys.argv[2:4])
    SpawnerProcess(Connection(control), heartbeats).run()


ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "NUMBA")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""One thread for each worker: the cores are shared out among workers, not inside them."""


@contextlib.contextmanager
def socket_of(connection: Connection) -> Iterator[socket.socket]:
    """The socket of a connection, without a descriptor of its own."""
    stream = socket.socket(fileno=connection.fileno())
    try:
        yield stream
    finally:
        stream.detach()


def hang_up(connection: Connection) -> None:
    """End both directions, also for a thread that reads."""
    with contextlib.suppress(OSError), socket_of(connection) as stream:
        stream.shutdown(socket.SHUT_RDWR)


class Spawner:
    """Speaks with one spawner; what that reports about workers is read by the thread that ``listen`` starts."""

    def __init__(
        self,
        heartbeats: int,
        search_path: tuple[str, ...],
        log: Path,
        listen: Callable[[Connection], threading.Thread],
    ) -> None:
        self._heartbeats, self._search_path, self._log = heartbeats, search_path, log
        self._listen = listen
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._control = Connection(ours.detach())
        with theirs, os.fdopen(open_log(str(self._log)), "ab") as log:
            handed = theirs.fileno(), self._heartbeats
            self._process = start_python(
                "vindeby.runner.local.spawner",
                self._search_path,
                *handed,
                stdout=log,
                stderr=log,
                pass_fds=handed,
                env=os.environ | ONE_THREAD,
            )
        self._listener = self._listen(self._control)

    def start(self, slot: int, channel: socket.socket, log: Path) -> None:
        """Ask for a worker; ``channel`` is its end of the pipe, which is closed here."""
        with channel, contextlib.suppress(OSError):
            self._control.send(("start", slot, str(log)))
            with socket_of(self._control) as stream:
                socket.send_fds(stream, [b"."], [channel.fileno()])

    def order(self, what: str, slot: int) -> None:
        """Ask that a worker and its process group be killed (``kill``), or that it log where it is (``dump``)."""
        with contextlib.suppress(OSError):  # it is gone, which the listener notices
            self._control.send((what, slot, ""))

    def restart(self) -> None:
        """A new spawner, after the old one was killed; the kernel killed its workers with it."""
        self._process.kill()
        self._process.wait()
        self._hang_up()
        self._start()

    def close(self) -> None:
        """Let the spawner end everything and go."""
        self._hang_up()
        try:
            self._process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _hang_up(self) -> None:
        hang_up(self._control)
        self._listener.join()
        self._control.close()
