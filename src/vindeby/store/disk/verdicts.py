"""Which results were found invalid, kept in the run directory so that a quick look need not check them again.

Whether a result is possible is worked out by ``vindeby.assembly``, which loads geometry and wind. ``monitor`` loads
neither: it reads ``verdicts.json``, which ``run``, ``merge``, ``salvage`` and ``validate`` write. A verdict is about
one record (its checksum) and one text of the campaign, so it never becomes wrong; the file also says which database
(the digest of its seal) was checked as a whole, so that a reader knows whether it is complete. It is a cache: without
it, or with one of another campaign or version, results are checked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vindeby._version import __version__
from vindeby.errors import StorageError
from vindeby.store.disk.regular_files import read_bounded
from vindeby.store.disk.run_directory import RunDirectory, replace_text
from vindeby.text import parse_json


@dataclass(frozen=True)
class Invalid:
    """A record that cannot be taken for a result, and why."""

    key: str
    checksum: str
    why: str
    fingerprint: str = ""


@dataclass(frozen=True)
class Verdicts:
    """The invalid records that are known, by checksum."""

    invalid: Mapping[str, Invalid] = field(default_factory=dict)
    database: str = ""
    """The digest of the database's seal, where every record of it was checked."""

    @classmethod
    def of(cls, invalid: Iterable[Invalid], database: str = "") -> Verdicts:
        """From a list."""
        return cls({one.checksum: one for one in invalid}, database)

    def covers(self, digest: str) -> bool:
        """Was every record of the database with this seal checked?"""
        return digest != "" and digest == self.database

    @property
    def by_key(self) -> dict[str, str]:
        """Why, by key."""
        return {one.key: one.why for one in self.invalid.values()}


def read_verdicts(run: RunDirectory, campaign_text: str | None) -> Verdicts:
    """What is kept for this text of the campaign; nothing where that is of another text or version."""
    try:
        data = parse_json(read_bounded(run.verdicts_file))
        if campaign_text is None or any(
            data[name] != value for name, value in _binding(campaign_text).items()
        ):
            return Verdicts()
        names = ("key", "checksum", "why", "fingerprint")
        found = [Invalid(*(str(one[name]) for name in names)) for one in data["invalid"]]
        return Verdicts.of(found, str(data["database"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Verdicts()


def write_verdicts(run: RunDirectory, campaign_text: str, verdicts: Verdicts) -> None:
    """Keep them, where there is a run directory; a disk that refuses costs only time later."""
    if not run.path.is_dir() or read_verdicts(run, campaign_text) == verdicts:
        return
    data = {
        **_binding(campaign_text),
        "database": verdicts.database,
        "invalid": [vars(one) for one in verdicts.invalid.values()],
    }
    with contextlib.suppress(StorageError):
        replace_text(run.verdicts_file, json.dumps(data, indent=1) + "\n", run.path.parent)


def _binding(text: str) -> dict[str, Any]:
    return {"campaign": hashlib.sha256(text.encode()).hexdigest(), "version": __version__}
