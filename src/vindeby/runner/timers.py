"""Actions for later, run by whoever's loop this is: no thread, no signal."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable


class Timers:
    """A queue of actions by the time at which they are due."""

    def __init__(self) -> None:
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def after(self, delay_s: float, action: Callable[[], None]) -> None:
        """Run an action in so many seconds, in the first ``run_due`` after that."""
        heapq.heappush(self._queue, (time.monotonic() + delay_s, next(self._order), action))

    def seconds_left(self, at_most: float) -> float:
        """Until the next action is due; 0 when one is due already."""
        if not self._queue:
            return at_most
        return max(0.0, min(at_most, self._queue[0][0] - time.monotonic()))

    def run_due(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Run what is due, until ``is_over``."""
        now = time.monotonic()
        while self._queue and self._queue[0][0] <= now and not is_over():
            heapq.heappop(self._queue)[2]()
