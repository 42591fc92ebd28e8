"""The coordinator's end of the spawner: it starts the process, asks it for workers, hears how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from vindeby.runner.local.framing import FrameBuffer
from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.local.spawner_process import send_request

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "NUMBA")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""One thread for each worker: the cores are shared out among workers, not inside them."""
_CODE = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from vindeby.runner.local.spawner_process import main; main()"
)


def _log(path: Path) -> IO[bytes]:
    """Where the spawner, and a worker that cannot even begin, complain; nowhere when the disk has no room."""
    try:
        return path.open("ab")
    except OSError:
        return Path(os.devnull).open("ab")


class Spawner:
    """Speaks with one spawner."""

    def __init__(self, heartbeats: Heartbeats, method: str, search_path: tuple[str, ...], log: Path) -> None:
        self._heartbeats = heartbeats
        self._method = method
        self._search_path = search_path
        self._log = log
        self._start()

    def _start(self) -> None:
        self._frames = FrameBuffer()
        self._control, theirs = socket.socketpair()
        with theirs, _log(self._log) as log:
            numbers = map(str, (theirs.fileno(), self._heartbeats.descriptor))
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and our own code
                [sys.executable, "-c", _CODE, json.dumps(self._search_path), *numbers, self._method],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(), self._heartbeats.descriptor),
                env=os.environ | ONE_THREAD,
                start_new_session=True,
            )
        self._control.setblocking(False)

    def fileno(self) -> int:
        """For selectors."""
        return self._control.fileno()

    def start(self, slot: int, channel: socket.socket, log: Path) -> None:
        """Ask for a worker; ``channel`` is its end of the pipe, which is closed here."""
        request = {"do": "start", "slot": slot, "slots": self._heartbeats.slots, "log": str(log)}
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
