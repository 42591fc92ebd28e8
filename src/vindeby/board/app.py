"""The board as a web application: its routes, logs, and the server.

Logs of this run are the only files that it serves, by name, from their own folder and nowhere else.
"""

import contextlib
import logging
import os
import re
import secrets
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from vindeby.board.access import Access, is_loopback
from vindeby.board.feed import Feed
from vindeby.errors import ArgumentError
from vindeby.results.result_set import ResultSet
from vindeby.results.web import ASSETS, asset

_FILES = ("look.css", "drawing.js", "board.js")
_LONGEST_COUNT = 9


def _file(name: str) -> Callable[[Request], Response]:
    text = asset(name)

    def serve(_: Request) -> Response:
        return Response(text, media_type=ASSETS[name])

    return serve


def build_app(results: ResultSet, *, token: str | None = None) -> Starlette:
    """Return the board as an ASGI application; its functions run in threads, and one look serves all viewers."""
    feed = Feed(results)

    def news(request: Request) -> Response:
        generation, count = (request.query_params.get(name, "") for name in ("generation", "count"))
        known = int(count) if count.isdecimal() and len(count) <= _LONGEST_COUNT else 0
        return JSONResponse(feed.news(generation, known))

    def layout(request: Request) -> Response:
        found = feed.layout(request.query_params.get("key", ""))
        return JSONResponse(found) if found else PlainTextResponse("there is no such result\n", 404)

    def log(request: Request) -> Response:
        text = read_log(results.run.logs, request.query_params.get("name", ""))
        return PlainTextResponse("there is no such log\n", 404) if text is None else PlainTextResponse(text)

    app = Starlette(
        routes=[
            Route("/", _file("board.html")),
            *(Route(f"/{name}", _file(name)) for name in _FILES),
            Route("/news", news),
            Route("/layout", layout),
            Route("/log", log),
        ],
        middleware=[Middleware(Access, token=token)],
    )
    app.router.redirect_slashes = False
    return app


_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}\Z")
_TAIL = 200_000


def read_log(folder: Path, name: str) -> str | None:
    """Return the end of a log; None if it does not exist, or is not a plain file directly in the folder."""
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
_MOST_CONNECTIONS = 128


def serve_board(
    results: ResultSet, *, host: str, port: int, token: str | None = None, say: Callable[[str], None]
) -> None:
    """Serve until stopped; require a token if other machines could connect."""
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
        log_level="error",  # requests that are not HTTP are warnings
        access_log=False,
        timeout_graceful_shutdown=1,
        server_header=False,
        lifespan="off",
        http="h11",
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
    )
    # Too many connections at once are logged with a traceback each.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
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
