"""All results in a few columns, growing as they come: what monitor, pictures, report and board count and draw.

Layouts stay where they are until one is asked for; a hundred thousand results take a few megabytes here.

Which results are invalid follows the one definition of done (``assembly.done``). A look must be quick, and geometry and
wind take a second to load. So what ``run``, ``merge``, ``salvage`` and ``validate`` found is read from the run
directory, and a result with the expected fingerprint was checked by the worker that published it. Only results that
nobody has checked yet, of a database that came from elsewhere, are checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.tasks import parse_key
from vindeby.results.sources import Folder, ResultSource
from vindeby.store.disk.run_directory import RunDirectory, Verdicts, read_verdicts
from vindeby.store.format.rows import CHECKSUM_WIDTH, Segment, array_field, attribute_field
from vindeby.store.read.database import Database
from vindeby.store.read.inspect import ORIGIN, ORIGINS, origins

if TYPE_CHECKING:
    from collections.abc import Callable

    from vindeby.assembly.done import Judge
    from vindeby.campaign import Campaign

_NUMBERS = {"farm_idx": "<i8", "type_idx": "<i8", "ss_seed": "<i8", "n_turbines": "<i8"}
_NEEDED = frozenset(
    [
        "key",
        "fingerprint",
        "checksum",
        array_field("aep"),
        *map(attribute_field, [*_NUMBERS, "aep", "aep_engine", "seconds", "returns", ORIGIN]),
    ]
)
_ORIGIN_TYPE = f"S{max(map(len, ORIGINS))}"
UNKNOWN = -1
"""A farm, type or seed that neither attributes nor key give."""


class ResultColumns:
    """All results as columns.

    These are ``key, fingerprint, checksum, origin, farm_idx, type_idx, ss_seed, n_turbines, aep, aep_engine, seconds,
    arrival``.
    ``aep`` is in GWh and NaN where it is missing or not a positive number, or where the result is known to be invalid
    (``leave_out``); ``arrival`` counts the looks at the source, so the newest results have the largest.
    """

    def __init__(self, source: ResultSource) -> None:
        self.source = source
        self._parts: list[NDArray[Any]] = []
        self._rows: NDArray[Any] | None = None
        self._looks = 0
        self._invalid: frozenset[bytes] = frozenset()
        self.version = 0
        self.take_new()

    def take_new(self) -> bool:
        """Add what the source has found; whether there was anything new."""
        came = self.source.new_segments(_NEEDED)
        fresh = [_without(_columns(segment, self._looks), self._invalid) for segment in came if len(segment)]
        self._looks += 1
        if not fresh:
            return False
        self._parts += fresh
        self._rows = None
        self.version += 1
        return True

    def leave_out(self, invalid: Collection[str]) -> None:
        """Results with these checksums are not valid: they have no energy to count or to draw."""
        checksums = frozenset(text.encode() for text in invalid)
        if checksums - self._invalid:
            self._invalid |= checksums
            self._parts = [_without(part, self._invalid) for part in self._parts]
            self._rows = None
            self.version += 1

    @property
    def foreign(self) -> bool:
        """Whether there is a result without a fingerprint."""
        return bool((self.rows["fingerprint"] == b"").any())

    @property
    def rows(self) -> NDArray[Any]:
        """One row per result, as a structured array; each key once, the copy that was read last."""
        if self._rows is None:
            self._rows = self._combine()
            self._parts = [self._rows]
        return self._rows

    def _combine(self) -> NDArray[Any]:
        if not self._parts:
            return np.empty(0, _row_type(1, 1))
        every = np.empty(sum(map(len, self._parts)), _common(self._parts))
        at = 0
        for part in self._parts:
            every[at : at + len(part)] = part
            at += len(part)
        _, last = np.unique(every["key"][::-1], return_index=True)
        kept = every[np.sort(len(every) - 1 - last)]
        here = [key.decode(errors="replace") in self.source for key in kept["key"].tolist()]
        return kept if all(here) else kept[np.array(here, bool)]

    def origins(self) -> dict[str, int]:
        """How many results are of each unverified origin."""
        marked = self.rows["origin"][self.rows["origin"] != b""]
        return {name.decode(): count for name, count in Counter(marked.tolist()).items()}

    def __len__(self) -> int:
        return len(self.rows)


def _common(parts: list[NDArray[Any]]) -> np.dtype[Any]:
    return _row_type(
        max(part.dtype["key"].itemsize for part in parts),
        max(part.dtype["fingerprint"].itemsize for part in parts),
    )


@lru_cache(maxsize=64)
def _row_type(key_width: int, fingerprint_width: int) -> np.dtype[Any]:
    numbers = list(_NUMBERS.items())
    texts = [
        ("key", f"S{key_width}"),
        ("fingerprint", f"S{fingerprint_width}"),
        ("checksum", f"S{CHECKSUM_WIDTH}"),
        ("origin", _ORIGIN_TYPE),
    ]
    return np.dtype(
        [*texts, *numbers, ("aep", "<f8"), ("aep_engine", "<f8"), ("seconds", "<f8"), ("arrival", "<i8")]
    )


def _columns(segment: Segment, look: int) -> NDArray[Any]:
    rows, names = segment.rows, set(segment.rows.dtype.names or ())
    found = np.empty(
        len(rows), _row_type(rows.dtype["key"].itemsize, max(1, rows.dtype["fingerprint"].itemsize))
    )
    found["key"], found["fingerprint"], found["arrival"] = rows["key"], rows["fingerprint"], look
    found["origin"] = origins(rows)
    found["checksum"] = rows["checksum"]
    for name in _NUMBERS:
        place = attribute_field(name)
        usable = place in names and rows.dtype[place].kind in "iu"
        found[name] = rows[place] if usable else UNKNOWN
    if (found["farm_idx"] == UNKNOWN).any() or (found["ss_seed"] == UNKNOWN).any():
        _numbers_from_keys(found)
    layout = next((shape for name, _, shape in segment.schema.arrays if name == "layout"), ())
    if len(layout) == 2:
        found["n_turbines"] = layout[1]
    # What a function returned that has nothing to do with wind is a result, though it has no energy.
    no_wind = attribute_field("returns") in names and array_field("aep") not in names
    found["aep"] = 0.0 if no_wind else _energy(segment, names)
    found["aep_engine"] = _real(rows, attribute_field("aep_engine"), names)
    found["seconds"] = _real(rows, attribute_field("seconds"), names)
    return found


def _without(rows: NDArray[Any], invalid: frozenset[bytes]) -> NDArray[Any]:
    if invalid:
        rows["aep"][[checksum in invalid for checksum in rows["checksum"].tolist()]] = np.nan
    return rows


def _numbers_from_keys(found: NDArray[Any]) -> None:
    for index, key in enumerate(found["key"].tolist()):
        numbers = parse_key(key.decode(errors="replace"))
        if numbers is not None:
            found["farm_idx"][index], found["type_idx"][index], found["ss_seed"][index] = numbers


def _energy(segment: Segment, names: set[str]) -> NDArray[np.float64]:
    place = array_field("aep")
    if place not in names:
        place = attribute_field("aep")
    values = _real(segment.rows, place, names)
    return np.where(np.isfinite(values) & (values > 0.0), values, np.nan)


def _real(rows: NDArray[Any], place: str, names: set[str]) -> NDArray[np.float64]:
    """A column as one number per row; NaN where it is not there or holds something else."""
    if place not in names or rows[place].dtype.kind not in "fiu" or rows[place].size != len(rows):
        return np.full(len(rows), np.nan)
    return np.asarray(rows[place], np.float64).reshape(len(rows))


class InvalidResults:
    """Leaves invalid results out of the columns; remembers what it found for one text of a campaign."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._stamp: tuple[object, ...] = ()
        self._known = Verdicts()
        self._judge: tuple[str, Judge] | None = None
        self._checked: object = None

    def apply(
        self, results: ResultColumns, text: str | None, campaign: Callable[[], Campaign | None]
    ) -> None:
        """Leave out of the results what is invalid; ``text`` is the campaign's, ``campaign`` loads it in full."""
        if text is None:
            return
        source = results.source
        known = self._read(text)
        if isinstance(source, Database) and known.invalid:
            source.pass_over(known.invalid, known.by_key.keys() & set(source.repeated_keys()))
            results.take_new()
        results.leave_out(known.invalid)
        covered = isinstance(source, Database) and known.covers(source.digest)
        if not covered and results.foreign and self._checked != (results.version, text):
            self._check(results, text, campaign())
            self._checked = results.version, text

    def _read(self, text: str) -> Verdicts:
        try:
            status = self._run.verdicts_file.stat()
            stamp: tuple[object, ...] = (text, status.st_ino, status.st_mtime_ns, status.st_size)
        except OSError:
            stamp = (text,)
        if stamp != self._stamp:
            self._stamp, self._known = stamp, read_verdicts(self._run, text)
        return self._known

    def _check(self, results: ResultColumns, text: str, campaign: Campaign | None) -> None:
        source = results.source
        if campaign is None or not isinstance(source, Database | Folder):
            return
        if self._judge is None or self._judge[0] != text:
            from vindeby.assembly.done import Judge  # loads shapely, and perhaps Numba: only here

            self._judge = text, Judge(campaign)
        foreign = (segment.take(segment.rows["fingerprint"] == b"") for segment in source.segments())
        results.leave_out([one.checksum for one in self._judge[1].look_at(foreign)])
