"""Packages whose names are loaded when they are first used, so that importing a package stays quick."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def names_on_demand(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], list[str]]:
    """Return the ``__getattr__`` of a package and the list of its names; ``homes`` lists the names of each module.

    A name written as ``new=old`` is called ``old`` in its module; ``name=`` is the module itself.
    """
    places: dict[str, tuple[str, str]] = {}
    for module, names in homes.items():
        for word in names.split():
            name, renamed, old = word.partition("=")
            places[name] = module, old if renamed else name

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = places[name]
        found = importlib.import_module(module)
        value = getattr(found, attribute) if attribute else found
        setattr(sys.modules[package], name, value)
        return value

    return get, sorted(places)
