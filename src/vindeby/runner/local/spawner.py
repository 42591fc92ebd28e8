"""The process that starts every worker, and sees to it that none outlives the coordinator.

It stands between the coordinator and its workers: it starts them (``spawn``: a fresh interpreter each;
``forkserver``: a copy of this process, in which the heavy imports are done already), reports how each ended,
kills on request, and when the coordinator is gone, killed or not, kills everything below itself. On Linux it
also inherits what a dead worker leaves behind, processes that a task started and that hid in a session of
their own, and ends them.

It runs no code of a task and has one thread, so that it may fork. ``Spawner`` is the coordinator's end of it. Messages
on their stream are JSON, each preceded by its length in four bytes; the channels of the workers use the same frames.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

from vindeby.runner.processes import adopt_orphans, die_with_parent, oom_kills

_LENGTH = struct.Struct("<I")
HEADER_SIZE = _LENGTH.size


def framed(payload: bytes) -> bytes:
    """A payload as it travels."""
    return _LENGTH.pack(len(payload)) + payload


def payload_size(header: bytes) -> int:
    """How many bytes follow a header."""
    size: int = _LENGTH.unpack(header)[0]
    return size


class FrameBuffer:
    """Collects what arrives in pieces of any size, and gives out whole payloads."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> None:
        """Keep bytes that arrived."""
        self._received += data

    def take(self) -> list[bytes]:
        """Every payload that has arrived in whole; one that was cut short stays."""
        payloads, start = [], 0
        while len(self._received) - start >= HEADER_SIZE:
            (size,) = _LENGTH.unpack_from(self._received, start)
            stop = start + HEADER_SIZE + size
            if len(self._received) < stop:
                break
            payloads.append(bytes(self._received[start + HEADER_SIZE : stop]))
            start = stop
        if start:
            del self._received[:start]
        return payloads


def receive_exactly(stream: socket.socket, count: int) -> bytes:
    """So many bytes, waiting for them; EOFError when the other side is gone first."""
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


PRELOADED = ("numpy", "h5py", "vindeby.campaign", "vindeby.store.format.shard", "vindeby.runner.local.worker")


@dataclass(frozen=True)
class Start:
    """Everything that a worker is started with; it comes with the descriptor of its channel."""

    slot: int
    slots: int
    log: str


class SpawnerProcess:
    """The loop: requests of the coordinator, and children that end."""

    def __init__(self, control: socket.socket, heartbeats: int, method: str) -> None:
        self.control = control
        self.heartbeats = heartbeats
        self.method = method
        self.slots: dict[int, int] = {}
        self.wake, self._alarm = os.pipe()
        self.orders = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT

    def run(self) -> None:
        """Serve until the coordinator is gone, then end everything."""
        for descriptor in (self.wake, self._alarm):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._alarm, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)
        for order in self.orders:
            signal.signal(order, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _leave)
        die_with_parent(signal.SIGTERM)
        adopt_orphans()
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self.control, selectors.EVENT_READ)
                selector.register(self.wake, selectors.EVENT_READ)
                while True:
                    self._turn(selector)
        except (EOFError, SystemExit, ConnectionError):
            self._end_all()

    def _turn(self, selector: selectors.BaseSelector) -> None:
        for key, _ in selector.select():
            if key.fd == self.wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.wake, 4096)
                self._reap()
            else:
                self._serve()

    def _serve(self) -> None:
        request, descriptors = receive_request(self.control)
        if request["do"] == "start":
            self._start(Start(request["slot"], request["slots"], request["log"]), descriptors[0])
        elif request["do"] == "kill":
            self._signal(request["slot"], signal.SIGKILL)
        elif request["do"] == "dump":
            self._signal(request["slot"], signal.SIGUSR1, group=False)
        self._reap()

    def _start(self, start: Start, channel: int) -> None:
        try:
            pid = self._fork(start, channel) if self.method == "forkserver" else self._spawn(start, channel)
        except OSError as error:
            sys.stderr.write(f"cannot start a process: {error.strerror}\n")
            event = {"event": "exited", "slot": start.slot, "status": -signal.SIGKILL, "oom": oom_kills()}
            self._tell(event)
        else:
            self.slots[pid] = start.slot
            self._tell({"event": "started", "slot": start.slot, "pid": pid})
        finally:
            os.close(channel)

    def _spawn(self, start: Start, channel: int) -> int:
        code = (
            "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
            "from vindeby.runner.local.worker import main; main()"
        )
        numbers = map(str, (channel, self.heartbeats, start.slot, start.slots))
        process = subprocess.Popen(  # noqa: S603 - this interpreter and our own code
            [sys.executable, "-c", code, json.dumps(sys.path), *numbers, start.log],
            stdin=subprocess.DEVNULL,
            pass_fds=(channel, self.heartbeats),
            start_new_session=True,
        )
        process.returncode = 0  # this object is done with it; ``_reap`` waits for the process itself
        return process.pid

    def _fork(self, start: Start, channel: int) -> int:
        for name in PRELOADED:
            importlib.import_module(name)
        pid = os.fork()
        if pid == 0:
            self._become_worker(start, channel)
        return pid

    def _become_worker(self, start: Start, channel: int) -> NoReturn:
        """In the child: forget the spawner, then work; it never returns into the loop above."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for order in (*self.orders, signal.SIGCHLD):
                signal.signal(order, signal.SIG_DFL)
            os.setsid()
            self.control.close()
            os.close(self.wake)
            os.close(self._alarm)
            from vindeby.runner.local.worker import work

            status = work(channel, self.heartbeats, start.slot, start.slots, start.log)
        finally:
            os._exit(status)

    def _signal(self, slot: int, number: int, *, group: bool = True) -> None:
        for pid in [pid for pid, taken in self.slots.items() if taken == slot]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.killpg if group else os.kill)(pid, number)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

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
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            slot = self.slots.pop(pid)
            self._tell({"event": "exited", "slot": slot, "status": status, "oom": oom_kills()})
        if ended:
            self._end_strays()

    def _end_strays(self) -> None:
        """Processes that tasks left behind: children of ours, since their own parents died, that we did not start."""
        for pid in _children() - self.slots.keys():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _end_all(self) -> None:
        for pid in list(self.slots):
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(pid, signal.SIGKILL)
        while True:
            for pid in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return

    def _tell(self, event: dict[str, Any]) -> None:
        self.control.sendall(framed(json.dumps(event).encode()))


def _nothing(number: int, frame: FrameType | None) -> None:
    """A handler that only wakes the loop."""


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
    raise SystemExit


def _children() -> set[int]:
    """The processes that are children of this one; empty where the system does not tell."""
    try:
        return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
    except (OSError, ValueError):
        return set()


def send_request(control: socket.socket, request: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """To the spawner: one request, with the descriptors that belong to it."""
    data = framed(json.dumps(request).encode())
    if descriptors:
        sent = socket.send_fds(control, [data], descriptors)
        data = data[sent:]
    control.sendall(data)


def receive_request(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """In the spawner: the next request; EOFError when the coordinator is gone."""
    head, descriptors, _, _ = socket.recv_fds(control, HEADER_SIZE, 1)
    if not head:
        raise EOFError
    header = head + receive_exactly(control, HEADER_SIZE - len(head))
    request: dict[str, Any] = json.loads(receive_exactly(control, payload_size(header)))
    return request, list(descriptors)


def main() -> None:
    """Arguments: the search path, the control socket's descriptor, the heartbeats's, the start method."""
    control, heartbeats, method = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    SpawnerProcess(socket.socket(fileno=control), heartbeats, method).run()


ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "NUMBA")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""One thread for each worker: the cores are shared out among workers, not inside them."""
_CODE = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from vindeby.runner.local.spawner import main; main()"
)


def _log(path: Path) -> IO[bytes]:
    """Where the spawner, and a worker that cannot even begin, complain; nowhere when the disk has no room."""
    try:
        return path.open("ab")
    except OSError:
        return Path(os.devnull).open("ab")


class Spawner:
    """Speaks with one spawner."""

    def __init__(
        self, heartbeats: int, slots: int, method: str, search_path: tuple[str, ...], log: Path
    ) -> None:
        self._heartbeats, self._slots = heartbeats, slots
        self._method = method
        self._search_path = search_path
        self._log = log
        self._start()

    def _start(self) -> None:
        self._frames = FrameBuffer()
        self._control, theirs = socket.socketpair()
        with theirs, _log(self._log) as log:
            numbers = map(str, (theirs.fileno(), self._heartbeats))
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and our own code
                [sys.executable, "-c", _CODE, json.dumps(self._search_path), *numbers, self._method],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(), self._heartbeats),
                env=os.environ | ONE_THREAD,
                start_new_session=True,
            )
        self._control.setblocking(False)

    def fileno(self) -> int:
        """For selectors."""
        return self._control.fileno()

    def start(self, slot: int, channel: socket.socket, log: Path) -> None:
        """Ask for a worker; ``channel`` is its end of the pipe, which is closed here."""
        request = {"do": "start", "slot": slot, "slots": self._slots, "log": str(log)}
        with channel:
            self._ask(request, (channel.fileno(),))

    def kill(self, slot: int) -> None:
        """Ask that a worker and its process group be killed."""
        self._ask({"do": "kill", "slot": slot})

    def dump(self, slot: int) -> None:
        """Ask that a worker write into its log where it is."""
        self._ask({"do": "dump", "slot": slot})

    def _ask(self, request: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        self._control.setblocking(True)
        try:
            with contextlib.suppress(OSError):  # it is gone, which ``events`` reports
                send_request(self._control, request, descriptors)
        finally:
            self._control.setblocking(False)

    def events(self) -> list[dict[str, Any]]:
        """What has happened to workers; EOFError when the spawner itself is gone."""
        try:
            while data := self._control.recv(1 << 16):
                self._frames.feed(data)
        except (BlockingIOError, InterruptedError):
            data = b"."
        except OSError:
            data = b""
        events = [json.loads(payload) for payload in self._frames.take()]
        if not data and not events:
            raise EOFError
        return events

    def restart(self) -> None:
        """A new spawner, after the old one was killed; the kernel killed its workers with it."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._start()

    def close(self) -> None:
        """Let the spawner end everything and go."""
        self._control.close()
        try:
            self._process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
