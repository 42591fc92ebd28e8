"""Jobs of a batch system whose time is up, again and again: what would never fit is given up, the rest goes on.

A job that gets SIGUSR1 before its time is up publishes what is finished and goes back into the queue. A task that
takes longer than the job may would be begun anew each time, for ever. So each such end is noted with the tasks that it
cut short. A task is set aside when it was cut short in several starts of the same job, in each of which it had most of
the time; a job that settled nothing in as many starts is not to be queued again.
"""

from collections.abc import Mapping
from typing import Any

from vindeby.runner.protocol import Failure, Kind
from vindeby.runner.resume import TaskSpace
from vindeby.store.disk.events import EventLog, EventTail
from vindeby.store.disk.run_directory import RunDirectory

OUT_OF_TIME = "out of time"
STARTS = 3
"""Starts of a job in which a task is cut short, or nothing is settled, before that is given up."""
_MOST_OF_THE_TIME = 0.5


def record_time_up(
    run: RunDirectory,
    log: EventLog,
    space: TaskSpace,
    job: str,
    seconds: float,
    settled: int,
    cut: Mapping[int, float],
) -> tuple[dict[int, Failure], str]:
    """Note how a run ended whose job has no more time, and compare that with earlier starts of the same job.

    It lasted so many seconds, settled so many tasks, and cut others short after the seconds that each had run. Returns
    the tasks to set aside, and why the job should not be queued again; empty where it should.
    """
    if not job:
        return {}, ""
    had = [{"task": space.key(number), "seconds": round(spent, 1)} for number, spent in cut.items()]
    now: dict[str, Any] = {"seconds": round(seconds, 1), "settled": settled, "cut": had}
    ends = [*_earlier(run, job), now]
    too_long = [
        number
        for number in cut
        if sum(_had_most_of_the_time(space.key(number), one) for one in ends) >= STARTS
    ]
    now["settled"] += len(too_long)
    log.write(OUT_OF_TIME, durable=True, job=job, **now)
    fruitless = len(ends) >= STARTS and not any(one["settled"] for one in ends[-STARTS:])
    failures = {
        number: Failure(
            Kind.JOB_TIME,
            f"cut short in {STARTS} starts of job {job} because the job's time was up, the last time after "
            f"{cut[number]:,.0f} s",
        )
        for number in too_long
    }
    reason = (
        f"job {job} ran out of time in {STARTS} starts in a row without finishing a task, the last time after "
        f"{seconds:,.0f} s; give jobs more time: run the same vindeby slurm command again with a longer run.slurm.time"
    )
    return failures, reason if fruitless else ""


def _earlier(run: RunDirectory, job: str) -> list[dict[str, Any]]:
    return [
        entry
        for entry in EventTail(run).read_new(OUT_OF_TIME, complete=True)
        if entry.get("job") == job and {"cut", "seconds", "settled"} <= entry.keys()
    ]


def _had_most_of_the_time(key: str, end: Mapping[str, Any]) -> bool:
    return any(
        one["task"] == key and one["seconds"] >= _MOST_OF_THE_TIME * end["seconds"] for one in end["cut"]
    )
