"""The tasks of a campaign by key, by fingerprint and by name, to find the task of a stored result.

A result belongs to the task with its fingerprint, whatever its key says: farms, types and seeds may have been dropped,
inserted, reordered or renamed since the result was stored. A result whose fingerprint no task has belongs to the task
with the same names of farm, type and values of axes, and the same seed; it is stale, because that task has changed. Any
other result belongs to no task of the campaign.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from vindeby.campaign.tasks import Cell, Place, parse_key
from vindeby.text import listed

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign

Names = tuple[str, ...]
"""The names of a farm, of its turbine type or mix, and of the value of each axis."""
_NOT_DECIDING = ("name", "seeds", "run", "description")


class TaskIndex(Mapping[str, str]):
    """The fingerprint of each task by its key, and the task that a stored result belongs to.

    ``formers`` returns earlier versions of the campaign, the latest first, when they are needed.
    """

    def __init__(self, campaign: Campaign, formers: Callable[[], Iterable[Campaign]] = tuple) -> None:
        self.campaign = campaign
        self._load_formers = formers
        self.cell = campaign.cell_of
        self._fingerprints = campaign.fingerprints()

    def with_formers(self, formers: Callable[[], Iterable[Campaign]]) -> TaskIndex:
        """Return the index with other earlier versions of the campaign."""
        other = copy.copy(self)
        vars(other).pop("_formers", None)
        vars(other)["_load_formers"] = formers
        return other

    def __getitem__(self, key: str) -> str:
        return self._fingerprints[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fingerprints)

    def __len__(self) -> int:
        return len(self._fingerprints)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of results that hold ``names``."""
        return ("farm", "turbine", *self.campaign.axes)

    def former_axes(self) -> set[str]:
        """Return the axes of earlier versions of the campaign."""
        return {axis for former in self._formers for axis in former.campaign.axes}

    def names(self, key: str) -> Names | None:
        """Return the names of results under this key; None if they have none."""
        cell = self.cell(key)
        return None if cell is None else self._names.get(cell.place)

    @cached_property
    def _names(self) -> dict[Place, Names]:
        campaign, found = self.campaign, dict[Place, Names]()
        if not campaign.is_about_wind and not campaign.axes:
            return found
        farms, types = [farm.name for farm in campaign.farms] or [""], campaign.type_names
        values = [tuple(one.values.values()) for one in campaign.combinations]
        for cell in campaign.cells():
            label = cell.label(types) if campaign.is_about_wind else ""
            found[cell.place] = (farms[cell.farm_idx], label, *values[cell.combination])
        return found

    @cached_property
    def _by_fingerprint(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key, fingerprint in self._fingerprints.items():
            found.setdefault(fingerprint, []).append(key)
        return found

    @cached_property
    def _cells_by_names(self) -> dict[Names, Cell]:
        return {self._names[cell.place]: cell for cell in self.campaign.cells() if self._names}

    @cached_property
    def _formers(self) -> list[TaskIndex]:
        return [TaskIndex(former) for former in self._load_formers()]

    def is_in_place(self, key: str, fingerprint: str, names: Names | None) -> bool:
        """Return whether a stored result has the fingerprint and the names of the task with its key."""
        return self._fingerprints.get(key) == fingerprint and names in (None, self.names(key))

    def answered_by(self, fingerprint: str, names: Names | None = None) -> str | None:
        """Return the key of the task with this fingerprint, of several the one with these names; None without one."""
        keys = self._by_fingerprint.get(fingerprint, [])
        return next((key for key in keys if self.names(key) == names), keys[0] if keys else None)

    def key_of(self, key: str, fingerprint: str, names: Names | None) -> str | None:
        """Return the key of the task that a stored result belongs to; None if the campaign has no such task.

        A result without a fingerprint, of another script, belongs to the task that its key meant in the latest former
        campaign.
        """
        if self._fingerprints.get(key) == fingerprint:
            return key
        if not fingerprint:
            former = self._formers[0] if self._formers else None
            if former is None or key not in former or former.get(key) == self.get(key):
                return key
            fingerprint, names = former[key], former.names(key)
        same, numbers = self.answered_by(fingerprint, names), parse_key(key)
        if same is not None:
            return same
        if names is None or numbers is None:
            return key if key in self else None
        cell = self._cells_by_names.get(names)
        found = None if cell is None else cell.key(numbers.seed)
        return found if found in self else None

    def type_numbers(self, key: str, fingerprint: str, former_key: str) -> dict[int, int] | None:
        """Return the type numbers of a mix when a result was stored, and those of now; None if unknown."""
        cell = self.cell(key)
        for former in self._formers:
            was = former.cell(former.answered_by(fingerprint) or ("" if fingerprint else former_key))
            if was is not None and cell is not None and len(was.type_indices) == len(cell.type_indices):
                return dict(zip(was.type_indices, cell.type_indices, strict=True))
        return None

    def changes_since(self, key: str, fingerprint: str) -> str:
        """Describe what has changed in a task since a stale result was computed; empty if that is not known."""
        for former in self._formers:
            before, cell = former.answered_by(fingerprint), self.cell(key)
            if before is None or cell is None:
                continue
            was = former.cell(before)
            assert was is not None, "a task has a cell"
            pair = former.campaign.of(was), self.campaign.of(cell)
            names = [name for name, _, _ in changed_fields(*pair)]
            others = tuple(
                f"{part}[{number}]"
                for part, count, mine in (
                    ("farms", len(self.campaign.farms), (cell.farm_idx,)),
                    ("turbines", len(self.campaign.turbines), cell.type_indices),
                )
                for number in range(count)
                if number not in mine
            )
            passed_over = (*_NOT_DECIDING, *others, "farms['", "turbines['")
            deciding = [name for name in names if not name.startswith(passed_over)]
            return listed(deciding, None, most=3) if deciding else ""
        return ""


def changed_fields(first: Campaign, second: Campaign) -> list[tuple[str, str, str]]:
    """Return the fields in which two campaigns differ: path in the second, value in the first, value in the second.

    Farms, turbine types and other things with a name are compared with those of the same name, wherever they stand.
    """
    after = second.model_dump(mode="json", by_alias=True)
    before = first.model_dump(mode="json", by_alias=True)
    flat = [_flattened(before, after), _flattened(after, after)]
    names = dict.fromkeys([*flat[1], *flat[0]])
    pairs = [(name, flat[0].get(name, "not given"), flat[1].get(name, "not given")) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _flattened(value: Any, other: Any, path: str = "") -> dict[str, str]:
    """Return each field by its path; a list of numbers is one field, and ``other`` numbers what has a name."""
    if isinstance(value, Mapping):
        beside = other if isinstance(other, Mapping) else {}
        parts = [
            (f"{path}.{key}" if path else str(key), part, beside.get(key)) for key, part in value.items()
        ]
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        known = other if isinstance(other, list) else []
        numbers = {part["name"]: number for number, part in enumerate(known) if _has_name(part)}
        parts = []
        for number, part in enumerate(value):
            place: object = number
            if _has_name(part):
                place = numbers.get(part["name"], repr(part["name"]))
            there = known[place] if isinstance(place, int) and place < len(known) else None
            parts.append((f"{path}[{place}]", part, there))
    else:
        return {} if value is None else {path: str(np.asarray(value).tolist())}
    return {name: text for one, part, beside in parts for name, text in _flattened(part, beside, one).items()}


def _has_name(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("name"), str)
