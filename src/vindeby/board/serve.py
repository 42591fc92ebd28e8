"""Serving the board: the socket, the address that is printed, and a quiet end."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections.abc import Callable

import uvicorn

from vindeby.board.access import is_loopback
from vindeby.board.app import build_app
from vindeby.errors import ArgumentError
from vindeby.results.observer import Observer

_POLITE = 5


def serve_board(
    observer: Observer,
    *,
    host: str,
    port: int,
    token: str | None = None,
    interval_s: float = 1.0,
    say: Callable[[str], None],
) -> None:
    """Serve until stopped; where others could reach it, only with a token."""
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    listening = _listen(host, port)
    app = build_app(observer, token=token, interval_s=interval_s)
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
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ArgumentError(f"--host: {host!r} is no address of this machine: {error}") from None
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
