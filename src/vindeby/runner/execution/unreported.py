"""What a dead worker published and could not report any more."""

from __future__ import annotations

import contextlib
from collections.abc import Container
from pathlib import Path

from vindeby.store.disk.files import Files
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.format.shard import read_segments


def unreported_keys(run: RunDirectory, writer: str, reported: Container[str]) -> set[str]:
    """Keys of whole records in shards of ``writer`` that are not among those reported; made durable here.

    ``writer`` is what ``TaskExecutor.writer`` was in that worker; ``reported`` are the shards of its
    acknowledgements. Every pool that hears of a death asks this, so that nothing finished is computed again.
    """
    keys: set[str] = set()
    if not writer:
        return keys
    for directory in sorted(run.shards.glob(f"{writer}-*")):
        fresh = [path for path in directory.glob("*.h5") if shard_name(path) not in reported]
        for path in fresh:
            keys |= _keys_in(path)
        if fresh:
            with contextlib.suppress(OSError):
                Files().fsync_directory(directory)
    return keys


def shard_name(path: Path) -> str:
    """How acknowledgements name a shard."""
    return f"{path.parent.name}/{path.name}"


def _keys_in(path: Path) -> set[str]:
    try:
        file = SealedFile.open(path)
        if file is None:
            return set()
        with file:
            segments = read_segments(file)
            return {key.decode() for part in segments for key in part.rows["key"][part.intact()].tolist()}
    except (OSError, SealError, ValueError, KeyError):
        return set()
