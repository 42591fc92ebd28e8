"""Names of Python code that a campaign may give, and the parameters of such code. Nothing is imported here."""

from __future__ import annotations

import json
import re
from typing import Annotated

from pydantic import AfterValidator, JsonValue, Strict

from vindeby.campaign.sections.values import refusal


def _module_and_name(text: str) -> str:
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", text):
        raise refusal(
            "is not of the form package.module:function", remedy='write it like "mypackage.module:function"'
        )
    return text


def _only_finite(parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        json.dumps(parameters, allow_nan=False)
    except ValueError:
        raise refusal(
            "holds a number that is not finite", remedy="write it as text, or leave it out"
        ) from None
    return parameters


ImportedName = Annotated[str, Strict(), AfterValidator(_module_and_name)]
"""``package.module:name``."""
Parameters = Annotated[dict[str, JsonValue], AfterValidator(_only_finite)]
"""Plain data that code is called with."""
