"""The energy of a layout: turbines, sites, wake models, yearly energy and its gradient.

May import ``vindeby.errors`` and ``vindeby.units``; ``layout``, ``runner`` and what stands above them may
import it. Start at ``WindFarm``.
"""

from vindeby.wake.farm import FlowMap, Neighbours, WindFarm
from vindeby.wake.models import MODELS, WakeModel, model_named
from vindeby.wake.scenarios import ScenarioFarm
from vindeby.wake.sites.changed_site import ChangedSite
from vindeby.wake.sites.gridded_site import GriddedSite, WindGrid
from vindeby.wake.sites.site import (
    Site,
    TableSite,
    TimeSeriesSite,
    TurbulenceTable,
    UniformSite,
    WeibullSite,
    WindStates,
)
from vindeby.wake.turbines.turbine import Turbine, iea37_10mw, iea37_335mw

__all__ = [
    "MODELS",
    "ChangedSite",
    "FlowMap",
    "GriddedSite",
    "Neighbours",
    "ScenarioFarm",
    "Site",
    "TableSite",
    "TimeSeriesSite",
    "Turbine",
    "TurbulenceTable",
    "UniformSite",
    "WakeModel",
    "WeibullSite",
    "WindFarm",
    "WindGrid",
    "WindStates",
    "iea37_10mw",
    "iea37_335mw",
    "model_named",
]
