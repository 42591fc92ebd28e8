"""Who holds a lock: a small file beside it for each token, written before the token becomes the lock's state."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vindeby.store.disk.locks.lease import heartbeat_age
from vindeby.store.disk.process import Identity
from vindeby.store.disk.regular_files import read_bounded
from vindeby.text import parse_json

UNKNOWN = Identity("an unknown machine", "", 0, "", "")
_ABANDONED_AFTER_S = 24 * 3600.0


@dataclass(frozen=True)
class Owner:
    """The process behind a token, and since when it holds the lock, by its own clock."""

    process: Identity
    since: float = 0.0

    @property
    def is_unknown(self) -> bool:
        """Is there nothing that says who it is?"""
        return self.process is UNKNOWN

    def describe(self, path: Path, purpose: str) -> str:
        """For messages: who, what for, since when, and when it last gave a sign of life."""
        text = f"{self.process} holds it ({purpose})"
        if self.since:
            text += f" since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.since))}"
        age = heartbeat_age(path) if path.is_dir() else None
        return text if age is None else f"{text}, last heartbeat {age:.0f} s ago"


def claim_path(path: Path, token: str) -> Path:
    """The file that says who is behind a token."""
    return path.with_name(f".{path.name}.{token}.json")


def write_claim(path: Path, token: str) -> Path:
    """Say that this process is behind a token; on the disk, so that a power cut leaves no lock of nobody."""
    claim = claim_path(path, token)
    text = json.dumps({**Identity.current().to_json(), "acquired": time.time()})
    try:
        with claim.open("x") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = error.filename or str(claim)
        claim.unlink(missing_ok=True)
        raise
    return claim


def read_claim(claim: Path) -> Owner:
    """Who is behind a token; an unknown process when the file is gone or cannot be understood."""
    try:
        data = parse_json(read_bounded(claim))
        return Owner(Identity.from_json(data), float(data.get("acquired", data["since"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Owner(UNKNOWN)


def remove_abandoned(path: Path, keep: str) -> None:
    """Delete what processes left that died while they took the lock; only for who holds it."""
    for left in _beside(path):
        if left == claim_path(path, keep):
            continue
        try:
            old = time.time() - left.stat().st_mtime > _ABANDONED_AFTER_S
        except OSError:
            continue
        if left.suffix == ".new":
            if old:
                shutil.rmtree(left, ignore_errors=True)
        elif old or read_claim(left).process.is_dead:
            left.unlink(missing_ok=True)


def _beside(path: Path) -> Iterator[Path]:
    start = f".{path.name}."
    for left in path.parent.iterdir():
        if left.name.startswith(start) and left.suffix in {".json", ".new"}:
            yield left
