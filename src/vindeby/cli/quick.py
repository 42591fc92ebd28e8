"""Plain words understood without typer, whose loading takes longer than a look at a campaign.

Only what is certain is understood here: options by their full names, their values of the right kind, one argument.
Anything else, help and mistakes among it, is left to typer, which knows the same options and has the messages.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

_KINDS: dict[str, Callable[[str], Any]] = {"str | None": str, "int | None": int, "float": float}


def options_of(function: Callable[..., None], words: list[str]) -> dict[str, Any] | None:
    """The arguments of a function whose first is a path and whose others are options; None for words left to typer."""
    path, *others = inspect.signature(function).parameters.values()
    kinds = {f"--{option.name.rstrip('_')}": option for option in others}
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        option = kinds.get(name)
        if option is None and not word.startswith("-") and path.name not in found:
            found[path.name] = Path(word)
        elif option is not None and option.annotation == "bool" and not equals:
            found[option.name] = True
        elif option is not None and option.annotation in _KINDS:
            try:
                found[option.name] = _KINDS[option.annotation](value if equals else next(rest))
            except (StopIteration, ValueError):
                return None
        else:
            return None
    return found if path.name in found else None
