"""Messages on a stream: each is its length in four bytes, then its bytes.

Used between coordinator and workers (pickles) and between coordinator and spawner (JSON).
"""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("<I")
HEADER_SIZE = _LENGTH.size


def framed(payload: bytes) -> bytes:
    """A payload as it travels."""
    return _LENGTH.pack(len(payload)) + payload


def payload_size(header: bytes) -> int:
    """How many bytes follow a header."""
    size: int = _LENGTH.unpack(header)[0]
    return size


class FrameBuffer:
    """Collects what arrives in pieces of any size, and gives out whole payloads."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> None:
        """Keep bytes that arrived."""
        self._received += data

    def take(self) -> list[bytes]:
        """Every payload that has arrived in whole; one that was cut short stays."""
        payloads, start = [], 0
        while len(self._received) - start >= HEADER_SIZE:
            (size,) = _LENGTH.unpack_from(self._received, start)
            stop = start + HEADER_SIZE + size
            if len(self._received) < stop:
                break
            payloads.append(bytes(self._received[start + HEADER_SIZE : stop]))
            start = stop
        if start:
            del self._received[:start]
        return payloads


def receive_exactly(stream: socket.socket, count: int) -> bytes:
    """So many bytes, waiting for them; EOFError when the other side is gone first."""
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data
