"""``vindeby doctor [FOLDER]``: cores, memory, GPU, SLURM, disk and caches of this machine; it changes nothing."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from vindeby.cli.options import JsonOption, argument
from vindeby.cli.output import echo, echo_json
from vindeby.text import plural

_ANSWER_S = 20.0
_LEAST_FREE = 1e9
_LEAST_MEMORY = 5e8
"""Least memory of a worker, in bytes: one with the compiled wake engine uses 164 MB (measured in docs/running.md)."""
_SLOW_S = 0.5
"""A durable write that takes longer is slow: those of disks take 1 to 50 ms."""
_ONE_MACHINE_ONLY = frozenset({"tmpfs", "ramfs", "overlay"})


@dataclass(frozen=True)
class MachineFact:
    """A finding about this machine: a summary, a problem with its remedy if there is one, and the data."""

    summary: str
    trouble: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


def command(
    folder: Path = argument("FOLDER", "Where results would be written.", Path()),
    json_: JsonOption = False,
) -> None:
    """Check what this machine offers a campaign: cores, memory, GPU, SLURM, disk, caches; exit 1 when one is bad."""
    found = {
        "cores": cores(),
        "memory": memory(),
        "gpu": gpu(),
        "slurm": slurm(),
        "disk": disk(folder),
        "cache": cache(),
    }
    if json_:
        data = {
            name: {"summary": one.summary, "trouble": one.trouble, **one.data} for name, one in found.items()
        }
        echo_json(data)
    else:
        for name, one in found.items():
            echo(f"{name:<9} {one.summary}")
            if one.trouble:
                echo(f"{'':<9} ! {one.trouble}")
    if any(one.trouble for one in found.values()):
        raise typer.Exit(1)


def cores() -> MachineFact:
    """Count the cores that a run may use."""
    from vindeby.runner.processes import usable_cores

    usable, all_ = usable_cores(), os.cpu_count() or 1
    limited = f" of {all_}, the limit of this process" if usable < all_ else ""
    return MachineFact(
        f"{usable}{limited}; one worker per core by default", data={"usable": usable, "all": all_}
    )


def memory() -> MachineFact:
    """Find the memory that a run and each of its workers may use."""
    from vindeby.campaign.sections.run_options import RunOptions
    from vindeby.runner.processes import total_memory, usable_cores
    from vindeby.runner.running import memory_limits

    total, workers = total_memory(), usable_cores()
    share, _ = memory_limits(RunOptions(), workers)
    if total is None or share is None:
        return MachineFact("unknown; no limit is applied", data={"total": None, "per_worker": None})
    trouble = ""
    if share < _LEAST_MEMORY:
        fitting = max(1, int(workers * share / _LEAST_MEMORY))
        trouble = f"little for {plural(workers, 'worker')}; use fewer of them: --workers {fitting}"
    summary = f"{total / 1e9:.1f} GB, limits of container or job included; {share / 1e9:.2f} GB per worker"
    return MachineFact(summary, trouble, {"total": total, "per_worker": share})


def gpu() -> MachineFact:
    """List NVIDIA's cards, and find whether batches of layouts can be evaluated on one."""
    from vindeby.wake.gpu.devices import found_device

    summary = _answer("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")
    cards = summary.splitlines() if summary else []
    if not cards:
        return MachineFact("none (campaigns run on processors)", data={"cards": [], "usable": False})
    found = found_device()
    use = f"--device auto {'uses' if found.usable else 'does not use'} it: {found.why}"
    data = {"cards": cards, "usable": found.usable, "why": found.why}
    return MachineFact(f"{'; '.join(cards)}; {use}", data=data)


def slurm() -> MachineFact:
    """Find whether jobs can be submitted from here, to which partitions, and whether this process is in a job."""
    from vindeby.runner.processes import node_and_job

    job = node_and_job()[1]
    inside = f"; this process belongs to job {job}" if job else ""
    if shutil.which("sbatch") is None:
        return MachineFact(
            f"not available: no sbatch{inside}", data={"sbatch": False, "partitions": [], "job": job}
        )
    listed = _answer("sinfo", "--noheader", "--format=%P|%D|%l")
    data = {"sbatch": True, "partitions": (listed or "").splitlines(), "job": job}
    if listed is None:
        return MachineFact(f"sbatch is here{inside}", "SLURM's controller gives no answer (sinfo)", data)
    rows = [line.split("|") for line in listed.splitlines() if line.count("|") == 2]
    summary = ", ".join(f"{name} ({nodes} nodes, at most {limit})" for name, nodes, limit in rows)
    return MachineFact(f"partitions {summary or 'none'}{inside}", data=data)


def disk(folder: Path) -> MachineFact:
    """Measure free space and durable writes in a folder, and find whether other machines may see it."""
    try:
        free, seconds = shutil.disk_usage(folder).free, _durable_write_s(folder)
    except OSError as error:
        return MachineFact(
            f"{folder.absolute()}", f"cannot be written to: {error.strerror}; choose another folder"
        )
    kind = (_answer("df", "--output=fstype", str(folder)) or "").rpartition("\n")[2]
    summary = f"{folder.absolute()}: {free / 1e9:,.1f} GB free, {kind or 'unknown file system'}, "
    summary += f"{1e3 * seconds:.1f} ms to write a small file durably"
    trouble = f"only {free / 1e6:,.0f} MB are free" if free < _LEAST_FREE else ""
    if seconds > _SLOW_S:
        trouble = trouble or (
            f"writing durably is slow: workers wait for it where tasks take less than {seconds:.1f} s; write "
            f"run: {{flush_s: {10 * seconds:.0f}}}, so that results share files, or choose another folder"
        )
    if kind in _ONE_MACHINE_ONLY:
        summary += "; only this machine sees it: not for a cluster"
    data = {
        "folder": str(folder.absolute()),
        "free": free,
        "file_system": kind,
        "durable_write_s": seconds,
    }
    return MachineFact(summary, trouble, data)


def cache() -> MachineFact:
    """Find the folder of the wake engine's machine code, and whether it can be written to."""
    from vindeby.wake.compiling.compiled import cache_folder

    place, anew = cache_folder(), "set NUMBA_CACHE_DIR, or each process compiles anew"
    if place is None:
        return MachineFact("none", f"this user has no home: {anew}")
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    above = next(parent for parent in (place, *place.parents) if parent.exists())
    trouble = "" if os.access(above, os.W_OK) else f"not writable: {anew}"
    filled = (
        f"{size / 1e6:,.0f} MB of machine code" if size else "empty: the first run compiles the wake engine"
    )
    return MachineFact(f"{place}: {filled}", trouble, {"folder": str(place), "bytes": size})


def _answer(name: str, *arguments: str) -> str | None:
    """Return the output of a command; None if it does not exist, fails or does not answer."""
    path = shutil.which(name)
    if path is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a tool of the system, by its name
            [path, *arguments], capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _durable_write_s(folder: Path) -> float:
    """Return the seconds to write a small file, force it to the disk and rename it, as shards are published."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".vindeby-doctor-") as inside:
        began = time.perf_counter()
        path = Path(inside) / "probe"
        with path.open("wb") as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        path.rename(path.with_name("renamed"))
        return time.perf_counter() - began
