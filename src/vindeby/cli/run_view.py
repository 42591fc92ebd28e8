"""A run as it is shown: a live line in a terminal, a line per interval in a log file, a summary at the end."""

from __future__ import annotations

import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text
from typer import Exit

from vindeby.cli.output import echo_text, say
from vindeby.results import humanize as words
from vindeby.store.format.origin import in_words
from vindeby.store.states import TaskState
from vindeby.text import listed, one_line, plural

if TYPE_CHECKING:  # only the command ``run`` loads the runner
    from vindeby.runner.summary import Summary
    from vindeby.runner.supervisor import Progress

_REDRAWS_PER_S = 5.0
_SHOWN_WORKERS = 64
_SHOWN_FAILURES = 10


def line_of(progress: Progress) -> str:
    """Return the state of a run in one line."""
    share = 100 * progress.done // progress.total if progress.total else 100  # 100 % is said only of all
    text = f"{progress.done:,} of {progress.total:,} done ({share} %), {progress.failed:,} failed, "
    text += f"{progress.running} running"
    running = [f"{view.task or ''} {view.doing}".strip() for view in progress.workers]
    if any(running):
        text += f" ({listed([*filter(None, running)], None, most=_SHOWN_WORKERS)})"
    text += f", {words.rate(progress.rate)}" if progress.rate else ""
    if progress.left:
        left = "unknown time" if progress.eta_s is None else words.duration(progress.eta_s)
        text += f", {left} to go"
    if progress.ending and progress.left:
        text += "; stopping, once more to stop now"
    return one_line(text)


def line_writer(stream: TextIO, interval_s: float) -> Callable[[Progress], None]:
    """Return a function that writes progress to a log: a line per interval, at compiling and at the last task."""
    written_s, said, compiled = time.monotonic(), "", False

    def write(progress: Progress) -> None:
        nonlocal written_s, said, compiled
        now, text = time.monotonic(), line_of(progress)
        counts = text.partition(" (")[0]
        compiles = not compiled and any(view.doing.startswith("compiling") for view in progress.workers)
        if compiles or (now - written_s >= interval_s if progress.left else counts != said):
            written_s, said, compiled = now, counts, compiled or compiles
            stream.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
            stream.flush()

    return write


@contextmanager
def watching(*, quiet: bool, interval_s: float) -> Iterator[dict[str, Any]]:
    """Yield the callbacks of a run by the names of its arguments, one for its progress and one for messages."""
    if quiet:
        yield {}
    elif sys.stderr.isatty():
        with Live(console=Console(stderr=True), refresh_per_second=_REDRAWS_PER_S, transient=True) as live:
            yield {"on_progress": lambda progress: live.update(Text(line_of(progress))), "on_message": say}
    else:
        yield {"on_progress": line_writer(sys.stderr, interval_s), "on_message": say}


def end_with(summary: Summary, *, quiet: bool) -> None:
    """Print the outcome of a run and how to continue; exit status 1 where something is missing."""
    if not quiet:
        once = {"--retry-failed", "--take-over"}
        again = ["vindeby", *(word for word in sys.argv[1:] if word not in once)]
        echo_text(summary_text(summary, shlex.join(again)))
    elif not summary.complete:
        say("; ".join([_headline(summary), *_shortfalls(summary)]))
    if not summary.complete:
        raise Exit(1)


def summary_text(summary: Summary, command: str) -> str:
    """Describe how a run went, where its results are, and what to do about missing ones."""
    lines = [_headline(summary)]
    rate = f", {words.rate(summary.done / summary.seconds)}" if summary.done and summary.seconds else ""
    lines.append(
        f"  computed {summary.done:,} in {words.duration(summary.seconds)}{rate}; "
        f"{summary.resume_state.done:,} were there before"
    )
    for what, ranges in (
        ("AEP in GWh per year", summary.aep_by_farm),
        ("LCOE in EUR per MWh", summary.lcoe_by_farm),
    ):
        lines += [f"  {what}, lowest and highest of each farm"] if ranges else []
        width = max((len(one_line(farm)) for farm in ranges), default=0)
        lines += [
            f"    {one_line(farm):{width}}  {low:12,.3f}  {high:12,.3f}"
            for farm, (low, high) in ranges.items()
        ]
    if summary.validation is not None and summary.validation.origins:
        lines.append(f"  {in_words(summary.validation.origins)}")
    lines += _failures(summary, one_line(command))
    if summary.validation is not None:
        left = summary.all_failed.keys() | {issue.key for issue in summary.validation.issues}
        if again := summary.resume_state.invalid.keys() - left:
            count = plural(len(again), "result was", "results were")
            kept = f"{one_line(str(summary.output))}.run/replaced/"
            lines.append(f"  {count} not valid and computed again; what they replace is in {kept}")
    if summary.validation is not None and summary.validation.issues:
        lines.append(f"  not valid: {plural(len(summary.validation.issues), 'finding')}, the first of them:")
        lines += [f"    {issue}" for issue in summary.validation.issues[:_SHOWN_FAILURES]]
    return "\n".join(lines) + "\n"


def _headline(summary: Summary) -> str:
    output = one_line(str(summary.output))
    if summary.part is not None:
        share = f"part {summary.part}: {plural(summary.safe, 'result')}"
        return f"{output}: {share}; when all parts are done: vindeby merge {output}"
    report = summary.validation
    if report is None:
        return f"{output}: no results"
    there = summary.total - len(report.missing)
    word = ", NOT all valid" if report.issues else ", all valid" if there else ""
    return f"{output}: {there:,} of {plural(summary.total, 'result')}{word}"


def _shortfalls(summary: Summary) -> Iterator[str]:
    """Yield the reasons why a run is not complete, each in a few words."""
    for key, failure in islice(summary.all_failed.items(), 1):
        yield f"{plural(len(summary.all_failed), 'task')} failed, the first is {key}: {failure}"
    if (report := summary.validation) is not None:
        if stale := sum(entry.state == TaskState.STALE for entry in report.missing):
            yield f"{plural(stale, 'stale result')}, which --replace-stale computes again"
        yield from (f"not valid: {issue}" for issue in report.issues[:1])


def _failures(summary: Summary, command: str) -> list[str]:
    failed = summary.all_failed
    if not failed:
        return []
    kinds = Counter(failure.kind.value for failure in failed.values())
    lines = [
        f"  failed: {len(failed):,} (" + ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()) + ")"
    ]
    for key, failure in list(failed.items())[:_SHOWN_FAILURES]:
        lines.append(f"    {key}  {failure}")
    if len(failed) > _SHOWN_FAILURES:
        lines.append(f"    and {len(failed) - _SHOWN_FAILURES:,} more")
    lines += [f"    {kind}: {one_line(remedy)}" for kind, remedy in summary.remedies.items()]
    output = one_line(str(summary.output))
    lines.append(
        f"    tracebacks: vindeby monitor {shlex.quote(output)} --failures; logs: {output}.run/logs/"
    )
    lines.append(f"  then: {command} --retry-failed")
    return lines
