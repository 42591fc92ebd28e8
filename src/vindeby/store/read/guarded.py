"""What runs inside a guarded child: ``python -m vindeby.store.read.guarded MEMORY_BYTES``.

It reads requests, one JSON object per line, and writes frames (``guard``). It may die at any moment; it changes
nothing on disk but the new file of a merge that asks it to copy what others added (``additions``).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import sys
from typing import Any

import h5py
import numpy as np

from vindeby.errors import VindebyError
from vindeby.store.format.image import build_image
from vindeby.store.format.record import Record
from vindeby.store.read.foreign.additions import copy_additions
from vindeby.store.read.foreign.gridded import read_gridded
from vindeby.store.read.foreign.groups import Asked
from vindeby.store.read.foreign.hdf5_library import LIBRARY_ERRORS
from vindeby.store.read.foreign.reader import read_foreign, read_open
from vindeby.store.read.guard import DONE, DOUBTFUL, FAILED, FRAME, PROGRESS, RESULT


def main() -> None:
    """Answer requests until the pipe closes."""
    memory = int(sys.argv[1])
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    output = os.dup(1)
    os.dup2(2, 1)

    def send(kind: bytes, data: bytes) -> None:
        view = memoryview(FRAME.pack(kind, len(data)) + data)
        while view:
            view = view[os.write(output, view) :]

    _load_everything()
    send(PROGRESS, b"ready")
    answer: dict[str, Any]
    for line in sys.stdin.buffer:
        request: dict[str, Any] = json.loads(line)
        task = request.pop("task")
        try:
            if task == "probe":
                answer = _probe(request["name"])
            elif task == "gridded":
                answer = read_gridded(result=lambda data: send(RESULT, data), **request)
            elif task == "carry":
                answer = copy_additions(progress=lambda text: send(PROGRESS, text.encode()), **request)
            else:
                answer = read_foreign(
                    progress=lambda text: send(PROGRESS, text.encode(errors="surrogateescape")),
                    result=lambda data: send(RESULT, data),
                    doubtful=lambda data: send(DOUBTFUL, data),
                    **request,
                )
            send(DONE, json.dumps(answer).encode())
        except (VindebyError, *LIBRARY_ERRORS) as error:
            send(FAILED, f"{type(error).__name__}: {error}"[:1000].encode(errors="replace"))


def _load_everything() -> None:
    """Read a file of each kind once: while one is read, no library can open the files of a part that it loads late."""
    for name in ("encodings.ascii", "h5py._hl.dims", "numpy.ma"):
        importlib.import_module(name)
    record = Record("key", "", {"array": np.zeros((1, 2))}, {"text": "a", "number": 1.0, "flag": True})
    shard = build_image([record, Record("b", "", {"array": np.zeros((1, 2))})]).data
    groups = io.BytesIO()
    with h5py.File(groups, "w") as file:
        file["a/array"], file["b/array"] = np.zeros((1, 2)), np.zeros(3)
        file["a"].attrs.update({"text": "a", "texts": ["a", "b"], "number": 1.0, "bytes": np.bytes_(b"a")})
        file["b"].attrs["checksum"] = "none"
    for data in (io.BytesIO(shard), groups):
        with h5py.File(data, "r") as file:
            read_open(
                file, Asked(1 << 20, 1 << 20, 1 << 20, 10), lambda _: None, lambda _: None, lambda _: None
            )


def _probe(name: str) -> dict[str, str]:
    """Misbehave on purpose, so that the guard itself can be tested."""
    if name == "crash":
        os.abort()
    if name == "hang":
        os.read(os.pipe()[0], 1)
    if name == "memory":
        return {"length": str(len(bytearray(1 << 36)))}
    return {"name": name}


if __name__ == "__main__":
    main()
