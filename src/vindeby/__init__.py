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
    from vindeby.runner import run as run
    from vindeby.store.read.database import Database as Database
    from vindeby.store.read.database import open_database as open  # noqa: A004  (read as vindeby.open)
    from vindeby.wake import Turbine as Turbine
    from vindeby.wake import WeibullSite as WeibullSite
    from vindeby.wake import WindFarm as WindFarm

_HOMES = {
    "Campaign": ("vindeby.campaign", "Campaign"),
    "Database": ("vindeby.store.read.database", "Database"),
    "Turbine": ("vindeby.wake", "Turbine"),
    "VindebyError": ("vindeby.errors", "VindebyError"),
    "WeibullSite": ("vindeby.wake", "WeibullSite"),
    "WindFarm": ("vindeby.wake", "WindFarm"),
    "open": ("vindeby.store.read.database", "open_database"),
    "run": ("vindeby.runner", "run"),
}

__all__ = [
    "Campaign",
    "Database",
    "Turbine",
    "VindebyError",
    "WeibullSite",
    "WindFarm",
    "__version__",
    "open",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vindeby' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
