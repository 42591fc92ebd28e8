"""What is to be computed: the campaign file, its checks, the list of tasks and their stable identity.

A campaign is described completely by one YAML file and is checked completely before anything runs. This part
imports nothing of vindeby but ``errors`` and ``units``; every part but ``wake`` and ``layout`` may import it. It knows
the names and parameters of wake models and search methods, not what they do.

Names are loaded when first used: who only wants ``tasks`` does not wait for pydantic and shapely.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign as Campaign
    from vindeby.campaign.sections.boundary import Boundary as Boundary
    from vindeby.campaign.sections.boundary import Circle as Circle
    from vindeby.campaign.sections.boundary import Exclusion as Exclusion
    from vindeby.campaign.sections.farm import Farm as Farm
    from vindeby.campaign.sections.run_options import RunOptions as RunOptions
    from vindeby.campaign.sections.site import Site as Site
    from vindeby.campaign.sections.turbines import Turbine as Turbine
    from vindeby.campaign.tasks import Task as Task
    from vindeby.campaign.tasks import task_key as task_key

_HOMES = {
    "Boundary": "sections.boundary",
    "Campaign": "campaign",
    "Circle": "sections.boundary",
    "Exclusion": "sections.boundary",
    "Farm": "sections.farm",
    "RunOptions": "sections.run_options",
    "Site": "sections.site",
    "Task": "tasks",
    "Turbine": "sections.turbines",
    "task_key": "tasks",
}

__all__ = [
    "Boundary",
    "Campaign",
    "Circle",
    "Exclusion",
    "Farm",
    "RunOptions",
    "Site",
    "Task",
    "Turbine",
    "task_key",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vindeby.campaign' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"vindeby.campaign.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
