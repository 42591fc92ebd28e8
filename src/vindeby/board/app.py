"""The board as a web application: its routes, the loop that looks for all viewers, logs, and the server.

Logs of this run are the only files that it serves, by name, from their own folder and nowhere else.
"""

import asyncio
import contextlib
import logging
import os
import re
import secrets
import socket
import stat
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from vindeby.board.access import Access, is_loopback
from vindeby.board.connections import BACKLOG, LimitedConnection, OncePerMinute
from vindeby.board.feed import Feed
from vindeby.errors import ArgumentError
from vindeby.results.result_set import ResultSet
from vindeby.results.web import ASSETS, asset

_FILES = ("look.css", "drawing.js", "board.js")
_RETRY_MS = 1500
_BEAT_S = 10.0
_LATER_S = 0.5
"""How often the connection of a viewer looks whether there is anything new to send."""
_SHARE = 0.04
"""How much of one core looking may take: the campaign comes first."""


class Board:
    """The application's state: viewers, and the loop that looks while there are any."""

    def __init__(self, results: ResultSet, *, interval_s: float) -> None:
        self._results = results
        self._interval_s = interval_s
        self.feed = Feed(results)
        self._viewers = 0
        self._wanted = asyncio.Event()

    async def look_for_all(self) -> None:
        """Look once per interval while there are viewers; less often where a look takes long."""
        while True:
            await self._wanted.wait()
            used_s = await asyncio.to_thread(self._look)
            await asyncio.sleep(max(self._interval_s, used_s / _SHARE))

    def _look(self) -> float:
        """Look for new results; return the processor time in seconds."""
        began = time.thread_time()
        self.feed.look()
        return time.thread_time() - began

    async def events(self) -> AsyncIterator[str]:
        """Everything for one viewer: first all there is, then what changes."""
        self._viewers += 1
        self._wanted.set()
        try:
            yield f"retry: {_RETRY_MS}\n\n"
            generation, sent, state, shown, quiet_s = 0, 0, "", "", 0.0
            while True:
                feed, before = self.feed, (generation, sent, state, shown)
                if feed.generation != generation:
                    generation, sent = feed.generation, 0
                    yield await asyncio.to_thread(feed.areas)
                while sent < len(feed.rows) and feed.generation == generation:
                    text, sent = feed.results_from(sent)
                    yield text
                if feed.state != state:
                    state = feed.state
                    yield state
                if feed.shown != shown:
                    shown = feed.shown
                    yield shown
                quiet_s = quiet_s + _LATER_S if before == (generation, sent, state, shown) else 0.0
                if quiet_s >= _BEAT_S:
                    quiet_s = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(_LATER_S)
        finally:
            self._viewers -= 1
            if not self._viewers:
                self._wanted.clear()

    async def stream(self, _: Request) -> Response:
        """``/events``."""
        return StreamingResponse(self.events(), media_type="text/event-stream")

    async def layout(self, request: Request) -> Response:
        """``/layout?key=...``."""
        found = await asyncio.to_thread(self.feed.layout, request.query_params.get("key", ""))
        return JSONResponse(found) if found else PlainTextResponse("there is no such result\n", 404)

    async def log(self, request: Request) -> Response:
        """``/log?name=...``."""
        name = request.query_params.get("name", "")
        text = await asyncio.to_thread(read_log, self._results.run.logs, name)
        return (
            PlainTextResponse(text) if text is not None else PlainTextResponse("there is no such log\n", 404)
        )


def _file(name: str) -> Callable[[Request], Response]:
    text = asset(name)

    def serve(_: Request) -> Response:
        return Response(text, media_type=ASSETS[name])

    return serve


def build_app(results: ResultSet, *, token: str | None = None, interval_s: float = 1.0) -> Starlette:
    """The board as an ASGI application."""
    board = Board(results, interval_s=interval_s)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(board.look_for_all())
        yield
        looking.cancel()

    app = Starlette(
        routes=[
            Route("/", _file("board.html")),
            *(Route(f"/{name}", _file(name)) for name in _FILES),
            Route("/events", board.stream),
            Route("/layout", board.layout),
            Route("/log", board.log),
        ],
        middleware=[Middleware(Access, token=token)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}\Z")
_TAIL = 200_000


def read_log(folder: Path, name: str) -> str | None:
    """The end of a log; None when there is no such file, or it is not a plain file right in the folder."""
    if not _NAME.match(name) or not name.endswith(".log") or folder.is_symlink():
        return None
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        file.seek(max(0, status.st_size - _TAIL))
        text = file.read(_TAIL).decode(errors="replace")
    return text if status.st_size <= _TAIL else f"... the last {_TAIL} bytes of {status.st_size} ...\n{text}"


_POLITE = 5


def serve_board(
    results: ResultSet, *, host: str, port: int, token: str | None = None, say: Callable[[str], None]
) -> None:
    """Serve until stopped; where others could reach it, only with a token."""
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    listening = _listen(host, port)
    app = build_app(results, token=token)
    with contextlib.suppress(OSError):
        os.nice(_POLITE)  # the campaign comes first
    name = host if ":" not in host else f"[{host}]"
    address = f"http://{name}:{listening.getsockname()[1]}/"
    say(f"{address}?token={token}" if token else address)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
        server_header=False,
        lifespan="on",
        http=LimitedConnection,
        ws="none",
        backlog=BACKLOG,
    )
    for logger in ("asyncio", "uvicorn.error"):
        logging.getLogger(logger).addFilter(OncePerMinute())
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ArgumentError(f"--host: {host!r} is not an address of this machine: {error}") from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ArgumentError(
            f"--port: cannot listen on {host}:{port}: {error.strerror}; another board may be running, choose another"
        ) from None
    return listening
