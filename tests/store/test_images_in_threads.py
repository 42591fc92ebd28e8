"""Several threads of one process may build shards at the same time, as a worker of a cluster with threads does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.store.examples import records
from vindeby.store.format.rows import segments_of
from vindeby.store.format.seal import SealedFile
from vindeby.store.format.shard import build_image, read_segments


def test_shards_built_in_several_threads_at_once_are_all_right() -> None:
    batches = [records(40, start=100 * number) for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        images = list(threads.map(build_image, map(segments_of, batches)))
    for batch, image in zip(batches, images, strict=True):
        file = SealedFile.of_bytes(image, "image")
        assert file is not None
        found = [key.decode() for segment in read_segments(file) for key in segment.rows["key"].tolist()]
        assert sorted(found) == sorted(record.key for record in batch)
