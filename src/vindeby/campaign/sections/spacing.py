"""The least distance between two turbines, in metres or in rotor diameters."""

from __future__ import annotations

import re
from typing import Any

from pydantic import model_validator

from vindeby.campaign.sections.values import NotNegative, OneOf, refusal

_SHORT = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(D|m)")


class Spacing(OneOf):
    """``3 D`` or ``{diameters: 3}``; ``720 m`` or ``{metres: 720}``."""

    diameters: NotNegative | None = None
    """In rotor diameters."""
    metres: NotNegative | None = None
    """In metres."""

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """``3 D`` or ``720 m``."""
        return {"type": "string", "pattern": f"^({_SHORT.pattern})$"}

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        if isinstance(data, dict | cls):
            return data
        match = _SHORT.fullmatch(data) if isinstance(data, str) else None
        if match is None:
            raise refusal(
                "is not a spacing with its unit", remedy='write it like "3 D" or "720 m"', value=data
            )
        return {"diameters" if match[2] == "D" else "metres": float(match[1])}

    def in_metres(self, rotor_diameter_m: float) -> float:
        """The spacing for turbines of this diameter."""
        return self.metres if self.metres is not None else (self.diameters or 0.0) * rotor_diameter_m
