"""Stored layouts under another site, wake model or engine, and among neighbours that stand or do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.lazy import names_on_demand

if TYPE_CHECKING:
    from vindeby.evaluation.as_campaign import study_dataset as study_dataset
    from vindeby.evaluation.running import evaluate as evaluate

__getattr__, __all__ = names_on_demand(
    __name__, {"vindeby.evaluation.as_campaign": "study_dataset", "vindeby.evaluation.running": "evaluate"}
)
