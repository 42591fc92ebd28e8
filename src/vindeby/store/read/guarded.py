"""What runs inside a guarded child: ``python -m vindeby.store.read.guarded DESCRIPTOR MEMORY_BYTES``.

It gets requests, one JSON object each, over a connection and answers with messages (``guard``). It may die at any
moment; it changes nothing on disk but the new file of a merge that asks it to copy what others added (``additions``).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import h5py
import numpy as np

from vindeby.errors import VindebyError
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.root import KNOWN, Addition
from vindeby.store.format.rows import batches
from vindeby.store.format.shard import build_image
from vindeby.store.read.additions import copy_additions
from vindeby.store.read.confined import (
    LIBRARY_ERRORS,
    Answer,
    Asked,
    Send,
    SpentError,
    UnusableError,
    no_more_files,
    plain,
)
from vindeby.store.read.gridded_file import read_gridded
from vindeby.store.read.groups import GroupReader
from vindeby.store.read.guard import DONE, DOUBTFUL, FAILED, PROGRESS, RESULT
from vindeby.store.read.inspect import Verdict
from vindeby.store.read.rows import send_shard, send_table

_MOST_ATTRIBUTES = 1000
_ROOT_BYTES = 1 << 24


def read_foreign(
    file: h5py.File, asked: Asked, progress: Callable[[str], None], result: Send, doubtful: Send
) -> dict[str, Any]:
    """Send every usable record as images of shards; the findings about the rest, the root attributes, the additions."""
    answer = Answer(asked, result, doubtful)
    progress("")
    root, inexact = ({}, []) if asked.rooted else _root_attributes(file, answer)
    reader = GroupReader(answer, root)
    additions: list[Addition] = reader.additions
    form = _form(file, root, asked.rooted)
    try:
        if form == "shard":
            send_shard(file, answer)
        elif form == "table":
            additions += send_table(file, root, answer)
        else:
            for batch in batches(reader.records(file, progress), asked.batch_bytes):
                result(build_image(batch).data)
    except SpentError:
        answer.note_spent()
    except UnusableError as error:
        answer.note(error.verdict, error.detail)
    return {
        "findings": answer.close(),
        "root": root,
        "inexact": inexact,
        "additions": [addition.to_json() for addition in additions],
        "form": form,
        "visited": reader.visited,
    }


def _form(file: h5py.File, root: dict[str, Attribute], rooted: str) -> str:
    if not rooted and "records" in file and root.get("kind") == "vindeby shard":
        return "shard"
    return "table" if not rooted and "schemas" in root else "groups"


def _root_attributes(file: h5py.File, answer: Answer) -> tuple[dict[str, Attribute], list[str]]:
    """The root attributes as plain values, and the names of those that are more than these values say."""
    found: dict[str, Attribute] = {}
    inexact: list[str] = []
    left = _ROOT_BYTES
    for number, name in enumerate(file.attrs):
        if number == _MOST_ATTRIBUTES:
            answer.note(Verdict.IMPLAUSIBLE, f"the root has more than {_MOST_ATTRIBUTES} attributes")
            break
        try:
            stored = file.attrs[name]
            value = plain(stored)
        except LIBRARY_ERRORS:
            inexact.append(name)
            continue
        left -= len(name) + (len(value) if isinstance(value, str) else 8)
        if left < 0:
            answer.note(Verdict.IMPLAUSIBLE, f"the root attributes have more than {_ROOT_BYTES} bytes")
            break
        found[name] = value
        if not (isinstance(stored, str | np.int64 | np.float64 | np.bool_) or name in KNOWN):
            inexact.append(name)
    return found, inexact


def main() -> None:
    """Answer requests until the connection closes."""
    connection, memory = Connection(int(sys.argv[1])), int(sys.argv[2])
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def send(kind: bytes) -> Send:
        return lambda data: connection.send_bytes(kind + data)

    def progress(text: str) -> None:
        connection.send_bytes(PROGRESS + text.encode(errors="surrogateescape"))

    _load_everything()
    progress("ready")
    while True:
        try:
            request: dict[str, Any] = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        task = request.pop("task")
        try:
            if task == "probe":
                answer: dict[str, Any] = _probe(request["name"])
            elif task == "gridded":
                answer = read_gridded(result=send(RESULT), **request)
            elif task == "carry":
                answer = copy_additions(progress=progress, **request)
            else:
                with h5py.File(request.pop("path"), "r", locking=False) as file, no_more_files():
                    answer = read_foreign(file, Asked(**request), progress, send(RESULT), send(DOUBTFUL))
            connection.send_bytes(DONE + json.dumps(answer).encode())
        except (VindebyError, *LIBRARY_ERRORS) as error:
            text = f"{type(error).__name__}: {error}"[:1000]
            connection.send_bytes(FAILED + text.encode(errors="replace"))


def _load_everything() -> None:
    """Read a file of each kind once: while one is read, no library can open the files of a part that it loads late."""
    for name in ("encodings.ascii", "h5py._hl.dims", "numpy.ma"):
        importlib.import_module(name)
    record = Record("key", "", {"array": np.zeros((1, 2))}, {"text": "a", "number": 1.0, "flag": True})
    shard = build_image([record, Record("b", "", {"array": np.zeros((1, 2))})]).data
    groups = io.BytesIO()
    with h5py.File(groups, "w") as file:
        file["a/array"], file["b/array"] = np.zeros((1, 2)), np.zeros(3)
        file["a"].attrs.update({"text": "a", "texts": ["a", "b"], "number": 1.0, "bytes": np.bytes_(b"a")})
        file["b"].attrs["checksum"] = "none"
    for data in (io.BytesIO(shard), groups):
        with h5py.File(data, "r") as file:
            asked = Asked(1 << 20, 1 << 20, 1 << 20, 10)
            read_foreign(file, asked, lambda _: None, lambda _: None, lambda _: None)


def _probe(name: str) -> dict[str, str]:
    """Misbehave on purpose, so that the guard itself can be tested."""
    if name == "crash":
        os.abort()
    if name == "hang":
        os.read(os.pipe()[0], 1)
    if name == "memory":
        return {"length": str(len(bytearray(1 << 36)))}
    return {"name": name}


if __name__ == "__main__":
    main()
