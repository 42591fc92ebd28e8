"""Which file importing a module would execute, found out without executing anything."""

from __future__ import annotations

import site
import sysconfig
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path


def file_of(module: str, search_path: Sequence[str]) -> Path | None:
    """The file or folder of code that importing a module would execute first outside of installed packages, if any.

    The packages above a module are executed too. Nothing is imported here: each part of the name is only looked up.
    """
    places: Sequence[str] | None = search_path
    file: Path | None = None
    for length, _ in enumerate(module.split("."), 1):
        if places is None:
            return file
        spec = PathFinder.find_spec(".".join(module.split(".")[:length]), list(places))
        if spec is None:
            return file
        file = _place(spec) or file
        if file is not None and not is_installed(file):
            return file
        places = spec.submodule_search_locations
    return file


def _place(spec: ModuleSpec) -> Path | None:
    """The file of a module; the folder of a package without a file of its own."""
    if spec.has_location and spec.origin is not None:
        return Path(spec.origin)
    folders = list(spec.submodule_search_locations or ())
    return Path(folders[0]) if folders else None


def is_installed(file: Path) -> bool:
    """Does a file belong to the standard library, to an installed package, or to vindeby?"""
    parents = file.resolve().parents
    return any(folder in parents for folder in _installed())


@cache
def _installed() -> frozenset[Path]:
    names = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    names += [*site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parents[1])]
    return frozenset(Path(name).resolve() for name in names if name)
