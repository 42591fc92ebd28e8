"""What looking costs: ``monitor`` on 3,000 and 100,000 results, and a board with 20 viewers beside a campaign.

Processor time is what is compared: it depends little on what else the machine does. Wall times are the best of
several, and say something only on a machine that does nothing else. ``--only monitor``, ``board`` or ``campaign``
measures one of the three.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Task
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge

COMMAND = str(Path(sys.executable).with_name("vindeby"))
VIEWERS = 20
SECONDS = 30
ROUNDS = 2
NEW_SEEDS = 4
WORKERS = 2


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


def freeze(output: Path, campaign: Campaign) -> RunDirectory:
    run, text = RunDirectory(output).create(), campaign.dumps()
    run.freeze_campaign(text)
    return run


def make(output: Path, count: int, file_format: str | None) -> Campaign:
    """A run directory with this many results in shards, or a database of them in this file format.

    Small ones have as many shards as a campaign of this size leaves when a worker publishes every second.
    """
    campaign = Campaign.load("energy-island", [f"seeds={count // 60}"])
    writer = ShardWriter(freeze(output, campaign))
    every, batch = list(records(campaign, iter(campaign.tasks()))), 6 if count < 10_000 else 200
    for start in range(0, len(every), batch):
        writer.publish(every[start : start + batch])
    if file_format is not None:
        merge(output, MergeOptions(root=campaign.root_attributes(), file_format=file_format))
    return campaign


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def time_monitor(folder: Path) -> None:
    for count, file_format in ((3000, None), (3000, "classic"), (99960, "table")):
        output = folder / f"{count}-{file_format}.h5"
        make(output, count, file_format)
        walls, works = [], []
        for _ in range(5):
            began, before = time.perf_counter(), children_s()
            subprocess.run([COMMAND, "monitor", str(output)], check=True, stdout=subprocess.DEVNULL)
            walls.append(time.perf_counter() - began)
            works.append(children_s() - before)
        results = ResultSet(output)
        results.look()
        began = time.process_time()
        results.look()
        again = time.process_time() - began
        print(
            f"monitor, {count:,} results, {file_format or 'in shards'}: {min(walls):.2f} s, {min(works):.2f} s of "
            f"processor; a second look in the same process: {again * 1000:.0f} ms of processor"
        )


async def view(address: str, over: Callable[[], bool]) -> int:
    """One viewer; how many bytes came."""
    parts, count, generation, rows = urlsplit(address), 0, "", 0
    while not over():
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        path = f"/news?generation={generation}&count={rows}"
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{parts.port}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = await reader.read()
        writer.close()
        data = json.loads(answer.partition(b"\r\n\r\n")[2])
        count, rows = count + len(answer), len(data["rows"]) + (rows if data["areas"] is None else 0)
        generation = data["generation"]
        if not data["left"]:
            await asyncio.sleep(1.0)
    return count


async def everybody(address: str, over: Callable[[], bool]) -> list[int]:
    """All viewers; how many bytes came to each."""
    return await asyncio.gather(*(view(address, over) for _ in range(VIEWERS)))


@contextmanager
def board(output: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A board on this database, as a process and an address."""
    process = subprocess.Popen(
        [COMMAND, "board", str(output), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().split()[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def time_board(folder: Path) -> None:
    """A board with 20 viewers while results come, 20 a second, on top of 3,000."""
    output = folder / "board.h5"
    campaign = make(output, 3000, None)
    more = Campaign.load("energy-island", ["seeds=100"])
    freeze(output, more)
    new = records(campaign, (task for task in more.tasks() if task.seed >= 50))
    ending = threading.Event()

    def publish() -> None:
        writer = ShardWriter(RunDirectory(output))
        while not ending.wait(1.0):
            writer.publish([next(new) for _ in range(20)])

    with board(output) as (process, address):
        thread = threading.Thread(target=publish)
        thread.start()
        try:
            before, began = processor_s(process.pid), time.monotonic()
            until = began + SECONDS
            received = asyncio.run(everybody(address, lambda: time.monotonic() > until))
            used, elapsed = processor_s(process.pid) - before, time.monotonic() - began
        finally:
            ending.set()
            thread.join()
    cores = len(os.sched_getaffinity(0))
    print(
        f"board, {VIEWERS} viewers, 3,000 results and 20 more a second: {used:.2f} s of processor in {elapsed:.0f} s, "
        f"{100 * used / elapsed / cores:.1f} % of {cores} cores; {sum(received) / VIEWERS / 1e6:.1f} MB to each viewer"
    )


def time_campaign(folder: Path) -> None:
    """A campaign that adds to 3,000 results, without a board and with one and its viewers, in turn."""
    made = folder / "before.h5"
    make(made, 3000, None)
    seeds = list(range(50 + NEW_SEEDS))
    campaign = Campaign.load("energy-island", [f"seeds={seeds}"])
    file = folder / "campaign.yaml"
    file.write_text(campaign.dumps())
    freeze(made, campaign)
    warm = [COMMAND, "run", "energy-island-quick", "--seeds", "1", "-o", str(folder / "warm.h5"), "--quiet"]
    subprocess.run(warm, check=True)
    walls: dict[bool, list[float]] = {False: [], True: []}
    shares: list[float] = []
    for _ in range(ROUNDS):
        for watched in (False, True):
            output = folder / "after.h5"
            shutil.copytree(made.with_name(f"{made.name}.run"), folder / "after.h5.run")
            wall, work, board_work, received = run_once(file, output, watched=watched)
            shutil.rmtree(folder / "after.h5.run")
            walls[watched].append(wall)
            tasks = NEW_SEEDS * 60
            text = f"{tasks / wall:.2f} tasks a second ({wall:.1f} s, {work:.1f} s of processor)"
            if watched:
                shares.append(board_work / work)
                text += f"; board {board_work:.2f} s of processor, {100 * board_work / work:.1f} % of the campaign's"
                text += f"; {received / 1e6:.1f} MB to each viewer"
            print(f"campaign {'with' if watched else 'without'} a board: {text}", flush=True)
    for name, pick in (("all", sum), ("the best", min)):
        ratio = pick(walls[True]) / pick(walls[False])
        print(f"with a board the campaign took {100 * (ratio - 1):+.1f} % time ({name} of {ROUNDS} each)")
    print(f"processor time of the board: {100 * sum(shares) / len(shares):.1f} % of the campaign's")


def run_once(file: Path, output: Path, *, watched: bool) -> tuple[float, float, float, float]:
    """Seconds, processor seconds of the campaign and of the board, and bytes to each viewer."""
    command = [COMMAND, "run", str(file), "-o", str(output), "-j", str(WORKERS), "--part", "1/1", "--quiet"]
    over = threading.Event()
    received: list[int] = []

    def timed() -> tuple[float, float]:
        before, began = children_s(), time.monotonic()
        subprocess.run(command, check=True)
        return time.monotonic() - began, children_s() - before

    if not watched:
        return *timed(), 0.0, 0.0
    with board(output) as (process, address):
        thread = threading.Thread(
            target=lambda: received.extend(asyncio.run(everybody(address, over.is_set)))
        )
        thread.start()
        try:
            time.sleep(3.0)  # the first look, and 3,000 results to each viewer
            before = processor_s(process.pid)
            wall, work = timed()
            used = processor_s(process.pid) - before
        finally:
            over.set()
            thread.join()
    return wall, work, used, sum(received) / VIEWERS


def main() -> None:
    parts = {"monitor": time_monitor, "board": time_board, "campaign": time_campaign}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=parts)
    only = parser.parse_args().only
    for name, part in parts.items():
        if only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))


if __name__ == "__main__":
    main()
