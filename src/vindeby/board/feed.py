"""One look for all viewers: what is new since the last one, as messages that are ready to be sent."""

import json
import threading
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


class Feed:
    """Keeps what the viewers have to know; ``look`` is called by one thread at a time."""

    def __init__(self, results: ResultSet) -> None:
        self._results = results
        self._lock = threading.Lock()
        self._known: dict[bytes, float] = {}
        self._version: int | None = None
        self._campaign: object = self
        self.rows: list[list[Any]] = []
        """Key, farm, type, seed, energy and turbines of each result, in the order of arrival."""
        self.generation = 0
        """0 before the first look; raised when what was sent is no longer valid, and viewers must start again."""
        self.state = message("problem", {"text": "the first look is under way"})
        self.shown = message("shown", {"newest": [], "best": []})

    def look(self) -> None:
        """See what is there now; a problem becomes a message and is tried again at the next look."""
        with self._lock:
            try:
                snapshot = self._results.look()
                if self._results.campaign is not self._campaign:
                    self._campaign, self._version = self._results.campaign, None
                    self._begin_again()
                if self._take_rows():
                    self.shown = message("shown", self._choose())
                self.state = message("state", self._state(snapshot))
            except (VindebyError, OSError) as error:
                self.state = message("problem", {"text": str(error)})

    def results_from(self, start: int) -> tuple[str, int]:
        """The next rows for a viewer who has the first ``start``; and how many that makes."""
        part = self.rows[start : start + _BATCH]
        return message("results", {"from": start, "rows": part}), start + len(part)

    def layout(self, key: str) -> dict[str, Any] | None:
        """One layout for the browser; None when there is none of this name."""
        with self._lock:
            return self._packed(key)

    def areas(self) -> str:
        """What never changes while a campaign runs: farms and types."""
        with self._lock:
            campaign, axes = self._results.campaign, self._results.expected
        farms = range(max(len(axes.farms), 1))
        types = range(max(len(axes.types), 1))
        data = {
            "generation": self.generation,
            "farms": [maps.farm_data(campaign, index, maps.frame_of(campaign, index)) for index in farms],
            "types": [maps.type_data(campaign, index) for index in types],
            "mixed": {
                f"{cell.farm_idx}/{cell.type_idx}": maps.type_data(campaign, cell.type_idx, cell)
                for cell in axes.cells
                if cell.mix
            },
        }
        return message("areas", data)

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
        self.generation += 1

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
        """The best result of each farm by energy or objective, the farm with the most first."""
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


def message(event: str, data: dict[str, Any]) -> str:
    """A server-sent event."""
    return f"event: {event}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
