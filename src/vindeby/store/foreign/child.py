"""The program of a guarded child: ``python -m vindeby.store.foreign.child DESCRIPTOR MEMORY_BYTES``.

It gets requests, one JSON object each, over a connection and answers with messages (``guard``). It may die at any
moment; it changes nothing on disk.
"""

import contextlib
import importlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import h5py
import numpy as np

from vindeby.errors import VindebyError
from vindeby.store.disk.files import read_fully
from vindeby.store.foreign.gridded_file import read_gridded
from vindeby.store.foreign.guard import DONE, FAILED, PROGRESS, RESULT, Asked
from vindeby.store.foreign.records import LIBRARY_ERRORS, ForeignReader, no_more_files

_ONES = 1 << 16


class _Patched(io.FileIO):
    """A file as if it began with other bytes and went on to another end, after its own with ones and then with zeros.

    There are more ones than an attribute in an object header has bytes: a cut number does not read as a smaller one.
    """

    def __init__(self, path: str, head: bytes, end: int) -> None:
        super().__init__(path)
        self._head, self._end, self._zeros = head, end, os.fstat(self.fileno()).st_size + _ONES

    def readinto(self, buffer: Any) -> int:
        at, size = self.tell(), len(buffer)
        data = self._head[at : at + size]
        data += read_fully(self.fileno(), size - len(data), at + len(data))
        ones = min(size - len(data), max(0, self._zeros - at - len(data)))
        buffer[:] = (data + b"\xff" * ones).ljust(size, b"\0")
        self.seek(at + size)
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(self._end) if whence == os.SEEK_END else super().seek(offset, whence)


def main() -> None:
    """Answer requests until the connection closes."""
    connection, memory = Connection(int(sys.argv[1])), int(sys.argv[2])
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def send(kind: bytes) -> Callable[[bytes], None]:
        return lambda data: connection.send_bytes(kind + data)

    def progress(text: str) -> None:
        connection.send_bytes(PROGRESS + text.encode(errors="surrogateescape"))

    _load_everything()
    progress("ready")
    while True:
        try:
            request: dict[str, Any] = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        task = request.pop("task")
        try:
            if task == "gridded":
                answer: dict[str, Any] = read_gridded(result=send(RESULT), **request)
            else:
                asked = Asked(**request)
                head = bytes.fromhex(asked.head)
                source = _Patched(asked.path, head, asked.end) if head else asked.path
                with h5py.File(source, "r", locking=False) as file, no_more_files():
                    answer = ForeignReader(asked, progress, send(RESULT)).read(file)
            connection.send_bytes(DONE + json.dumps(answer).encode())
        except (VindebyError, *LIBRARY_ERRORS) as error:
            text = f"{type(error).__name__}: {error}"[:1000]
            connection.send_bytes(FAILED + text.encode(errors="replace"))


def _load_everything() -> None:
    """Read a file once: while one is read, no library can open the files of a part that it loads late."""
    for name in ("encodings.ascii", "h5py._hl.dims", "numpy.ma"):
        importlib.import_module(name)
    groups = io.BytesIO()
    with h5py.File(groups, "w") as file:
        file["a/array"], file["b/array"] = np.zeros((1, 2)), np.zeros(3)
        file.create_dataset("c/array", data=np.zeros((1, 2)), chunks=(1, 2), fletcher32=True)
        file["a"].attrs.update({"text": "a", "texts": ["a", "b"], "number": 1.0, "bytes": np.bytes_(b"a")})
        file["b"].attrs["checksum"] = "none"
    with h5py.File(groups, "r") as file:
        ForeignReader(Asked("", 1 << 20, 1 << 20, 10), lambda _: None, lambda _: None).read(file)


if __name__ == "__main__":
    main()
