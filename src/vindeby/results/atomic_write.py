"""Files that people asked for: written as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from vindeby.errors import StorageError
from vindeby.store.disk.output_path import check_output


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in place; what stood there before stays when this fails, and a symbolic link stays one."""
    path = check_output(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StorageError(
            f"{path}: cannot be written: {error.strerror}; name a file in a folder of yours with -o"
        ) from None
