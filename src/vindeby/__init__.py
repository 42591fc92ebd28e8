"""Wind-farm layout optimisation campaigns: every farm x every turbine type x every seed, and nothing lost.

Names are loaded when first used, so that ``import vindeby`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from vindeby._version import __version__

if TYPE_CHECKING:
    from vindeby.campaign import Campaign as Campaign
    from vindeby.errors import VindebyError as VindebyError

_HOMES = {
    "Campaign": "vindeby.campaign",
    "VindebyError": "vindeby.errors",
}

__all__ = ["Campaign", "VindebyError", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vindeby' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
