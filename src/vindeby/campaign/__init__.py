"""The campaign file, its checks, the list of its tasks and their stable identity.

A campaign is described completely by one YAML file and is checked completely before anything runs. This part
imports nothing of vindeby but ``errors`` and ``units``; every part but ``wake`` and ``layout`` may import it. It knows
the names and parameters of wake models and search methods, not what they do.

Names are loaded when first used: who only wants ``tasks`` does not wait for pydantic and shapely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.lazy import names_on_demand

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign as Campaign
    from vindeby.campaign.tasks import Task as Task

__getattr__, __all__ = names_on_demand(
    __name__, {"vindeby.campaign.campaign": "Campaign", "vindeby.campaign.tasks": "Task"}
)
