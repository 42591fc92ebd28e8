"""The open cases, the best known layout of each, and layouts in files of vindeby and other tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.campaign import presets
from vindeby.campaign.reading import source
from vindeby.campaign.reading.files import read_bounded_text, suffix_of
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import TableReader, read_coordinates
from vindeby.campaign.reading.yaml_text import MAX_BYTES, read
from vindeby.errors import ArgumentError, InputError, Problem

FloatArray = npt.NDArray[np.float64]
_MOST_TURBINES, _FARTHEST_M = 3000, 1e8
_REMEDY = "give one layout: a table with the columns x and y, in metres"


@dataclass(frozen=True)
class PublishedLayout:
    """The best layout of a case that vindeby has found, its worth and its origin; x and y in metres.

    The command gives this layout with the code of ``commit``; later versions of a search may take another way.
    """

    worth: float
    seed: int
    seconds: float
    commit: str
    command: str
    x: FloatArray
    y: FloatArray


@dataclass(frozen=True)
class Case:
    """An open case as ``index.yaml`` describes it; ``published`` is the best published worth, in ``unit``.

    ``turbines`` is None where the number of turbines is free.
    """

    name: str
    title: str
    source: str
    area_km2: float
    wakes: str
    unit: str
    published_by: str
    turbines: int | None = None
    judge: str = "energy"
    published: float | None = None
    note: str = ""

    @property
    def lower_is_better(self) -> bool:
        """Return whether the worth is a cost."""
        return self.unit == "cost"

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The campaign file of the case, as plain data."""
        return dict(source.load(f"{presets.CASE}{self.name}").data)

    @cached_property
    def record(self) -> PublishedLayout | None:
        """The best layout that vindeby has found; None if none is stored."""
        text = presets.case_file(f"{self.name}.csv")
        if not text:
            return None
        head = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
        x, y = _table(text, f"{self.name}.csv")
        worth, seed, seconds = float(head["worth"]), int(head["seed"]), float(head["seconds"])
        return PublishedLayout(worth, seed, seconds, head["commit"], head["command"], x, y)

    def gain(self, worth: float) -> float | None:
        """Return the improvement on the best published worth, as a fraction of it; None if that is unknown."""
        if self.published is None:
            return None
        return (worth / self.published - 1.0) * (-1.0 if self.lower_is_better else 1.0)

    def gain_text(self, worth: float | None) -> str:
        """Return the gain in percent; empty if there is none."""
        gain = None if worth is None else self.gain(worth)
        return "" if gain is None else f"{gain:+.3%}"

    def shown(self, worth: float | None) -> str:
        """Return a worth with the digits that suit its unit; empty if there is none."""
        if worth is None:
            return ""
        return f"{worth:.9f}" if self.lower_is_better else f"{worth:,.2f}"


def all_cases() -> list[Case]:
    """Return all cases, in the order of the index."""
    entries = read(presets.case_file("index.yaml"), "index.yaml").data
    return [Case(name, **entry) for name, entry in entries.items()]


def case_named(name: str) -> Case:
    """Return the case of this name, with or without ``case:``; otherwise raise an error with a suggestion."""
    full = f"{presets.CASE}{name.removeprefix(presets.CASE)}"
    for case in all_cases():
        if full == f"{presets.CASE}{case.name}":
            return case
    raise ArgumentError(f"there is no case {name!r}; {presets.remedy(full)}")


def read_layout(path: Path) -> tuple[FloatArray, FloatArray]:
    """Return the positions in a file: a table with x and y, or IEA Task 37 or windIO YAML with its farms joined."""
    if suffix_of(path) not in (".yaml", ".yml"):
        x, y = _table(read_bounded_text(path, MAX_BYTES, latin=True), str(path))
    else:
        layouts = readers().windio_layouts(path)
        if len({one.get("farm") for one in layouts}) < len(layouts):
            _refuse(path, "holds several layouts of one farm", _REMEDY)
        x, y = (np.concatenate([one[axis] for one in layouts]) for axis in "xy")
    if len(x) > _MOST_TURBINES:
        _refuse(path, f"holds {len(x):,} positions, and no case has more than {_MOST_TURBINES:,}", _REMEDY)
    if np.abs([x, y]).max() > _FARTHEST_M:
        _refuse(path, f"holds a position farther than {_FARTHEST_M:g} m from the origin", _REMEDY)
    return x, y


def _table(text: str, name: str) -> tuple[FloatArray, FloatArray]:
    columns = read_coordinates(text, TableReader(name, "")).columns
    return np.array(columns["x"]), np.array(columns["y"])


def _refuse(path: Path, message: str, remedy: str) -> None:
    raise InputError(str(Problem(str(path), "", message, None, remedy)))
