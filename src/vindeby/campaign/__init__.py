"""What is to be computed: the campaign file, its checks, the list of tasks and their stable identity.

A campaign is described completely by one YAML file and is checked completely before anything runs. This part
imports nothing of vindeby but ``errors`` and ``units``; ``store``, ``runner``, ``interop`` and ``looking`` may
import it. It knows the names and parameters of wake models and search methods, not what they do.
"""

from vindeby.campaign.boundary import Boundary, Circle, Exclusion
from vindeby.campaign.campaign import Campaign
from vindeby.campaign.farm import Farm
from vindeby.campaign.run_options import RunOptions
from vindeby.campaign.site import Site
from vindeby.campaign.tasks import Task, task_key
from vindeby.campaign.turbines import Turbine

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
