"""What looking costs: ``monitor`` on 3,000 and 100,000 results, and a board with 20 viewers beside a campaign.

Processor time is what is compared: it does not depend on what else the machine does. Wall times are the best of
several, and say something only on a machine that does nothing else.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Task
from vindeby.looking.monitor.observe import Observer
from vindeby.store.merge import MergeOptions, merge
from vindeby.store.publish import ShardWriter
from vindeby.store.record import Record
from vindeby.store.rundir import RunDirectory

COMMAND = str(Path(sys.executable).with_name("vindeby"))
VIEWERS = 20
SECONDS = 30


def records(campaign: Campaign, tasks: Iterator[Task]) -> Iterator[Record]:
    """Records of the right size; where the turbines stand does not matter here."""
    random = np.random.default_rng(0)
    for task in tasks:
        arrays = {
            "layout": random.uniform(0, 3e4, (2, task.n_turbines)),
            "aep": np.asarray(5000 + random.random()),
        }
        attributes = {
            "farm_idx": task.farm_idx, "type_idx": task.type_idx, "ss_seed": task.seed, "seconds": 1.0,
            "n_turbines": task.n_turbines, "diameter": campaign.turbines[task.type_idx].rotor_diameter_m,
        }  # fmt: skip
        yield Record(task.key, task.fingerprint, arrays, attributes)


def make(output: Path, count: int, layout: str | None) -> Campaign:
    """A run directory with this many results in shards, or a database of them in this layout."""
    campaign = Campaign.load("energy-island", [f"seeds={count // 60}"])
    run = RunDirectory(output).create()
    run.freeze_campaign(campaign.dumps())
    writer, every = ShardWriter(run), list(records(campaign, iter(campaign.tasks())))
    for start in range(0, len(every), 200):
        writer.publish(every[start : start + 200])
    if layout is not None:
        merge(output, MergeOptions(root=campaign.root_attributes(), layout=layout))
    return campaign


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def time_monitor(folder: Path) -> None:
    for count, layout in ((3000, None), (3000, "classic"), (99960, "table")):
        output = folder / f"{count}-{layout}.h5"
        make(output, count, layout)
        walls, works = [], []
        for _ in range(5):
            began, before = time.perf_counter(), children_s()
            subprocess.run([COMMAND, "monitor", str(output)], check=True, stdout=subprocess.DEVNULL)
            walls.append(time.perf_counter() - began)
            works.append(children_s() - before)
        observer = Observer(output)
        observer.look()
        began = time.process_time()
        observer.look()
        again = time.process_time() - began
        print(
            f"monitor, {count:,} results, {layout or 'in shards'}: {min(walls):.2f} s, {min(works):.2f} s of processor"
            f"; a second look in the same process: {again * 1000:.0f} ms of processor"
        )


async def view(address: str, until: float) -> int:
    """One viewer; how many bytes came."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{parts.port}\r\n\r\n".encode())
    count = 0
    while time.monotonic() < until:
        try:
            part = await asyncio.wait_for(reader.read(1 << 16), 1.0)
        except TimeoutError:
            continue
        count += len(part)
        if not part:
            break
    writer.close()
    return count


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def time_board(folder: Path) -> None:
    """A board with 20 viewers while results come, 20 a second, on top of 3,000."""
    output = folder / "board.h5"
    campaign = make(output, 3000, None)
    more = Campaign.load("energy-island", ["seeds=100"])
    RunDirectory(output).freeze_campaign(more.dumps())
    new = records(campaign, (task for task in more.tasks() if task.seed >= 50))
    ending = threading.Event()

    def publish() -> None:
        writer = ShardWriter(RunDirectory(output))
        while not ending.wait(1.0):
            writer.publish([next(new) for _ in range(20)])

    process = subprocess.Popen(
        [COMMAND, "board", str(output), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = process.stdout.readline().split()[1]
    thread = threading.Thread(target=publish)
    thread.start()
    try:

        async def everybody() -> list[int]:
            until = time.monotonic() + SECONDS
            return await asyncio.gather(*(view(address, until) for _ in range(VIEWERS)))

        before, began = processor_s(process.pid), time.monotonic()
        received = asyncio.run(everybody())
        used, elapsed = processor_s(process.pid) - before, time.monotonic() - began
    finally:
        ending.set()
        thread.join()
        process.send_signal(signal.SIGTERM)
        process.wait()
    cores = len(os.sched_getaffinity(0))
    print(
        f"board, {VIEWERS} viewers, 3,000 results and 20 more a second: {used:.2f} s of processor in {elapsed:.0f} s, "
        f"{100 * used / elapsed / cores:.1f} % of {cores} cores; {sum(received) / VIEWERS / 1e6:.1f} MB to each viewer"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        time_board(Path(folder))
        time_monitor(Path(folder))


if __name__ == "__main__":
    main()
