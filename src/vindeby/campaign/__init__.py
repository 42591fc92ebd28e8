"""What is to be computed: the campaign file, its checks, the list of tasks and their stable identity.

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
    from vindeby.campaign.sections.boundary import Boundary as Boundary
    from vindeby.campaign.sections.boundary import Circle as Circle
    from vindeby.campaign.sections.boundary import Exclusion as Exclusion
    from vindeby.campaign.sections.farm import Farm as Farm
    from vindeby.campaign.sections.run_options import RunOptions as RunOptions
    from vindeby.campaign.sections.site import Site as Site
    from vindeby.campaign.sections.turbines import Turbine as Turbine
    from vindeby.campaign.tasks import Task as Task
    from vindeby.campaign.tasks import task_key as task_key

_SECTIONS = "vindeby.campaign.sections"

__getattr__, __all__ = names_on_demand(
    __name__,
    {
        "vindeby.campaign.campaign": "Campaign",
        "vindeby.campaign.tasks": "Task task_key",
        f"{_SECTIONS}.boundary": "Boundary Circle Exclusion",
        f"{_SECTIONS}.farm": "Farm",
        f"{_SECTIONS}.run_options": "RunOptions",
        f"{_SECTIONS}.site": "Site",
        f"{_SECTIONS}.turbines": "Turbine",
    },
)
