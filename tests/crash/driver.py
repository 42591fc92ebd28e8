"""Runs one job of the store in a process of its own, to be killed, starved or failed from outside.

``python -m tests.crash.driver publish|merge|salvage OUT.h5``. Acknowledged records are told on stdout with
``writev``, a system call that no test disturbs. Exit 0: done. 1: an error that vindeby raises on purpose.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.store.examples import records
from vindeby.errors import VindebyError
from vindeby.store.disk import run_directory as rundir
from vindeby.store.disk.files import Retry
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge

BATCHES = 3
BATCH = 12


def main() -> None:
    job, output = sys.argv[1], Path(sys.argv[2])
    file_format = sys.argv[3] if len(sys.argv) > 3 else "classic"
    quick = Retry(attempts=3, first_wait_s=0.001)
    vars(rundir)["Retry"] = lambda: quick  # small files must not wait long either
    try:
        if job == "publish":
            writer = ShardWriter(RunDirectory(output).create(), retry=quick)
            for number in range(BATCHES):
                receipt = writer.publish(records(BATCH, start=100 + number * BATCH))
                lines = [f"{key} {text}\n" for key, text in zip(receipt.keys, receipt.checksums, strict=True)]
                os.writev(1, ["".join(lines).encode()])
        else:
            merge(output, MergeOptions(file_format=file_format))
    except VindebyError as error:
        os.writev(2, [f"vindeby: {error}\n".encode()])
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
