"""Where a run finds its Dask workers: an address, a scheduler file, a cluster made here, or the user's client."""

import json
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from vindeby.campaign.sections.run_options import RunOptions, SlurmOptions
from vindeby.errors import ArgumentError
from vindeby.runner.cluster.slurm_jobs import running
from vindeby.runner.processes import usable_cores
from vindeby.text import plural

_CONNECT_S = 30.0
_LARGEST_FILE = 1 << 22
LOCAL = "local"


NoJobsReason: TypeAlias = Callable[[], str]
"""Why no worker will come of the jobs that start them, and what to do about it; empty as long as some may."""


@contextmanager
def connected(
    pool: object, options: RunOptions, workers: int | None, logs: Path, say: Callable[[str], None]
) -> Iterator[tuple[Any, NoJobsReason | None]]:
    """A client for what ``pool`` names, and its end where it was made here; ArgumentError when nothing answers.

    Where jobs start its workers, also what is known of those.
    """
    distributed, no_jobs_reason = _imported(), None
    with ExitStack() as stack:
        if isinstance(pool, distributed.Client):
            client: Any = pool
            if client.asynchronous:
                raise ArgumentError(
                    "pool: the client is asynchronous; give one made without asynchronous=True"
                )
        else:
            if isinstance(pool, SlurmOptions):
                keeper = stack.enter_context(running(pool, logs, say))
                client = stack.enter_context(distributed.Client(keeper.cluster, set_as_default=False))
                no_jobs_reason = keeper.no_jobs_reason
            elif pool == LOCAL:
                count = workers or (usable_cores() if options.workers == "auto" else int(options.workers))
                client = _local_client(distributed, count, stack, say)
            elif isinstance(pool, str | Path):
                client = _to_scheduler(distributed, str(pool), options.wait_for_workers_s, stack)
            else:
                raise ArgumentError(
                    f"pool: {type(pool).__name__} is not a pool; give a distributed.Client, the address of a Dask "
                    f"scheduler, a scheduler file, or {LOCAL!r}"
                )
        yield client, no_jobs_reason


def _local_client(distributed: Any, count: int, stack: ExitStack, say: Callable[[str], None]) -> Any:
    with _interrupts_ignored():
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
            )
        )
    client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
    say(f"a Dask cluster of {plural(count, 'worker')} was started here: {client.scheduler.address}")
    return client


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes that are started meanwhile ignore Ctrl-C: it is for the coordinator, which ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _to_scheduler(distributed: Any, place: str, patience_s: float, stack: ExitStack) -> Any:
    if "://" in place:
        address = place
    elif Path(place).is_file():
        address = _address_in(Path(place))
    else:
        raise ArgumentError(
            f"--dask: {place!r} is neither an address such as tcp://host:8786 nor a scheduler file nor {LOCAL!r}"
        )
    try:  # a client that cannot even try such an address would keep this process from ending
        distributed.comm.resolve_address(address)
    except (OSError, ValueError) as error:
        raise ArgumentError(
            f"--dask: {place}: {address!r} is not the address of a scheduler that can be reached from here ({error}); "
            "write e.g. tcp://host:8786"
        ) from None
    try:
        with distributed.Client(address, timeout=_CONNECT_S, set_as_default=False):
            pass
        return stack.enter_context(distributed.Client(address, timeout=patience_s, set_as_default=False))
    except (OSError, ValueError, KeyError) as error:
        raise ArgumentError(
            f"--dask: no Dask scheduler answers at {place} ({type(error).__name__}: {error}); start one with "
            "`dask scheduler`, or correct the address"
        ) from None


def _address_in(file: Path) -> str:
    try:
        return str(json.loads(file.read_bytes()[:_LARGEST_FILE])["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ArgumentError(
            f"--dask: {file}: is not a scheduler file, as `dask scheduler --scheduler-file {file}` writes it"
        ) from None


def _imported() -> Any:
    try:
        import distributed
    except ImportError:
        raise ArgumentError("Dask is not installed; install it with: pip install 'vindeby[dask]'") from None
    return distributed
