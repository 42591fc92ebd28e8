"""All results in a few columns, growing as they come: what monitor, pictures, report and board count and draw.

Layouts stay where they are until one is asked for; a hundred thousand results take a few megabytes here.

Which results are invalid follows the one definition of done (``assembly.done``). A look must be quick, and checking
every layout and energy again takes long. So what ``run``, ``merge``, ``salvage`` and ``validate`` found is read from
the run directory, and a result with the expected fingerprint was checked by the worker that published it. Only results
that nobody has checked yet, of a database that came from elsewhere, are checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray
from vindeby.campaign import Campaign
from vindeby.store.disk.files import file_state
from vindeby.store.disk.run_directory import Verdicts, read_verdicts
from vindeby.store.format.rows import CHECKSUM_WIDTH, Segment, array_field, attribute_field
from vindeby.store.read.database import Database
from vindeby.store.read.export import PLACE, UNKNOWN, layout_sizes, number_column, places_of
from vindeby.store.read.inspect import ORIGIN, ORIGINS, origins

if TYPE_CHECKING:
    from vindeby.assembly.done import Judge

_REAL = ("aep", "objective", "lcoe_eur_per_mwh", "aep_engine", "seconds")
_NEEDED = frozenset(
    [
        "key",
        "fingerprint",
        "checksum",
        array_field("aep"),
        *map(attribute_field, [*PLACE, "n_turbines", *_REAL, "returns", ORIGIN]),
    ]
)
_ORIGIN_TYPE = f"S{max(map(len, ORIGINS))}"


class ResultColumns:
    """All results as columns.

    These are ``key, fingerprint, checksum, origin, farm_idx, type_idx, ss_seed, n_turbines, aep, objective,
    lcoe_eur_per_mwh, aep_engine, seconds``.
    ``aep`` is in GWh and NaN where it is missing or not a positive number, or where the result is known to be invalid
    (``leave_out``).
    """

    def __init__(self, source: Database) -> None:
        self.source = source
        self._parts: list[NDArray[Any]] = []
        self._rows: NDArray[Any] | None = None
        self._invalid: frozenset[bytes] = frozenset()
        self._campaign: Campaign | None = None
        self.version = 0
        self.take_new()

    def take_new(self) -> bool:
        """Add what the source has found; whether there was anything new."""
        came = [segment for segment in self.source.new_segments(_NEEDED) if len(segment)]
        if not came:
            return False
        self._parts.append(_without(_columns(came), self._invalid))
        self._rows = None
        self.version += 1
        return True

    def leave_out_invalid(self, campaign: Campaign | None) -> None:
        """Leave out what is invalid by this campaign; nothing where it is not known."""
        if campaign is None:
            return
        if campaign is not self._campaign:
            self._campaign, self._text = campaign, campaign.dumps()
            self._state: object = None
            self._known = Verdicts()
            self._judge: Judge | None = None
            self._checked = -1
        state, source = file_state(self.source.run.verdicts_file), self.source
        if state != self._state:
            self._state, self._known = state, read_verdicts(source.run, self._text)
        known = self._known
        if known.invalid:
            source.pass_over(known.invalid, known.by_key.keys() & set(source.repeated_keys()))
            self.take_new()
        self.leave_out(known.invalid)
        if not known.covers(source.digest) and self.foreign and self._checked != self.version:
            if self._judge is None:
                from vindeby.assembly.done import Judge  # may load Numba: only here

                self._judge = Judge(campaign)
            foreign = (segment.take(segment.rows["fingerprint"] == b"") for segment in source.segments())
            self.leave_out([one.checksum for one in self._judge.look_at(foreign)])
            self._checked = self.version

    def leave_out(self, invalid: Collection[str]) -> None:
        """Results with these checksums are not valid: they have no energy to count or to draw."""
        checksums = frozenset(text.encode() for text in invalid)
        if checksums - self._invalid:
            self._invalid |= checksums
            self._parts = [_without(part, self._invalid) for part in self._parts]
            self._rows = None
            self.version += 1

    def worths(self, campaign: Campaign | None) -> FloatArray:
        """What each result is worth where results of its farm and type are compared: its objective, or its energy.

        The larger the better: the worth of an LCOE is negative. A result has an objective where costs decide, or where
        the search chose how many turbines there are, or of which types. Where it is not stored, as in files of other
        programs, it follows from energy and number of turbines; for a mix of types, whose numbers are not in these
        columns, with costs, and for the worst or the regret over scenarios, it is NaN.
        """
        aep, objective = np.array(self.rows["aep"]), self.rows["objective"]
        if campaign is None or campaign.objective is None:
            return aep
        if not campaign.objective.is_of_energy:
            return np.where(np.isnan(aep), aep, campaign.objective.sign * objective)
        unknown = np.isnan(objective) & ~np.isnan(aep)
        worths = np.where(np.isnan(aep) | unknown, aep, objective)
        chosen = {(cell.farm_idx, cell.type_idx): cell for cell in campaign.cells() if cell.is_chosen}
        for row in np.flatnonzero(unknown):
            farm_idx, type_idx, count = self.rows[["farm_idx", "type_idx", "n_turbines"]][row].tolist()
            if (farm_idx, type_idx) in chosen:
                worths[row] = np.nan
                if count > 0 and not chosen[farm_idx, type_idx].mix:
                    counts = {campaign.turbines[type_idx].name: count}
                    worths[row] = campaign.objective.worth(float(aep[row]), counts)
        return worths

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
        every = np.concatenate([np.empty(0, _row_type(1, 1)), *self._parts])
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


def _row_type(key_width: int, fingerprint_width: int) -> np.dtype[Any]:
    numbers = [(name, "<i8") for name in (*PLACE, "n_turbines")]
    texts = [
        ("key", f"S{key_width}"),
        ("fingerprint", f"S{fingerprint_width}"),
        ("checksum", f"S{CHECKSUM_WIDTH}"),
        ("origin", _ORIGIN_TYPE),
    ]
    return np.dtype([*texts, *numbers, *((name, "<f8") for name in _REAL)])


def _columns(segments: Sequence[Segment]) -> NDArray[Any]:
    keys, marks = (np.concatenate([one.rows[name] for one in segments]) for name in ("key", "fingerprint"))
    found = np.empty(len(keys), _row_type(keys.dtype.itemsize, max(1, marks.dtype.itemsize)))
    found["key"], found["fingerprint"] = keys, marks
    found["checksum"] = np.concatenate([one.rows["checksum"] for one in segments])
    found["origin"] = np.concatenate([origins(one.rows) for one in segments])
    sizes = layout_sizes(segments)
    found["n_turbines"] = np.where(sizes > 0, sizes, UNKNOWN)
    for name in _REAL:
        found[name] = number_column(segments, name)
    found["aep"][~(np.isfinite(found["aep"]) & (found["aep"] > 0.0))] = np.nan
    found["farm_idx"], found["type_idx"], found["ss_seed"] = places_of(segments)[0].T
    # What a function returned that has nothing to do with wind is a result, though it has no energy.
    names = [set(segment.rows.dtype.names or ()) for segment in segments]
    without = [attribute_field("returns") in mine and array_field("aep") not in mine for mine in names]
    found["aep"][np.repeat(without, list(map(len, segments)))] = 0.0
    return found


def _without(rows: NDArray[Any], invalid: frozenset[bytes]) -> NDArray[Any]:
    if invalid:
        rows["aep"][[checksum in invalid for checksum in rows["checksum"].tolist()]] = np.nan
    return rows
