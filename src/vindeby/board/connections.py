"""Limits of the board's connections: their number, and the time in which a request must arrive.

uvicorn keeps a connection whose request never arrives for ever. Enough of these use up the files that a process may
open.
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

BACKLOG = 32
_MOST = 128
_REQUEST_S = 10.0


class LimitedConnection(H11Protocol):
    """A connection that is closed when its request takes too long, or when another one needs its place."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.began = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.most = _MOST if files == resource.RLIM_INFINITY else min(_MOST, files // 2)

    @property
    def is_idle(self) -> bool:
        """Return whether no request has arrived that is not answered yet."""
        cycle: Any = self.cycle  # None before the first request, which its type does not say
        return cycle is None or bool(cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; of too many connections, the oldest idle one is closed."""
        super().connection_made(transport)
        self._await_request()
        if len(self.connections) > self.most:
            idle = [one for one in self.connections if isinstance(one, LimitedConnection) and one.is_idle]
            oldest = min(idle, key=lambda one: one.began)
            self.connections.discard(oldest)  # it is lost later, and another one may come before
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.is_idle:
            self._await_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a request."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_REQUEST_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
