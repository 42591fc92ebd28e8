"""Python code that a campaign names, imported; ``campaign.reading.code_files`` finds it without executing it."""

from __future__ import annotations

import importlib
import sys
import traceback
from typing import Any

from vindeby.campaign.reading.code_files import search_path
from vindeby.errors import InputError


def imported(field: str, name: str, kind: str, *, may_be: type | tuple[()] = ()) -> Any:
    """What ``package.module:name`` is, something to call or a ``may_be``; InputError says what is wrong with ``field``.

    The current folder stays on Python's path, as it is in workers: functions may import when they are called.
    """
    module, _, path = name.partition(":")
    sys.path.extend(entry for entry in search_path() if entry not in sys.path)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{field}: {name}: {error}; is the module installed, or in the folder you started from?"
        ) from None
    except Exception as error:  # code of the user's may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename}, line {place.lineno}"
        raise InputError(
            f"{field}: {name}: {where}: importing {module} raised {type(error).__name__}: {error}"
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{field}: {name}: {module} has no {path}; name a {kind} in it")
        found = getattr(found, part)
    if not callable(found) and not isinstance(found, may_be):
        raise InputError(f"{field}: {name} is a {type(found).__name__}, not a {kind}")
    return found
