"""Reads records out of HDF5 files that nothing vouches for, through the library, inside a guarded child.

Three forms are understood: one group per record (``foreign_groups``: the classic form, from vindeby or from an older
script), and vindeby's own shards and tables whose seal is lost (``foreign_rows``). A record that states a checksum
and does not meet it is a finding, whichever way it was reached. What others added to a file of vindeby is listed, not
read (``own``). What leads to another file is refused (``confined``), and what a file may give is bounded
(``budget``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

from vindeby.store.format.batches import batches
from vindeby.store.format.image import build_image
from vindeby.store.format.own_fields import Addition
from vindeby.store.format.record import Attribute
from vindeby.store.format.root import KNOWN
from vindeby.store.read.foreign.budget import Budget, SpentError
from vindeby.store.read.foreign.confined import UnusableError, no_more_files
from vindeby.store.read.foreign.groups import Asked, GroupReader, only_complete
from vindeby.store.read.foreign.hdf5_library import LIBRARY_ERRORS, plain
from vindeby.store.read.foreign.rows import RowSender, Send, send_shard, send_table
from vindeby.store.read.inspect import Verdict

_MOST_ATTRIBUTES = 1000
_ROOT_BYTES = 1 << 24


def read_foreign(
    *, path: str, progress: Callable[[str], None], result: Send, doubtful: Send, **asked: Any
) -> dict[str, Any]:
    """Send every usable record as images of shards; the findings about the rest, the root attributes, the additions.

    What is ``asked`` are the fields of ``Asked``.
    """
    with h5py.File(path, "r", locking=False) as file, no_more_files():
        return read_open(file, Asked(**asked), progress, result, doubtful)


def read_open(
    file: h5py.File, asked: Asked, progress: Callable[[str], None], result: Send, doubtful: Send
) -> dict[str, Any]:
    """``read_foreign`` for a file that is open."""
    budget = Budget(asked.result_bytes, asked.most_findings)
    sender = RowSender(budget, asked.batch_bytes, result, doubtful)
    progress("")
    root, inexact = ({}, []) if asked.rooted else _root_attributes(file, budget)
    reader = GroupReader(asked, sender, root)
    additions: list[Addition] = reader.additions
    form = _form(file, root, asked.rooted)
    try:
        if form == "shard":
            send_shard(file, sender)
        elif form == "table":
            additions += send_table(file, root, sender)
        else:
            for batch in batches(reader.records(file, progress), asked.batch_bytes):
                complete = only_complete(batch, budget, asked.needed)
                if complete:
                    result(build_image(complete).data)
    except SpentError:
        budget.note_spent()
    except UnusableError as error:
        budget.note(error.verdict, error.detail)
    return {
        "findings": budget.close(),
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


def _root_attributes(file: h5py.File, budget: Budget) -> tuple[dict[str, Attribute], list[str]]:
    """The root attributes as plain values, and the names of those that are more than these values say."""
    found: dict[str, Attribute] = {}
    inexact: list[str] = []
    left = _ROOT_BYTES
    for number, name in enumerate(file.attrs):
        if number == _MOST_ATTRIBUTES:
            budget.note(Verdict.IMPLAUSIBLE, f"the root has more than {_MOST_ATTRIBUTES} attributes")
            break
        try:
            stored = file.attrs[name]
            value = plain(stored)
        except LIBRARY_ERRORS:
            inexact.append(name)
            continue
        left -= len(name) + (len(value) if isinstance(value, str) else 8)
        if left < 0:
            budget.note(Verdict.IMPLAUSIBLE, f"the root attributes have more than {_ROOT_BYTES} bytes")
            break
        found[name] = value
        if not (isinstance(stored, str | np.int64 | np.float64 | np.bool_) or name in KNOWN):
            inexact.append(name)
    return found, inexact
