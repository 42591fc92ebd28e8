"""Results of workers that do not see the run directory: they come back to the coordinator, which publishes them."""

from __future__ import annotations

from pathlib import Path

from vindeby.errors import DataError
from vindeby.runner.execution.unreported import shard_name
from vindeby.store.disk.lock_state import LeasedFiles
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.seal import SealedFile
from vindeby.store.format.shard import ShardWriter, read_segments


class ReturnedShards:
    """Publishes shards that arrive as bytes, under the lock of the run."""

    def __init__(self, run: RunDirectory, lock: str, token: str) -> None:
        self._writer = ShardWriter(run, files=LeasedFiles(Path(lock), token) if lock else None)

    def publish(self, data: bytes, origin: str) -> str:
        """Check a shard and make its records durable here; the name of the new shard.

        DataError when it was damaged on its way, StorageError when the disk refuses.
        """
        file = SealedFile.of_bytes(data, origin)
        if file is None:
            raise DataError(f"{origin}: what came back is no shard")
        with file:
            records = [record for segment in read_segments(file) for record in segment.records()]
        return shard_name(self._writer.publish(records).path)
