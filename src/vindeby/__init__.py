"""Wind-farm layout optimisation campaigns: every farm x every turbine type x every seed, and nothing lost.

Everything that a script or a notebook needs is here; docs/python.md shows it at work. Names are loaded when first
used, so that ``import vindeby`` stays quick. ``vindeby.open`` is short for ``vindeby.open_database``; it is not in
``__all__``, so that ``from vindeby import *`` leaves Python's own ``open`` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby import readers as _readers
from vindeby._version import __version__ as __version__
from vindeby.campaign.reading.readers import provide
from vindeby.lazy import names_on_demand

if TYPE_CHECKING:
    from vindeby import errors as errors
    from vindeby import plots as plots
    from vindeby.campaign import Campaign as Campaign
    from vindeby.errors import VindebyError as VindebyError
    from vindeby.layout import Annealing as Annealing
    from vindeby.layout import Auto as Auto
    from vindeby.layout import Boundary as Boundary
    from vindeby.layout import Gradient as Gradient
    from vindeby.layout import Lattice as Lattice
    from vindeby.layout import Layout as Layout
    from vindeby.layout import LayoutProblem as LayoutProblem
    from vindeby.layout import Method as Method
    from vindeby.layout import Pipeline as Pipeline
    from vindeby.layout import RandomSearch as RandomSearch
    from vindeby.layout import RandomStart as RandomStart
    from vindeby.layout import Result as Result
    from vindeby.layout import SmartStart as SmartStart
    from vindeby.results.result_set import ResultSet as ResultSet
    from vindeby.runner import Summary as Summary
    from vindeby.runner import run as run
    from vindeby.runner.running import evaluate as evaluate
    from vindeby.store.format.record import Record as Record
    from vindeby.store.read.database import Database as Database
    from vindeby.store.read.database import open_database as open_database
    from vindeby.wake import MODELS
    from vindeby.wake import FlowMap as FlowMap
    from vindeby.wake import GriddedSite as GriddedSite
    from vindeby.wake import Neighbours as Neighbours
    from vindeby.wake import TableSite as TableSite
    from vindeby.wake import TimeSeriesSite as TimeSeriesSite
    from vindeby.wake import Turbine as Turbine
    from vindeby.wake import TurbulenceTable as TurbulenceTable
    from vindeby.wake import UniformSite as UniformSite
    from vindeby.wake import WakeModel as WakeModel
    from vindeby.wake import WeibullSite as WeibullSite
    from vindeby.wake import WindFarm as WindFarm
    from vindeby.wake import WindGrid as WindGrid

    wake_models = MODELS
    open = open_database  # noqa: A001  (read as vindeby.open)

__getattr__, _names = names_on_demand(
    "vindeby",
    {
        "vindeby.campaign": "Campaign",
        "vindeby.errors": "VindebyError errors=",
        "vindeby.layout": "Annealing Auto Boundary Gradient Lattice Layout LayoutProblem Method Pipeline "
        "RandomSearch RandomStart Result SmartStart",
        "vindeby.plots": "plots=",
        "vindeby.results.result_set": "ResultSet",
        "vindeby.runner": "Summary evaluate run",
        "vindeby.store.format.record": "Record",
        "vindeby.store.read.database": "Database open=open_database open_database",
        "vindeby.wake": "FlowMap GriddedSite Neighbours TableSite TimeSeriesSite Turbine TurbulenceTable UniformSite "
        "WakeModel WeibullSite WindFarm WindGrid wake_models=MODELS",
    },
)
__all__ = sorted([*(name for name in _names if name != "open"), "__version__"])

provide(_readers)  # the parts that read files are above the part that reads campaigns


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
