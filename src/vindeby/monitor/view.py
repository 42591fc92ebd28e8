"""A snapshot in the terminal, once or with ``--watch``.

Every colour has a figure or a sign beside it, so nothing is lost without colours. Watching takes the whole terminal,
and survives resizing and a run that disappears.
"""

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.style import Style
from rich.table import Table
from rich.text import Text

from vindeby.errors import VindebyError
from vindeby.results import humanize as words
from vindeby.results.snapshot import Snapshot
from vindeby.store.disk.events import FailedTask
from vindeby.store.format.origin import in_words
from vindeby.text import one_line, plural

_LAST_FAILURES = 5
_MOST_BAD_FILES = 10
_MOST_WORKERS = 100
# Steps of cividis, dark to light, each with the colour of text that can be read on it.
_STEPS = (
    ("#00224e", "#ffffff"),
    ("#434e6c", "#ffffff"),
    ("#7d7c78", "#000000"),
    ("#bcad6c", "#000000"),
    ("#fee838", "#000000"),
)


def whole(snapshot: Snapshot, logs: Path, dimensions: tuple[str, ...] = ()) -> RenderableType:
    """Return all parts of the view, one below the other."""
    table = by_dimensions(snapshot, dimensions) if dimensions else matrix(snapshot)
    below = (table, workers(snapshot), last_failures(snapshot, logs), bad_files(snapshot), space(snapshot))
    parts: list[RenderableType | None] = [headline(snapshot), bar(snapshot), counts(snapshot)]
    for part in below:
        parts += [Text(""), part] if part is not None else []
    return Group(*(part for part in parts if part is not None))


def headline(snapshot: Snapshot) -> Text:
    """Return the campaign's name and path, and the coordinators that need attention."""
    text = Text(one_line(snapshot.name), style="bold")
    if snapshot.path != snapshot.name:
        text.append(f"  {one_line(snapshot.path)}", style="dim")
    if snapshot.kind == "folder":
        text.append("  (a folder of worker files; `vindeby salvage` makes a database of it)", style="dim")
    for coordinator in snapshot.coordinators:
        name = one_line(coordinator.name)
        if not coordinator.alive:
            text.append(
                f"\n{name} last reported {words.duration(coordinator.age_s)} ago; "
                "rerun the same command to resume",
                style="yellow",
            )
        if coordinator.ending:
            text.append(f"\n{name} is stopping", style="yellow")
    return text


def bar(snapshot: Snapshot) -> RenderableType | None:
    """Return the progress bar; None without a number of expected results."""
    if not snapshot.expected:
        return None
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        ProgressBar(snapshot.expected, min(snapshot.done, snapshot.expected), width=50),
        f"{percent(snapshot.done, snapshot.expected)}  {snapshot.done:,} of {snapshot.expected:,} done",
    )
    return grid


def percent(part: int, whole_: int) -> str:
    """Return a percentage, rounded down so that 100 % means all."""
    tenths = part * 1000 // whole_
    return f"{tenths // 10}.{tenths % 10} %" if 0 < tenths < 1000 else f"{tenths // 10} %"


def counts(snapshot: Snapshot) -> Text:
    """Return the figures in one line, with rate and time left."""
    text = Text()
    figures = [
        ("done", snapshot.done, "green"),
        ("failed", snapshot.failed, "red"),
        ("running", snapshot.running, "cyan"),
        ("missing", snapshot.missing, "yellow"),
        ("invalid", snapshot.invalid, "red"),
        ("stale", snapshot.stale, "yellow"),
        ("not in the campaign", snapshot.extra, "yellow"),
    ]
    for name, figure, style in figures:
        if figure is None or (not figure and name in ("stale", "not in the campaign")):
            continue
        text.append(" · " if text else "")
        text.append(f"{name} {figure:,}", style=style if figure else "dim")
    if snapshot.origins:
        text.append(f" · {one_line(in_words(snapshot.origins))}", style="yellow")
    if snapshot.expected is None:
        text.append(" · the expected number is unknown (give --campaign)", style="dim")
    if snapshot.rate and snapshot.active:
        text.append(f" · {words.rate(snapshot.rate)}")
    if snapshot.eta_s is not None:
        text.append(f" · {words.duration(snapshot.eta_s)} left")
    if snapshot.retried:
        text.append(f" · {plural(snapshot.retried, 'attempt was', 'attempts were')} retried", style="dim")
    return text


def matrix(snapshot: Snapshot) -> RenderableType | None:
    """Return a table of farm x turbine type; each cell has the number of done seeds and, after a sign, of failures."""
    if not snapshot.axes.farms or not snapshot.axes.types:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    most = len(snapshot.axes.seeds) * len(snapshot.axes.combinations)
    table.add_column(Text(f"done of {most:,}" if snapshot.axes.known else "results"), no_wrap=True)
    for index in range(len(snapshot.axes.types)):
        table.add_column(f"t{index}", justify="right", no_wrap=True)
    rows = snapshot.counts_by(("farm", "turbine"), every=True)
    width = len(snapshot.axes.types)
    for farm_idx, farm in enumerate(snapshot.axes.farms):
        cells = rows[farm_idx * width : (farm_idx + 1) * width]
        name = Text(f"farm{farm_idx}" + ("" if farm == f"farm{farm_idx}" else f" {one_line(farm)}"))
        table.add_row(name, *(_cell(cell) for cell in cells))
    return table


def _cell(cell: dict[str, Any]) -> Text:
    expected = cell["expected"]
    if expected == 0:
        return Text("")
    bad = cell["failed"] + cell["invalid"]
    sign = f"!{bad}" if bad else "*" if cell["running"] else ""
    text = f"{cell['done']:>4}{sign:<2}"
    if not expected:
        return Text(text)
    back, front = _STEPS[
        0 if not cell["done"] else 4 if cell["done"] >= expected else 1 + cell["done"] * 3 // expected
    ]
    return Text(text, Style(bgcolor=back, color=front, bold=cell["done"] >= expected))


def by_dimensions(snapshot: Snapshot, dimensions: tuple[str, ...]) -> Table:
    """Return a table of counts for each combination of some of farm, turbine, seed and axes."""
    table = Table(box=None, pad_edge=False)
    for name in dimensions:
        table.add_column(name, no_wrap=True, justify="right" if name == "seed" else "left")
    titles = ("done", "failed", "running", "invalid", "stale", "missing")
    for title in titles:
        table.add_column(title, justify="right")
    for row in snapshot.counts_by(dimensions):
        missing = "" if row["expected"] is None else f"{row['expected'] - row['done']:,}"
        figures = [f"{row[title]:,}" for title in titles[:-1]]
        table.add_row(*(Text(one_line(str(row[name]))) for name in dimensions), *figures, missing)
    return table


def workers(snapshot: Snapshot) -> RenderableType | None:
    """Return each worker's task, its duration, the last report, and the node unless all run on this machine."""
    if not snapshot.workers:
        return None
    elsewhere = any(worker.job or worker.node not in {"", platform.node()} for worker in snapshot.workers)
    places = ("node", "job") if elsewhere else ()
    table = Table(box=None, pad_edge=False)
    for title in ("worker", *places, "pid", "task", "for", "heartbeat", "memory", "at"):
        justify: Literal["left", "right"] = "left" if title in {"task", "at", *places} else "right"
        table.add_column(title, justify=justify, no_wrap=title != "at")
    for worker in snapshot.workers[:_MOST_WORKERS]:
        table.add_row(
            str(worker.slot),
            *((Text(one_line(worker.node)), Text(one_line(worker.job))) if elsewhere else ()),
            str(worker.pid),
            Text(one_line(worker.task or "-")),
            words.duration(worker.seconds) if worker.task else "",
            f"{words.duration(worker.silent_s)} ago",
            words.size(worker.memory),
            Text(one_line(worker.doing)),
        )
    left = len(snapshot.workers) - _MOST_WORKERS
    return Group(table, Text(f"and {plural(left, 'more worker')}", style="dim")) if left > 0 else table


def last_failures(snapshot: Snapshot, logs: Path) -> RenderableType | None:
    """Return the latest failures, each with its reason and its log."""
    if not snapshot.failures:
        return None
    text = Text(f"{len(snapshot.failures):,} failed", style="bold")
    for failure in snapshot.failures[:_LAST_FAILURES]:
        text.append("\n").append_text(_failure_line(failure, logs))
    left = len(snapshot.failures) - _LAST_FAILURES
    if left > 0:
        text.append(f"\nand {left:,} more; --failures shows all, with their tracebacks", style="dim")
    return text


def _failure_line(failure: FailedTask, logs: Path) -> Text:
    text = Text(one_line(failure.key), style="red")
    text.append(f"  {one_line(failure.kind)}: {one_line(failure.reason)}", style="not bold")
    if failure.log:
        text.append(f"\n    {one_line(str(logs / failure.log))}", style="dim")
    return text


def failures_in_full(snapshot: Snapshot, logs: Path) -> RenderableType:
    """Return every failure with its traceback."""
    if not snapshot.failures:
        return Text("nothing failed")
    parts: list[RenderableType] = []
    for failure in snapshot.failures:
        text = _failure_line(failure, logs)
        tries = plural(failure.attempts, "attempt")
        text.append(f"\n    {words.moment(failure.time)}, {tries}", style="dim")
        for line in failure.traceback.rstrip().split("\n"):
            text.append(f"\n    {one_line(line)}")
        parts += [text, Text("")]
    return Group(*parts[:-1])


def bad_files(snapshot: Snapshot) -> RenderableType | None:
    """Return the files with problems."""
    if not snapshot.bad_files:
        return None
    text = Text(f"{plural(len(snapshot.bad_files), 'file')} with problems", style="bold")
    for bad in snapshot.bad_files[:_MOST_BAD_FILES]:
        more = f" (and {len(bad.findings) - 1:,} more)" if len(bad.findings) > 1 else ""
        text.append(f"\n{one_line(bad.path)}: {one_line(bad.findings[0])}{more}", style="not bold")
    if len(snapshot.bad_files) > _MOST_BAD_FILES:
        text.append(f"\nand {len(snapshot.bad_files) - _MOST_BAD_FILES:,} more", style="dim")
    return text


def space(snapshot: Snapshot) -> RenderableType | None:
    """Return the disk space used and left."""
    if snapshot.disk is None:
        return None
    text = f"disk: {words.size(snapshot.disk.database)} in the {'folder' if snapshot.kind == 'folder' else 'database'}"
    if snapshot.disk.run_directory:
        text += f", {words.size(snapshot.disk.run_directory)} in the run directory"
    return Text(f"{text}, {words.size(snapshot.disk.free)} left", style="dim")


Look = Callable[[], Snapshot]
_LOOK_S = 1.0
"""The interval at which a watched campaign is read."""
_RESIZE_S = 0.25
"""The interval at which the size of the terminal is compared with the size of the view."""


def watch_campaign(look: Look, logs: Path, console: Console, dimensions: tuple[str, ...] = ()) -> None:
    """Fill the terminal with the campaign until Ctrl-C."""
    last: Snapshot | None = None
    looked, size = -_LOOK_S, None
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            now = time.monotonic()
            if now - looked >= _LOOK_S or console.size != size:
                looked, size = now, console.size
                last, problem = _look(look, last)
                live.update(_screen(logs, last, problem, dimensions), refresh=True)
            time.sleep(_RESIZE_S)


def _look(look: Look, last: Snapshot | None) -> tuple[Snapshot | None, str]:
    """Return the snapshot of now; if there is none, the last one and the reason."""
    try:
        return look(), ""
    except (VindebyError, OSError) as error:
        lines = error.args if isinstance(error, VindebyError) else (error,)
        return last, "\n".join(one_line(str(line)) for line in lines)


def _screen(logs: Path, last: Snapshot | None, problem: str, dimensions: tuple[str, ...]) -> RenderableType:
    """Return the whole screen; the terminal cuts off the rows that do not fit."""
    clock = Text(f"{time.strftime('%H:%M:%S')}  Ctrl-C quits", style="dim")
    parts: list[RenderableType] = []
    if problem:
        parts.append(
            Text(f"{problem}\nwaiting for it to come back; below is what was last seen", style="yellow")
        )
    if last is not None:
        parts.append(whole(last, logs, dimensions))
    return Group(clock, *parts)
