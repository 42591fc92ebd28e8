"""A file for HDF5 to write into that never fails towards the library.

When a disk is full, the HDF5 library can crash the process while it closes the file. So it writes through
this object, which makes plain system calls, remembers the first error, and lets the library go on; the error
is raised where we ask for it, and the half-written file is thrown away.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self


class CarefulFile:
    """A new file, with the methods that h5py asks of a file object."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._position = 0
        self._error: OSError | None = None

    def check(self) -> None:
        """Raise the error that happened on the way, if one did."""
        if self._error is not None:
            raise self._error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move within the file."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (os.fstat(self._descriptor).st_size if start is None else start)
        return self._position

    def tell(self) -> int:
        """Where in the file we are."""
        return self._position

    def read(self, size: int) -> bytes:
        """Read; h5py takes an object for a file by this method, and then uses ``readinto``."""
        data = bytearray(size)
        self.readinto(memoryview(data))
        return bytes(data)

    def readinto(self, buffer: memoryview) -> int:
        """Read; beyond the end, and after an error, there are zeros."""
        view = memoryview(buffer).cast("B")
        got = os.preadv(self._descriptor, [view], self._position)
        view[got:] = bytes(len(view) - got)
        self._position += len(view)
        return len(view)

    def write(self, data: memoryview) -> int:
        """Write all of it, or remember why not."""
        view = memoryview(data).cast("B")
        length = len(view)
        while view and self._error is None:
            try:
                done = os.pwrite(self._descriptor, view, self._position)
            except OSError as error:
                self._error = error
                break
            view = view[done:]
            self._position += done
        self._position += len(view)
        return length

    def truncate(self, size: int) -> int:
        """Set the length, or remember why not."""
        try:
            if self._error is None:
                os.ftruncate(self._descriptor, size)
        except OSError as error:
            self._error = error
        return size

    def flush(self) -> None:
        """Nothing is buffered here."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        if error is None:
            self.check()
