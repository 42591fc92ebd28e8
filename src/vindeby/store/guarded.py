"""What runs inside a guarded child: ``python -m vindeby.store.guarded MEMORY_BYTES``.

It reads requests, one JSON object a line, and writes frames (``guard``). It may die at any moment; it changes
nothing on disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from typing import Any

import h5py
import numpy as np

from vindeby.errors import VindebyError
from vindeby.store.foreign import read_foreign
from vindeby.store.foreign_rows import LIBRARY_ERRORS
from vindeby.store.guard import DONE, DOUBTFUL, FAILED, FRAME, PROGRESS, RESULT
from vindeby.store.image import build_image
from vindeby.store.record import Record
from vindeby.store.seal import SealedFile
from vindeby.store.shard import read_segments


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
    for line in sys.stdin.buffer:
        request: dict[str, Any] = json.loads(line)
        task = request.pop("task")
        try:
            if task == "probe":
                answer = _probe(request["name"])
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
    """Use each library once: while a file is read, none of them can open the files of a part it loads late."""
    record = Record("key", "", {"array": np.zeros((1, 2))}, {"text": "a", "number": 1.0})
    image = SealedFile.of_bytes(build_image([record, Record("b", "", {"array": np.zeros((1, 2))})]).data, "")
    assert image is not None
    for segment in read_segments(image):
        segment.intact()
        list(segment.records())
    with h5py.File("warm", "w", driver="core", backing_store=False) as file:
        file["group/data"] = np.zeros((2, 2))
        file["group"].attrs["text"] = "a"
        file["group"].attrs["texts"] = ["a", "b"]
        dict(file["group"].attrs)
        file["group/data"][0:1]


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
