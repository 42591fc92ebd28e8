"""What tasks of one process share and a user's function might replace: functions of NumPy and the standard library.

A function that is replaced and left so would give other results in every later task of this process, and might
change what the publishing thread writes. What was replaced is put back after the task, which is named, and the worker
makes room for a fresh one, so that each task sees the same surroundings whatever ran before it.

The state to go back to is taken after the user's module was imported: what a module changes when it is imported is the
same for every task. Names that are added are left alone.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

WATCHED = (
    "numpy",
    "numpy.random",
    "numpy.linalg",
    "builtins",
    "os",
    "time",
    "io",
    "json",
    "hashlib",
    "pickle",
    "select",
    "socket",
    "struct",
    "threading",
)
"""Modules whose functions a worker depends on, for computing and for publishing."""


@dataclass(frozen=True)
class _Module:
    """The functions and classes of a module as they were."""

    name: str
    names: tuple[str, ...]
    values: tuple[Any, ...]
    space: dict[str, Any]
    read: Callable[[dict[str, Any]], Any]

    @classmethod
    def of(cls, name: str) -> _Module:
        space = vars(importlib.import_module(name))
        found = {key: value for key, value in space.items() if callable(value)}
        return cls(name, tuple(found), tuple(found.values()), space, operator.itemgetter(*found))

    def changed(self) -> list[str]:
        try:
            if self.read(self.space) == self.values:  # identical objects are not compared any further
                return []
        except Exception:  # noqa: BLE001, S110 - a name was deleted, or a stand-in cannot be compared
            pass
        pairs = zip(self.names, self.values, strict=True)
        return [name for name, value in pairs if self.space.get(name) is not value]

    def put_back(self) -> None:
        self.space.update(zip(self.names, self.values, strict=True))


class Surroundings:
    """How things were before the first task."""

    def __init__(self) -> None:
        self._modules = [_Module.of(name) for name in WATCHED]
        self._errors: dict[str, Any] = dict(np.geterr())

    def changed(self) -> list[str]:
        """The functions that are not what they were, such as ``numpy.asarray``; from any thread."""
        return [f"{module.name}.{name}" for module in self._modules for name in module.changed()]

    def put_back(self) -> list[str]:
        """Put back what was changed; its names."""
        found = self.changed()
        if found:
            for module in self._modules:
                module.put_back()
        if np.geterr() != self._errors:
            np.seterr(**self._errors)
        return found
