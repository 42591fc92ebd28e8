"""The command ``vindeby`` for tests, each time in a process of its own.

Loading the libraries takes most commands longer than what they do with them, and hundreds of tests run a command.
So the first command in an environment is started as a user would start it, and those after it are copies (``fork``) of
a process with the same environment that has the libraries loaded already (``command/server.py``). A copy runs the same
installed script, with a folder, arguments, standard streams and an exit status of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

__all__ = ["INSTALLED", "vindeby"]

INSTALLED = str(Path(sys.executable).with_name("vindeby"))
"""The script that the installation of the package made."""

_MOST_SERVERS = 3
"""Each keeps about 150 MB."""

_SERVER = Path(__file__).with_name("server.py")
_Environment = tuple[tuple[str, str], ...]


def vindeby(
    folder: Path, *arguments: str, stdout: int = subprocess.PIPE, timeout_s: float = 280.0
) -> subprocess.CompletedProcess[str]:
    """Run the installed command in this folder, and give what it printed and its exit status.

    With ``stdout`` (a descriptor) it is always started as a user would start it, since what is connected there may
    matter from its very beginning.
    """
    server = _SERVERS.get() if stdout == subprocess.PIPE else None
    if server is None:
        command = [INSTALLED, *arguments]
        return subprocess.run(
            command,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            timeout=timeout_s,
            check=False,
        )
    with server.busy:
        return server.run(folder, arguments, timeout_s)


class Server:
    """A process that has the libraries loaded, and copies itself for each command."""

    def __init__(self) -> None:
        self.busy = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(_SERVER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._replies = self._socket.makefile("r")

    def run(
        self, folder: Path, arguments: tuple[str, ...], timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Let a copy run the command; one that takes too long is killed, as ``subprocess.run`` does."""
        words = [INSTALLED, *arguments]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            request = json.dumps({"folder": str(folder), "words": words}).encode() + b"\n"
            socket.send_fds(self._socket, [request], [out.fileno(), err.fileno()])
            pid = self._reply()
            clock = threading.Timer(timeout_s, os.kill, (pid, signal.SIGKILL))
            clock.start()
            status = self._reply()
            late = not clock.is_alive()
            clock.cancel()
            printed = [_text(stream) for stream in (out, err)]
        if late:
            raise subprocess.TimeoutExpired(words, timeout_s, *printed)
        return subprocess.CompletedProcess(words, status, *printed)

    def end(self) -> None:
        """Close the connection, at which the process ends; a command that it runs ends first."""
        with self.busy:
            self._replies.close()
            self._socket.close()
            self._process.wait()

    def _reply(self) -> int:
        line = self._replies.readline()
        if not line:
            raise RuntimeError(f"the process that starts commands ended: status {self._process.wait()}")
        return int(line)


def _text(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


class _Servers:
    """One server for each of the environments in which commands were run again lately."""

    def __init__(self) -> None:
        self._servers: dict[_Environment, Server] = {}  # the one that was used last is last
        self._seen: set[_Environment] = set()
        self._choosing = threading.Lock()

    def get(self) -> Server | None:
        """The server for the present environment, or None: start the command yourself."""
        environment = tuple(sorted(item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST"))
        with self._choosing:
            if environment not in self._seen:
                self._seen.add(environment)
                return None
            server = self._servers.pop(environment, None)
            if server is None:
                if len(self._servers) == _MOST_SERVERS:
                    self._servers.pop(next(iter(self._servers))).end()
                server = Server()
            self._servers[environment] = server
            return None if server.busy.locked() else server

    def end(self) -> None:
        for server in self._servers.values():
            server.end()


_SERVERS = _Servers()
atexit.register(_SERVERS.end)
