"""The process that starts every worker and makes sure that none outlives the coordinator.

It stands between the coordinator and its workers: each is a copy of this process, in which the heavy imports are done
already. It reports how each ended, kills on request, and when the coordinator is gone, killed or not, kills everything
below itself. On Linux it also inherits what a dead worker leaves behind, processes that a task started and that hid in
a session of their own, and ends them. It runs no code of a task and has one thread, so that it may fork.

``multiprocessing``'s fork server does not do this: what hid in a session of its own survives the kill of a coordinator,
and each worker imports the user's script again.
"""

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from vindeby.runner.processes import adopt_orphans, die_with_parent, open_log

_LOOK_S = 0.02
"""The interval at which the spawner looks for workers that have ended."""
PRELOADED = ("numpy", "vindeby.campaign", "vindeby.store.format.shard", "vindeby.runner.local.worker")
_REQUESTS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT
"""The signals that a user or a batch system sends to all processes of a run; only the coordinator obeys them."""


class SpawnerProcess:
    """The loop: requests of the coordinator, and children that end."""

    def __init__(self, control: Connection, heartbeats: int) -> None:
        self.control, self.heartbeats = control, heartbeats
        self.slots: dict[int, int] = {}
        """The slot of each worker, by its process number."""

    def run(self) -> None:
        """Serve until the coordinator is gone, then end everything."""
        for number in _REQUESTS:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a child ended
        die_with_parent(signal.SIGTERM)
        adopt_orphans()
        try:
            while True:
                if self.control.poll(_LOOK_S):
                    self._serve(*self.control.recv())
                self._reap()
        except (EOFError, SystemExit, OSError):  # a message that is cut short is an OSError
            pass
        finally:
            self._end_all()

    def _serve(self, slot: int, order: str | int) -> None:
        """Start a worker, which gets the log of this name, or send its signal to one."""
        if isinstance(order, str):
            with socket_of(self.control) as stream:
                _, descriptors, _, _ = socket.recv_fds(stream, 1, 1)
            if not descriptors:
                raise EOFError
            self._start(slot, order, descriptors[0])
        for pid in [pid for pid, taken in self.slots.items() if taken == slot and isinstance(order, int)]:
            _send_signal(pid, int(order), group=order == signal.SIGKILL)

    def _start(self, slot: int, log: str, channel: int) -> None:
        try:
            for name in PRELOADED:
                importlib.import_module(name)
            pid = os.fork()
            if pid == 0:
                self._become_worker(slot, log, channel)
            self.slots[pid] = slot
            self.control.send(("started", slot, pid))
        except OSError as error:
            sys.stderr.write(f"cannot start a process: {error.strerror}\n")
            self.control.send(("exited", slot, -signal.SIGKILL))
        finally:
            os.close(channel)

    def _become_worker(self, slot: int, log: str, channel: int) -> NoReturn:
        """Turn this child process into a worker; it never returns into the loop above."""
        status = 1
        try:
            for number in _REQUESTS:
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            self.control.close()
            from vindeby.runner.local.worker import work

            status = work(channel, self.heartbeats, slot, log)
        finally:
            os._exit(status)

    def _reap(self) -> None:
        """Report the workers that ended, and kill what tasks left behind: children that were not started here."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] in self.slots:
                    _send_signal(ended[0], signal.SIGKILL)
                    slot = self.slots.pop(ended[0])
                    self.control.send(("exited", slot, os.waitstatus_to_exitcode(ended[1])))
                for pid in _children() - self.slots.keys():
                    _send_signal(pid, signal.SIGKILL, group=False)

    def _end_all(self) -> None:
        for pid in self.slots:
            _send_signal(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                for pid in _children():
                    _send_signal(pid, signal.SIGKILL, group=False)
                os.waitpid(-1, 0)


def _send_signal(pid: int, number: int, *, group: bool = True) -> None:
    for send in (os.killpg, os.kill) if group else (os.kill,):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(pid, number)


def _children() -> set[int]:
    try:
        return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
    except (OSError, ValueError):
        return set()


ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "NUMBA")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""One thread for each worker: the cores are shared out among workers, not inside them."""
_CODE = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from multiprocessing.connection import Connection; "
    "from vindeby.runner.local.spawner import SpawnerProcess; "
    "SpawnerProcess(Connection(int(sys.argv[2])), int(sys.argv[3])).run()"
)


@contextlib.contextmanager
def socket_of(connection: Connection) -> Iterator[socket.socket]:
    """Yield the socket of a connection, without duplicating its descriptor."""
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
    """The coordinator's end of one spawner, whose reports are read by the thread that ``listen`` starts."""

    def __init__(
        self,
        heartbeats: int,
        search_path: tuple[str, ...],
        log: Path,
        listen: Callable[[Connection], threading.Thread],
    ) -> None:
        self._control, theirs = Pipe()
        with theirs, os.fdopen(open_log(str(log)), "ab") as output:
            handed = theirs.fileno(), heartbeats
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and our own code
                [sys.executable, "-c", _CODE, json.dumps(search_path), *map(str, handed)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=handed,
                env=os.environ | ONE_THREAD,
            )
        self._listener = listen(self._control)

    def start(self, slot: int, channel: Connection, log: Path) -> None:
        """Ask for a worker; ``channel`` is its end of the pipe, which is closed here."""
        with channel, contextlib.suppress(OSError):  # it is gone, which the listener notices
            self._control.send((slot, str(log)))
            with socket_of(self._control) as stream:
                socket.send_fds(stream, [b"."], [channel.fileno()])

    def signal(self, slot: int, number: int) -> None:
        """Ask that a worker get a signal; with SIGKILL its process group does."""
        with contextlib.suppress(OSError):
            self._control.send((slot, int(number)))

    def close(self) -> None:
        """Let the spawner end everything and exit; if it was killed, the kernel has killed its workers with it."""
        hang_up(self._control)
        self._listener.join()
        self._control.close()
        try:
            self._process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
