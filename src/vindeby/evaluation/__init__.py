"""Stored layouts under another site, wake model or engine, and among neighbours that stand or do not."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vindeby.evaluation.as_campaign import study_dataset as study_dataset
    from vindeby.evaluation.running import evaluate as evaluate

__all__ = ["evaluate", "study_dataset"]

_HOMES = {"evaluate": "running", "study_dataset": "as_campaign"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vindeby.evaluation' has no attribute {name!r}")
    return getattr(importlib.import_module(f"vindeby.evaluation.{_HOMES[name]}"), name)
