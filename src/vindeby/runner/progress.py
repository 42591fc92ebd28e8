"""How far a run is, as plain values; drawing them is somebody else's business."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vindeby.runner.protocol import TaskProgress

_WINDOW_S = 60.0
_LONG_S = 5.0


@dataclass(frozen=True)
class WorkerView:
    """A worker at this moment."""

    slot: int
    pid: int
    task: str | None
    seconds: float
    silent_s: float
    memory: int
    node: str = ""
    job: str = ""
    progress: TaskProgress | None = None
    doing: str = ""


@dataclass(frozen=True)
class Progress:
    """A run at this moment; counts are of all tasks of the campaign, or of the part of it, as in ``monitor``."""

    total: int
    done: int
    failed: int
    running: int
    left: int
    """Tasks that this run still has to settle; not those that are left as they are."""
    rate: float
    """Tasks per second, lately."""
    workers: tuple[WorkerView, ...]
    ending: bool = False
    trouble: str = ""
    eta_s: float | None = None


def time_left(left: int, rate: float, workers: Sequence[WorkerView]) -> float | None:
    """Seconds that so many tasks will take: at this rate; where they are long, by how far those at work are."""
    at_work = [(view.seconds, view.progress.left_s) for view in workers if view.progress]
    known = [(seconds, rest) for seconds, rest in at_work if rest is not None]
    rest, whole = sum(one for _, one in known), sum(map(sum, known))
    if known and (not rate or whole > _LONG_S * len(known)):
        waiting = max(0, left - len(known)) * whole / len(known)
        return max(max(one for _, one in known), (rest + waiting) / len(known))
    return left / rate if rate > 0.0 else None


Watcher: TypeAlias = Callable[[Progress], None]


class Rate:
    """Tasks per second over the last minute."""

    def __init__(self) -> None:
        self._points = deque([(time.monotonic(), 0)])

    def at(self, settled: int) -> float:
        """The rate, given how many are settled now."""
        now = time.monotonic()
        self._points.append((now, settled))
        while len(self._points) > 2 and now - self._points[0][0] > _WINDOW_S:
            self._points.popleft()
        (then, before), span = self._points[0], now - self._points[0][0]
        return (settled - before) / span if span > 0.0 and now > then else 0.0
