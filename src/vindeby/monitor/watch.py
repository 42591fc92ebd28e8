"""``monitor --watch``: the whole terminal, redrawn as things change; it survives resizing and a vanished run."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from vindeby.errors import VindebyError
from vindeby.monitor.view import percent, whole
from vindeby.printable import one_line
from vindeby.results.observer import Observer
from vindeby.results.snapshot import Snapshot

_QUIT = b"qQ\x1b"


def watch_campaign(
    observer: Observer, console: Console, interval_s: float, dimensions: tuple[str, ...] = ()
) -> None:
    """Show until q is pressed; without a terminal, print a line at each change until nobody works on it."""
    if console.is_terminal and sys.stdin.isatty():
        _full_screen(observer, console, interval_s, dimensions)
    else:
        _lines(observer, console, interval_s)


def _full_screen(
    observer: Observer, console: Console, interval_s: float, dimensions: tuple[str, ...]
) -> None:
    last: Snapshot | None = None
    with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
        looked = -interval_s
        size = None
        while True:
            now = time.monotonic()
            if now - looked >= interval_s or console.size != size:
                looked, size = now, console.size
                last, problem = _look(observer, last)
                live.update(_screen(observer, console, last, problem, dimensions), refresh=True)
            if pressed(min(interval_s, 0.25)):
                return


def _look(observer: Observer, last: Snapshot | None) -> tuple[Snapshot | None, str]:
    """What is there now; or what was there last, and why it cannot be seen now."""
    try:
        return observer.look(), ""
    except (VindebyError, OSError) as error:
        lines = error.args if isinstance(error, VindebyError) else (error,)
        return last, "\n".join(one_line(str(line)) for line in lines)


def _screen(
    observer: Observer, console: Console, last: Snapshot | None, problem: str, dimensions: tuple[str, ...]
) -> RenderableType:
    clock = time.strftime("%H:%M:%S")
    footer = Text(f"{clock}  q quits", style="dim")
    parts: list[RenderableType] = []
    if problem:
        parts.append(
            Text(f"{problem}\nwaiting for it to come back; below is what was last seen", style="yellow")
        )
    if last is not None:
        parts.append(whole(last, observer.run.logs, dimensions, console.size.height - 2 * bool(problem) - 1))
    return Group(*parts, Text(""), footer)


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """Keys one by one, without Enter and without an echo; gives a function that waits for one that quits."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def pressed(wait_s: float) -> bool:
        ready, _, _ = select.select([descriptor], [], [], wait_s)
        if not ready:
            return False
        data = os.read(descriptor, 64)
        return not data or (len(data) == 1 and data in _QUIT)

    try:
        tty.setcbreak(descriptor)
        yield pressed
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)  # not waiting for a terminal that is gone


def _lines(observer: Observer, console: Console, interval_s: float) -> None:
    """For a log file: one line whenever the counts change."""
    said = ""
    while True:
        snapshot, problem = _look(observer, None)
        line = problem if snapshot is None else _line(snapshot)
        if line != said:
            console.print(f"{time.strftime('%H:%M:%S')} {line}", markup=False)
            said = line
        if snapshot is not None and not snapshot.active:
            return
        time.sleep(interval_s)


def _line(snapshot: Snapshot) -> str:
    share = f" ({percent(snapshot.done, snapshot.expected)})" if snapshot.expected else ""
    expected = f" of {snapshot.expected:,}" if snapshot.expected else ""
    return (
        f"{snapshot.done:,}{expected} done{share}, {snapshot.failed:,} failed, {snapshot.running:,} running, "
        f"{snapshot.invalid:,} invalid"
    )
