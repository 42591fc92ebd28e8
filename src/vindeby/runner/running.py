"""A whole run: compare with the disk, run what is missing, merge, validate, summarise.

Killed at any moment, call it again to resume: results that were published are found, the lock of a dead process is
broken, and a merge that was cut short is done anew.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vindeby.assembly.device import TOGETHER, chosen_device
from vindeby.assembly.done import Judge
from vindeby.assembly.merging import prepared_directory, refuse_another_campaign, rekey_results
from vindeby.assembly.starts import refuse_starts
from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import search_path
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.campaign.survey import notes_about_files
from vindeby.errors import ArgumentError, InputError, StoppedError, StorageError, TaskError
from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.local.local_pool import LocalPool
from vindeby.runner.methods.call import warning
from vindeby.runner.plan import Plan, Policy
from vindeby.runner.processes import SHARE_OF_MEMORY, total_memory, usable_cores
from vindeby.runner.protocol import Finish, Outcome, WorkerPool
from vindeby.runner.recompute import Recompute, add_to_todo, renew_request
from vindeby.runner.resume import (
    Again,
    Part,
    ResumeState,
    TaskSpace,
    compare_with_disk,
    hold,
    refuse_or_quarantine,
)
from vindeby.runner.summary import Summary, finish_up
from vindeby.runner.supervisor import Supervisor, Watcher
from vindeby.runner.task_executor import Setup
from vindeby.store.disk.events import EventLog
from vindeby.store.disk.files import storage_error
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import RunDirectory, write_verdicts
from vindeby.store.read.database import Database
from vindeby.text import part_of, plural

_BATCH_ELSEWHERE_S = 20.0
"""The target time of a batch on a cluster, where Dask places it and a fresh process runs it."""
ON_BAD = ("abort", "skip", "rerun")


def _silent(_: object) -> None:
    """Ignore progress, since nobody watches."""


def run(
    campaign: Campaign | str | Path,
    output: str | Path = "layouts.h5",
    *,
    workers: int | None = None,
    device: str | None = None,
    part: str | None = None,
    retry_failed: bool = False,
    replace_stale: bool = False,
    recompute: Sequence[str] = (),
    recompute_where: str | None = None,
    on_bad: str = "abort",
    max_failures: int | None = None,
    take_over: bool = False,
    pool: object | None = None,
    on_progress: Watcher = _silent,
    on_message: Callable[[str], None] = _silent,
) -> Summary:
    """Run the missing tasks of a campaign, merge and validate; call it again to resume after any crash.

    Args:
        campaign: A ``Campaign``, the path of a campaign file, or the name of a preset.
        output: The database to make or complete. A campaign that shares nothing with what it holds is refused.
        workers: Worker processes, instead of what the campaign says.
        device: For energies and gradients, instead of what the campaign says: ``"cpu"``, ``"cuda"`` or ``"auto"``.
        part: A fixed share of the tasks such as ``"3/32"``; leaves the merge to ``vindeby merge``.
        retry_failed: Try again what failed in an earlier run.
        replace_stale: Compute again what answers an older version of the campaign.
        recompute: Keys of tasks to compute again though they have valid results, which count until the new ones are
            merged.
        recompute_where: A condition, as in ``vindeby query``; the results that meet it are computed again, too.
        on_bad: When a file with results is bad: ``"abort"``, ``"skip"`` or ``"rerun"``.
        max_failures: Stop when more tasks than this have failed, instead of what the campaign says.
        take_over: Take the campaign away from a process that runs it, on a machine that is gone or cannot be reached.
        pool: Where the work is done, if not by processes of this machine: a ``distributed.Client``, the address of a
            Dask scheduler, or the path of a scheduler file.
        on_progress: Called with a ``Progress`` whenever something has changed.
        on_message: Called with each message.

    Returns:
        How the run went, with the tasks that failed.

    Raises:
        InputError: The campaign or an argument is wrong.
        StoppedError: A signal stopped it.
        StorageError: The disk refused.
        BusyError: Another process runs this campaign.
    """
    campaign = _loaded(campaign)
    options = _overridden(campaign.run, workers=workers, device=device, max_failures=max_failures)
    share = Part.parse(part) if part is not None else None
    if on_bad not in ON_BAD:
        raise ArgumentError(f"--on-bad: {on_bad!r} is not known; use {', '.join(ON_BAD)}")
    if campaign.stored is not None and Path(output).absolute() == Path(campaign.stored.database or ""):
        raise ArgumentError(f"{output}: is the database that is evaluated; name another file with -o")
    judge = Judge(campaign)
    wanted = Recompute(recompute, recompute_where)
    wanted.refuse(judge, is_part=share is not None)
    refuse_starts(campaign)
    directory = prepared_directory(Path(output), campaign)
    began = time.monotonic()
    with _storage_errors(directory), hold(directory, share, take_over=take_over, say=on_message) as lock:
        refuse_another_campaign(directory, campaign)  # it may have come while this one waited
        space = TaskSpace(campaign)
        again = Again(stale=replace_stale, failed=retry_failed)
        resume_state = compare_with_disk(directory, space, judge, part=share, again=again)
        refuse_or_quarantine(directory, resume_state, on_bad)
        to_recompute = wanted.find(directory, space)
        if rekey_results(directory, campaign, lock.confirm, on_message):
            resume_state = compare_with_disk(directory, space, judge, part=share, again=again)
        lock.confirm()
        if directory.campaign_text() != space.text:
            directory.freeze_campaign(space.text)
        write_verdicts(directory, space.text, resume_state.verdicts)
        if share is None and (request := renew_request(directory, to_recompute)).keys:
            anew = add_to_todo(resume_state, directory, space, request)
            on_message(
                f"{plural(anew, 'result is', 'results are')} computed again; the old ones count until then"
            )
        _report_resume_state(resume_state, on_message, again)
        summary = Summary(Path(output), len(space), resume_state, part=share)
        if resume_state.todo:
            work = _Work(space, directory, options, lock, on_message)
            work.supervise(resume_state, summary, on_progress, pool, workers)
        summary.seconds = time.monotonic() - began
        finish_up(space, judge, directory, summary, say=on_message, lock=lock)
        if share is None:
            directory.recompute_file.unlink(missing_ok=True)
        summary.seconds = time.monotonic() - began
    return summary


def evaluate(
    database: str | Path,
    campaign: str | Path | dict[str, Any],
    output: str | Path,
    *,
    overrides: Sequence[str] = (),
    **how: Any,
) -> Summary:
    """Evaluate the layouts of a database as a campaign says, into another database.

    Args:
        database: The OUT.h5 with the layouts.
        campaign: The path of a campaign file whose method is ``stored``, or its content as plain data; it may leave
            out ``method``, and everything that the campaign of the database says.
        output: The database to make or complete.
        overrides: Changes of the campaign, such as ``"method.stored.output=power"``.
        how: As ``run`` takes it.
    """
    Database(database).close()  # what is wrong with it is not a fault of the campaign file
    loaded = Campaign.of_stored(database, campaign, overrides)
    for note in notes_about_files(loaded):
        how.get("on_message", _silent)(f"warning: {note}")
    return run(loaded, output, **how)


def _loaded(campaign: Campaign | str | Path) -> Campaign:
    if isinstance(campaign, str | Path):
        campaign = Campaign.load(campaign)
    if isinstance(campaign, Campaign):
        for code in campaign.named_code:
            code.refuse_other_code()
        return campaign.with_code()
    raise ArgumentError(
        f"run: campaign must be a Campaign, the path of a campaign file or the name of a preset, not "
        f"{type(campaign).__name__}; for plain data use Campaign.from_data"
    )


@contextmanager
def _storage_errors(directory: RunDirectory) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, directory.campaign_file) from error


def _overridden(options: RunOptions, **given: float | str | None) -> RunOptions:
    changed = options.model_dump() | {name: value for name, value in given.items() if value is not None}
    try:
        return RunOptions.model_validate(changed)
    except ValueError:
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
        raise ArgumentError(
            f"run: {shown}: give a number of workers of at least 1, cpu, auto or cuda as device, and a number of tasks"
        ) from None


def _report_resume_state(resume_state: ResumeState, say: Callable[[str], None], again: Again) -> None:
    if resume_state.done:
        say(f"{plural(resume_state.done, 'result is', 'results are')} there already")
    if resume_state.invalid:
        key, why = next(iter(resume_state.invalid.items()))
        count = plural(len(resume_state.invalid), "result is", "results are")
        say(f"{count} not valid and computed again; the first: {key}: {why}")
    if resume_state.stale:
        shown = _some(resume_state.stale)
        done = "computed again" if again.stale else "left there; --replace-stale computes them again"
        are = "is" if len(resume_state.stale) == 1 else "are"
        count, changes = plural(len(resume_state.stale), "result"), resume_state.changes
        changed = f" (changed: {changes})" if changes else ""
        say(f"{count} of an older version of the campaign{changed} {are} {done}: {shown}")
    if resume_state.failed:
        count = plural(len(resume_state.failed), "task failed before and is", "tasks failed before and are")
        say(f"{count} left out; --retry-failed tries again: {_some(list(resume_state.failed))}")


def _some(keys: Sequence[str]) -> str:
    return ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "")


@dataclass(frozen=True)
class _Work:
    space: TaskSpace
    directory: RunDirectory
    options: RunOptions
    lock: Lock
    say: Callable[[str], None]

    def supervise(
        self,
        resume_state: ResumeState,
        summary: Summary,
        watch: Watcher,
        elsewhere: object | None,
        workers: int | None,
    ) -> None:
        """Run the remaining tasks; raise unless every task is done or set aside."""
        space, directory, options = self.space, self.directory, self.options
        path = search_path()
        if message := warning(space.campaign, path):
            self.say(message)
        slots = 1 if elsewhere is not None else min(workers_of(options), len(resume_state.todo))
        limit, alone = memory_limits(options, slots)
        if elsewhere is not None:  # only a limit of the user's is known here; the agents know their share
            limit, alone = None if options.memory_limit_mb is None else limit, None
        device = self._device(is_here=elsewhere is None)
        policy = Policy(
            workers=slots,
            retries=options.retries,
            most_failures=options.max_failures,
            grace_s=options.grace_s,
            batch_s=0.5 if elsewhere is None else _BATCH_ELSEWHERE_S,
        )
        log = EventLog(directory)
        setup = Setup(
            space.campaign, str(directory.output), tuple(path), log.name, limit, str(self.lock.path), self.lock.token,
            memory_limit_alone=alone, device=device, together=TOGETHER if device == "cuda" else 1,
        )  # fmt: skip
        with ExitStack() as stack:
            stack.callback(log.close)
            log.write(
                "run started", todo=len(resume_state.todo), total=len(space), workers=slots, pid=os.getpid()
            )
            pool: WorkerPool
            if elsewhere is None:
                heartbeats = Heartbeats.create(slots)
                stack.callback(heartbeats.close)
                pool = LocalPool(directory, setup, heartbeats)
            else:  # what this loads, a run on this machine does not need
                from vindeby.runner.cluster.connect import connected
                from vindeby.runner.cluster.dask_pool import DaskPool

                patience_s = options.wait_for_workers_s
                client = stack.enter_context(connected(elsewhere, patience_s))
                pool = DaskPool(setup, client, most=workers, patience_s=patience_s, say=self.say)
            plan = Plan(space.groups(iter(resume_state.todo)), policy)
            supervisor = Supervisor(plan, space, pool, log, watch, resume_state, self.lock, self.say)
            finish = supervisor.run()
            summary.done, summary.failed = plan.done, supervisor.failed
            log.write("run ended", outcome=finish.outcome.value, reason=finish.reason, done=summary.done)
        self.lock.confirm()
        _raise_for(finish, summary, directory)

    def _device(self, *, is_here: bool) -> Literal["cpu", "cuda"]:
        asked = self.options.device
        device, why = chosen_device(self.space.campaign, asked if is_here else "cpu")
        why = why if is_here else "workers of a Dask cluster use no cards"
        if device == "cuda":
            self.say(f"energies and gradients are computed on {why}")
        elif asked == "cuda":
            self.say(f"device cuda cannot be used, everything is computed on processors: {why}")
        return device


def _raise_for(finish: Finish, summary: Summary, directory: RunDirectory) -> None:
    safe = f"{part_of(summary.safe, summary.total, 'result')} safe in {directory.path}"
    if finish.outcome is Outcome.STOPPED:
        raise StoppedError(f"stopped; {safe}; rerun the same command to resume")
    if finish.outcome is Outcome.STORAGE:
        raise StorageError(finish.reason, safe)
    if finish.outcome is Outcome.UNUSABLE:
        raise InputError(finish.reason)
    if finish.outcome is Outcome.POOL_LOST:
        raise TaskError(f"{finish.reason}; {safe}; rerun the same command to resume")
    if finish.outcome is not Outcome.COMPLETE:
        raise TaskError(f"{finish.reason}; {safe}; the logs are in {directory.logs}")


def workers_of(options: RunOptions) -> int:
    """Return the number of workers of a run on this machine, unless it has fewer tasks."""
    return usable_cores() if options.workers == "auto" else int(options.workers)


def memory_limits(options: RunOptions, workers: int) -> tuple[int | None, int | None]:
    """Return the bytes for each worker, and for a worker that has the machine to itself; None if unknown."""
    total = total_memory()
    whole = None if total is None else int(SHARE_OF_MEMORY * total)
    if options.memory_limit_mb is not None:
        limit = int(options.memory_limit_mb * 1e6)
        return limit, limit * workers
    return (None, None) if whole is None else (whole // workers, whole)
