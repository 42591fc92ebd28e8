"""Updates of the board for its viewers: the campaign is read once for all viewers, and each gets what is new for it."""

import secrets
import threading
import time
from dataclasses import asdict
from typing import Any

import numpy as np

from vindeby.assembly.stored_turbines import energy_of, layout_of
from vindeby.economy.cables import Routes
from vindeby.errors import VindebyError
from vindeby.results import maps
from vindeby.results.result_set import ResultSet
from vindeby.results.snapshot import Snapshot

_FAILURES = 50
_TRACEBACK = 4000
_SHOWN = 6
_MOST_FARMS = 12
_DIGITS = (
    6  # the browser rounds what it shows: rounding twice would show another last digit than a picture does
)
_BATCH = 2000
_SHARE = 0.04
"""How much of one core looking may take: the campaign comes first."""


class Feed:
    """The state of a campaign for the browser, read when a viewer asks, at most once per interval."""

    def __init__(self, results: ResultSet, *, interval_s: float = 1.0) -> None:
        self._results, self._interval_s = results, interval_s
        self._lock = threading.Lock()
        self._next_look = 0.0
        self._known: dict[bytes, float] = {}
        self._version: int | None = None
        self._campaign: object = self
        self.rows: list[list[Any]] = []
        """Key, farm, type, seed, energy and turbines of each result, in the order of arrival."""
        self.generation = ""
        """A number that changes when the rows sent before are no longer valid, and viewers must start again."""
        self.problem = ""
        self.state: dict[str, Any] | None = None
        self.shown: dict[str, Any] = {"newest": [], "best": []}

    def news(self, generation: str, count: int) -> dict[str, Any]:
        """Return the state, and what is new for a viewer who has the first ``count`` rows of a generation."""
        with self._lock:
            if time.monotonic() >= self._next_look:
                began = time.thread_time()
                self.look()
                used_s = time.thread_time() - began
                self._next_look = time.monotonic() + max(self._interval_s, used_s / _SHARE)
            start = count if generation == self.generation else 0
            rows = self.rows[start : start + _BATCH]
            return {
                "generation": self.generation,
                "areas": None if generation == self.generation else self._areas(),
                "rows": rows,
                "left": max(0, len(self.rows) - start - len(rows)),
                "problem": self.problem,
                "state": self.state,
                "shown": self.shown,
            }

    def layout(self, key: str) -> dict[str, Any] | None:
        """Return one layout for the browser; None if there is none of this key."""
        with self._lock:
            return self._packed(key)

    def look(self) -> None:
        """Read the current state; a problem becomes a message, and the next look tries again."""
        try:
            snapshot = self._results.look()
            if self._results.campaign != self._campaign:
                self._campaign, self._version = self._results.campaign, None
                self._begin_again()
            if self._take_rows():
                self.shown = self._choose()
            self.state, self.problem = self._state(snapshot), ""
        except (VindebyError, OSError) as error:
            self.problem = str(error)

    def _areas(self) -> dict[str, Any]:
        """Return what never changes while a campaign runs: farms and types."""
        campaign, axes = self._results.campaign, self._results.expected
        farms = range(max(len(axes.farms), 1))
        types = range(max(len(axes.types), 1))
        return {
            "farms": [maps.farm_data(campaign, index, maps.frame_of(campaign, index)) for index in farms],
            "types": [maps.type_data(campaign, index) for index in types],
            "mixed": {
                f"{cell.farm_idx}/{cell.type_idx}": maps.type_data(campaign, cell.type_idx, cell)
                for cell in axes.cells
                if cell.mix
            },
        }

    def _take_rows(self) -> bool:
        """Take new results; return whether anything has changed."""
        version, rows = self._results.version, self._results.rows
        if version == self._version:
            return False
        current = dict(zip(rows["key"].tolist(), rows["aep"].tolist(), strict=True))
        if any(key not in current or _differs(current[key], aep) for key, aep in self._known.items()):
            self._begin_again()
        fresh = rows[np.array([key not in self._known for key in current], bool)]
        columns = ["key", "aep", "n_turbines", "farm_idx", "type_idx", "ss_seed"]
        for key, aep, turbines, *place in fresh[columns].tolist():
            self._known[key] = aep
            self.rows.append([key.decode(errors="replace"), *place, maps.plain(aep, _DIGITS), turbines])
        self._version = version
        return True

    def _begin_again(self) -> None:
        self._known, self.rows = {}, []
        self.generation = secrets.token_hex(8)  # another one after a restart, too

    def _state(self, snapshot: Snapshot) -> dict[str, Any]:
        data = snapshot.to_json()
        data["counts"] = snapshot.counts_by(("farm", "turbine"), every=True)
        data["failures"] = [
            {**asdict(failure), "traceback": failure.traceback[-_TRACEBACK:]}
            for failure in snapshot.failures[:_FAILURES]
        ]
        data["bad_files"] = data["bad_files"][:_FAILURES]
        return data

    def _choose(self) -> dict[str, Any]:
        newest = [row[0] for row in self.rows[-_SHOWN:]][::-1]
        chosen = {"newest": newest, "best": self._best_of_farms()}
        found = {name: [self._packed(key) for key in keys] for name, keys in chosen.items()}
        return {name: [entry for entry in entries if entry is not None] for name, entries in found.items()}

    def _best_of_farms(self) -> list[str]:
        """Return the best result of each farm by energy or objective, the best farm first."""
        results, worths, best = self._results, self._results.worths(), dict[int, str]()
        for place, row in sorted(results.best().items(), key=lambda one: -worths[one[1]]):
            best.setdefault(place[0], results.key_of(row))
        return list(best.values())[:_MOST_FARMS]

    def _packed(self, key: str) -> dict[str, Any] | None:
        try:
            record = self._results.source[key]
            routes = Routes.stored(record.arrays)
        except (KeyError, VindebyError, OSError):
            return None
        layout = layout_of(record)
        if layout is None:
            return None
        farm, type_ = record.attributes.get("farm_idx", 0), record.attributes.get("type_idx", 0)
        farm_idx = farm if isinstance(farm, int) else 0
        cables = [] if routes is None else [line.T for line in routes.lines()]
        frame = maps.frame_of(self._results.campaign, farm_idx, [layout, *cables])
        aep, lcoe = energy_of(record), record.attributes.get("lcoe_eur_per_mwh")
        return {
            "key": key,
            "farm": farm_idx,
            "type": type_ if isinstance(type_, int) else 0,
            "aep": None if aep is None else maps.plain(aep, _DIGITS),
            "lcoe": maps.plain(lcoe, _DIGITS) if isinstance(lcoe, float) else None,
            "n": int(layout.shape[1]),
            "frame": list(frame),
            "layout": maps.pack_layout(layout, frame),
            "cables": [maps.pack_layout(line, frame) for line in cables],
        }


def _differs(one: float, other: float) -> bool:
    return one != other and not (np.isnan(one) and np.isnan(other))
