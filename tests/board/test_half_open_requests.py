"""Clients that connect and do not ask, or not to the end: the board answers others and lets go of them."""

from __future__ import annotations

import contextlib
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.board.serving import COMMAND, wait_until
from tests.board.test_board import ask
from tests.results.examples import campaign, publish

pytestmark = pytest.mark.slow

DESCRIPTORS = 100


@pytest.fixture
def board(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a board that may open few files, and where it writes its messages."""
    publish(tmp_path / "o.h5", campaign(seeds=1))
    messages = tmp_path / "messages"
    limited = ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$@"', "sh", COMMAND]
    with messages.open("w") as stderr:
        process = subprocess.Popen(
            [*limited, "board", str(tmp_path / "o.h5"), "--port", "0"],
            stdout=subprocess.PIPE, stderr=stderr, text=True,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], 60)
        found = re.fullmatch(r"board: (http://\S+)\n", process.stdout.readline() if ready else "")
        assert found, messages.read_text()
        yield found[1], messages
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def half_open(address: str, stack: contextlib.ExitStack, count: int, begin: bytes) -> list[socket.socket]:
    """Connect so many times, and begin a request each time."""
    place = urlsplit(address).hostname or "", urlsplit(address).port or 0
    made = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            connection = stack.enter_context(socket.create_connection(place, timeout=5))
            connection.sendall(begin)
            made.append(connection)
    return made


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("begin", [b"", b"GET / HTTP/1.1\r\nHost: loc"])
def test_hundreds_of_half_open_requests_do_not_stop_the_board(board: tuple[str, Path], begin: bytes) -> None:
    address, messages = board
    with contextlib.ExitStack() as stack:
        connections = half_open(address, stack, 400, begin)
        began = time.monotonic()
        assert ask(address, "/")[0] == 200  # while they hold on
        assert sum(map(is_closed, connections)) > 300
        wait_until(lambda: all(map(is_closed, connections)), "the board let go of all of them", 40)
        assert time.monotonic() - began < 30
    assert ask(address, "/")[0] == 200
    assert len(messages.read_text().splitlines()) <= 2


def test_a_request_that_arrives_byte_by_byte_ends_in_time_and_a_second_one_on_a_connection_too(
    board: tuple[str, Path],
) -> None:
    address, _ = board
    port = urlsplit(address).port
    whole = f"GET /look.css HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        (connection,) = half_open(address, stack, 1, whole)
        assert connection.recv(12) == b"HTTP/1.1 200"
        while connection.recv(1 << 16)[-1:] != b"\n":
            pass
        began = time.monotonic()
        while time.monotonic() - began < 40:
            try:
                connection.sendall(b"G")
            except OSError:
                break
            time.sleep(0.5)
        assert 5 < time.monotonic() - began < 30


def test_many_wrong_requests_do_not_fill_the_log(board: tuple[str, Path]) -> None:
    address, messages = board
    with contextlib.ExitStack() as stack:
        for connection in half_open(address, stack, 50, b"\x00\x01\r\n\r\n"):
            connection.recv(1)
    assert ask(address, "/")[0] == 200
    assert messages.read_text() == ""
