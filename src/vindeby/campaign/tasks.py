"""The tasks of a campaign and their stable identity.

A task's key (``farm0_t5_s12``) says which cell of the campaign it fills; a campaign with axes adds the tag of the
combination (``farm0_t5_s12_1f3a9c02``). Its fingerprint says what decides the
result: equal fingerprints mean equal results, so that a result made earlier can be taken for done. It is a
SHA-256 over canonical JSON: keys sorted, floats in their shortest exact form, so it is the same on every machine
and Python version, and does not depend on names, comments, key order, defaults written out, or the ``run`` part.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Place = tuple[int, int, str]
"""A cell's place in the campaign: the numbers of its farm and type, and the tag of its combination (or nothing)."""
RESULT_REVISION = 3
"""Raised when a change of vindeby changes results for the same campaign, so that old ones are not taken for new."""


@dataclass(frozen=True, slots=True)
class Task:
    """The search for one layout: a farm, a turbine type, a combination of the axes, a seed."""

    key: str
    fingerprint: str
    farm_idx: int
    type_idx: int
    seed: int
    n_turbines: int
    spacing_m: float
    tag: str = ""
    """The tag of the combination; empty without axes."""

    @property
    def place(self) -> Place:
        """The place of its cell."""
        return self.farm_idx, self.type_idx, self.tag


@dataclass(frozen=True, slots=True)
class Cell:
    """A farm with a turbine type in a combination of the axes: all that its tasks have in common."""

    farm_idx: int
    type_idx: int
    n_turbines: int
    spacing_m: float
    identity: str
    """Digest of everything that decides the cell's results, but for the seed."""
    zones: tuple[int, ...] = ()
    """The number of turbines in each zone, if the farm has zones."""
    mix: tuple[tuple[int, int], ...] = ()
    """The type numbers of a mix, and the number of turbines of each type."""
    by_seed: Mapping[int, str] = field(default_factory=dict, hash=False)
    """The digest, by seed, of the layout that the seed's task starts from, if seeds have different ones."""
    combination: int = 0
    """The number of its combination in ``Campaign.combinations``."""
    tag: str = ""
    """The tag of its combination; empty without axes."""

    @property
    def place(self) -> Place:
        """The farm, type and combination of the cell."""
        return self.farm_idx, self.type_idx, self.tag

    @property
    def type_indices(self) -> tuple[int, ...]:
        """The turbine types of the cell, by their numbers in the campaign."""
        return tuple(index for index, _ in self.mix) or (self.type_idx,)

    def label(self, types: Sequence[str]) -> str:
        """Return the name of the cell's turbine type or mix, e.g. ``iea10+iea15``; ``function`` without any."""
        return "+".join(types[index] for index in self.type_indices) if types else "function"

    def tasks(self, seeds: Iterable[int]) -> Iterator[Task]:
        """Yield a task for each seed, in their order."""
        for seed in seeds:
            yield Task(
                key=self.key(seed),
                fingerprint=self.fingerprint(seed),
                farm_idx=self.farm_idx,
                type_idx=self.type_idx,
                seed=seed,
                n_turbines=self.n_turbines,
                spacing_m=self.spacing_m,
                tag=self.tag,
            )

    def key(self, seed: int) -> str:
        """Return the key of its task with this seed."""
        return task_key(self.farm_idx, self.type_idx, seed, self.tag)

    def fingerprint(self, seed: int) -> str:
        """Return the fingerprint that sets a task apart from all that would give another result.

        It is the ``digest`` of cell and seed, computed more quickly.
        """
        own = f'"case":"{self.by_seed[seed]}",' if seed in self.by_seed else ""
        return hashlib.sha256(f'{{{own}"cell":"{self.identity}","seed":{seed}}}'.encode("ascii")).hexdigest()


def cell_key(farm_idx: int | str, type_idx: int | str) -> str:
    """Return the beginning of the keys of all tasks of a farm and type."""
    return f"farm{farm_idx}_t{type_idx}"


def task_key(farm_idx: int | str, type_idx: int | str, seed: int | str, tag: str = "") -> str:
    """Return the name of a task's group in the database; ``tag`` is that of its combination."""
    return f"{cell_key(farm_idx, type_idx)}_s{seed}{tag and '_'}{tag}"


_NUMBER = r"(\d{1,18})"  # not so many digits that they would not fit into 64 bits
_KEY = re.compile(rf"{task_key(_NUMBER, _NUMBER, _NUMBER)}(?:_([0-9a-f]{{8}}))?", re.ASCII)
KEY_OF_ATTRIBUTES = task_key("{farm_idx}", "{type_idx}", "{ss_seed}")
"""The format of a key from the attributes of a record, for ``str.format``, if the name of its group is lost."""


class KeyParts(NamedTuple):
    """The parts of a task's key; ``task_key`` takes them in this order."""

    farm_idx: int
    type_idx: int
    seed: int
    tag: str

    @property
    def place(self) -> Place:
        """The place of its cell."""
        return self.farm_idx, self.type_idx, self.tag

    @classmethod
    def of(cls, key: str) -> KeyParts:
        """Return the parts of a task's key."""
        parts = parse_key(key)
        assert parts is not None, f"{key} is the key of a task"
        return parts


def parse_key(key: str) -> KeyParts | None:
    """Return the parts of a key; None for any other name. Leading zeros, as other scripts write, are accepted."""
    match = _KEY.fullmatch(key)
    return None if match is None else KeyParts(int(match[1]), int(match[2]), int(match[3]), match[4] or "")


def digest(data: Any) -> str:
    """Return the SHA-256 of plain data in canonical JSON, as hexadecimal digits."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _about(long_name: str, units: str, dimensions: str = "") -> dict[str, str]:
    texts = {"long_name": long_name, "units": units, "dimensions": dimensions}
    return {name: text for name, text in texts.items() if text}


RESULT_ARRAYS: Mapping[str, Mapping[str, str]] = {
    "aep": _about("annual energy production", "GWh/year"),
    "layout": _about("turbine positions, x then y", "m"),
    "scenario_aep_gwh": _about("annual energy production in each scenario", "GWh/year"),
    "types": _about("turbine type of each turbine, by its number in the campaign", "1"),
    "zone": _about("zone of each turbine, by its number in the farm", "1"),
    "revenue_eur": _about("what the energy of a year is sold for", "EUR"),
    "substations": _about("positions of substations, x then y", "m"),
    "cable_ends": _about("ends of each cable: a turbine, or -1 - s for substation s", "1"),
    "cable_types": _about("type of each cable, by its number in the campaign", "1"),
    "cable_points": _about("corners of the cables: number of the cable, x, y", "m"),
}
"""The attributes written beside each array into a database, by the name of the array."""

_OFF = "with the internal wakes switched off"
EVALUATED_ARRAYS: Mapping[str, Mapping[str, str]] = {
    "layout": {**RESULT_ARRAYS["layout"], "dimensions": "coordinate turbine"},
    "types": {**RESULT_ARRAYS["types"], "dimensions": "turbine"},
    "aep_free": _about("AEP if no turbine stood in a wake", "GWh/year"),
    "aep_alone": _about("AEP without the neighbours of the combination", "GWh/year"),
    "aep_external": _about(f"AEP {_OFF}", "GWh/year"),
    "turbine_aep": _about("AEP of each turbine", "GWh/year", "turbine"),
    "turbine_aep_external": _about(f"AEP of each turbine {_OFF}", "GWh/year", "turbine"),
    "loss_total": _about("share of aep_free that is lost to wakes", "1"),
    "loss_internal": _about("share of aep_free that own wakes take", "1"),
    "loss_external": _about("share of aep_free that the neighbours take", "1"),
    "loss_external_only": _about(f"share of aep_free that is lost {_OFF}", "1"),
    "power": _about("power of each turbine at each step", "W", "turbine time"),
    "power_external": _about(f"power of each turbine at each step {_OFF}", "W", "turbine time"),
}
"""The same for stored layouts, with the names of axes; a user's function may use these names for something else."""
