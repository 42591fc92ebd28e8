"""Probabilities that do not sum to 1: said, refused, or divided by their sum where a campaign asks for it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Strict

from vindeby.campaign.sections.values import refusal

SUM_TOLERANCE = 0.01
"""Rounded figures sum to 1 within this; a sum further off is a mistake."""

Normalise = Annotated[bool, Strict()]
"""Whether probabilities are divided by their sum."""


def refuse_bad_sum(total: float, what: str, at: str, normalise: bool) -> None:
    """Refuse probabilities far from 1 in sum, or ones that cannot be divided by their sum."""
    if normalise and total > 0.0:
        return
    if abs(total - 1.0) > SUM_TOLERANCE:
        remedy = "divide each of them by their sum, or write normalise: true"
        raise refusal(
            f"the {what} sum to {total:.6g}, not to 1",
            remedy=remedy if total > 0.0 else "give some of them above 0",
            at=(at,),
        )
