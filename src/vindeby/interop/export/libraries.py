"""Libraries that only some exports need: loaded when they are, with an error that names the extra that brings them."""

from __future__ import annotations

import importlib
from typing import Any

from vindeby.errors import InputError


def library(name: str, extra: str, purpose: str) -> Any:
    """An optional library; InputError, with the command that installs it, where it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(
            f"{purpose} needs {name}, which is not installed; install it with: pip install 'vindeby[{extra}]'"
        ) from None
