"""Loads the libraries that commands load, and becomes the command ``vindeby`` again and again, each time in a copy.

``python server.py DESCRIPTOR``: requests come through this socket as lines of JSON with two descriptors, for what the
command prints; the answers are the number of the process and, when it has ended, its exit status. Of vindeby itself
only the campaign file is loaded, which all commands read: a command that forgets to import something must fail.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import sys

from numba.core.registry import cpu_target

LOADED = (
    "h5py", "matplotlib.backends.backend_agg", "numpy", "pydantic", "rich.progress", "rich.table", "shapely",
    "typer", "vindeby.campaign.campaign", "yaml",
)  # fmt: skip


def next_command(requests: socket.socket) -> list[str] | None:
    """The arguments of the command that this copy is to become; None when there are no more requests."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1 << 20, 2)
        if not message:
            return None
        while not message.endswith(b"\n"):
            message += requests.recv(1 << 20)
        pid = os.fork()
        if pid == 0:
            request = json.loads(message)
            for stream, descriptor in zip((1, 2), descriptors, strict=True):
                os.dup2(descriptor, stream)
                os.close(descriptor)
            requests.close()
            os.chdir(request["folder"])
            words: list[str] = request["words"]
            return words
        for descriptor in descriptors:
            os.close(descriptor)
        requests.sendall(f"{pid}\n".encode())
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        requests.sendall(f"{status}\n".encode())


def main() -> None:
    for name in LOADED:
        importlib.import_module(name)
    cpu_target.typing_context.refresh()  # what Numba loads at the first function it compiles or finds compiled
    cpu_target.target_context.refresh()
    gc.collect()
    gc.freeze()  # the copies share what is loaded
    try:
        words = next_command(socket.socket(fileno=int(sys.argv[1])))
    except ConnectionError:  # the tests were killed
        return
    if words is None:
        return
    sys.argv[:] = words
    sys.path[0] = os.path.dirname(words[0])  # noqa: PTH120  as the interpreter does it
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
