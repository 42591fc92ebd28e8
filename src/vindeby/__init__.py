"""Wind-farm layout optimisation campaigns: every farm x every turbine type x every seed, and nothing lost.

Everything that a script or a notebook needs is here; docs/python.md shows it at work. Names are loaded when first
used, so that ``import vindeby`` stays quick. ``vindeby.open`` is short for ``vindeby.open_database``; it is not in
``__all__``, so that ``from vindeby import *`` leaves Python's own ``open`` alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from vindeby import readers as _readers
from vindeby._version import __version__
from vindeby.campaign.reading.readers import provide

if TYPE_CHECKING:
    from vindeby import errors as errors
    from vindeby import plots as plots
    from vindeby.campaign import Campaign as Campaign
    from vindeby.errors import VindebyError as VindebyError
    from vindeby.evaluation import evaluate as evaluate
    from vindeby.layout import Annealing as Annealing
    from vindeby.layout import Auto as Auto
    from vindeby.layout import Boundary as Boundary
    from vindeby.layout import Gradient as Gradient
    from vindeby.layout import Hopping as Hopping
    from vindeby.layout import Lattice as Lattice
    from vindeby.layout import Layout as Layout
    from vindeby.layout import Method as Method
    from vindeby.layout import Pipeline as Pipeline
    from vindeby.layout import Problem as Problem
    from vindeby.layout import RandomSearch as RandomSearch
    from vindeby.layout import RandomStart as RandomStart
    from vindeby.layout import Result as Result
    from vindeby.layout import SmartStart as SmartStart
    from vindeby.layout import StochasticGradient as StochasticGradient
    from vindeby.results.result_set import ResultSet as ResultSet
    from vindeby.runner import Summary as Summary
    from vindeby.runner import run as run
    from vindeby.store.format.record import Record as Record
    from vindeby.store.read.database import Database as Database
    from vindeby.store.read.database import open_database as open_database
    from vindeby.wake import MODELS as wake_models  # noqa: N811  (read as vindeby.wake_models)
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

    open = open_database  # noqa: A001  (read as vindeby.open)

_LAYOUT, _WAKE, _DATABASE = "vindeby.layout", "vindeby.wake", "vindeby.store.read.database"

_HOMES = {
    "Annealing": (_LAYOUT, "Annealing"),
    "Auto": (_LAYOUT, "Auto"),
    "Boundary": (_LAYOUT, "Boundary"),
    "Campaign": ("vindeby.campaign", "Campaign"),
    "Database": (_DATABASE, "Database"),
    "FlowMap": (_WAKE, "FlowMap"),
    "Gradient": (_LAYOUT, "Gradient"),
    "GriddedSite": (_WAKE, "GriddedSite"),
    "Hopping": (_LAYOUT, "Hopping"),
    "Lattice": (_LAYOUT, "Lattice"),
    "Layout": (_LAYOUT, "Layout"),
    "Method": (_LAYOUT, "Method"),
    "Neighbours": (_WAKE, "Neighbours"),
    "Pipeline": (_LAYOUT, "Pipeline"),
    "Problem": (_LAYOUT, "Problem"),
    "RandomSearch": (_LAYOUT, "RandomSearch"),
    "RandomStart": (_LAYOUT, "RandomStart"),
    "Record": ("vindeby.store.format.record", "Record"),
    "Result": (_LAYOUT, "Result"),
    "ResultSet": ("vindeby.results.result_set", "ResultSet"),
    "SmartStart": (_LAYOUT, "SmartStart"),
    "StochasticGradient": (_LAYOUT, "StochasticGradient"),
    "Summary": ("vindeby.runner", "Summary"),
    "TableSite": (_WAKE, "TableSite"),
    "TimeSeriesSite": (_WAKE, "TimeSeriesSite"),
    "TurbulenceTable": (_WAKE, "TurbulenceTable"),
    "Turbine": (_WAKE, "Turbine"),
    "UniformSite": (_WAKE, "UniformSite"),
    "VindebyError": ("vindeby.errors", "VindebyError"),
    "WakeModel": (_WAKE, "WakeModel"),
    "WeibullSite": (_WAKE, "WeibullSite"),
    "WindFarm": (_WAKE, "WindFarm"),
    "WindGrid": (_WAKE, "WindGrid"),
    "errors": ("vindeby.errors", None),
    "evaluate": ("vindeby.evaluation", "evaluate"),
    "open": (_DATABASE, "open_database"),
    "open_database": (_DATABASE, "open_database"),
    "plots": ("vindeby.plots", None),
    "run": ("vindeby.runner", "run"),
    "wake_models": (_WAKE, "MODELS"),
}
"""By name, the module and the name in it; no name for a module itself."""

__all__ = [
    "Annealing",
    "Auto",
    "Boundary",
    "Campaign",
    "Database",
    "FlowMap",
    "Gradient",
    "GriddedSite",
    "Hopping",
    "Lattice",
    "Layout",
    "Method",
    "Neighbours",
    "Pipeline",
    "Problem",
    "RandomSearch",
    "RandomStart",
    "Record",
    "Result",
    "ResultSet",
    "SmartStart",
    "StochasticGradient",
    "Summary",
    "TableSite",
    "TimeSeriesSite",
    "Turbine",
    "TurbulenceTable",
    "UniformSite",
    "VindebyError",
    "WakeModel",
    "WeibullSite",
    "WindFarm",
    "WindGrid",
    "__version__",
    "errors",
    "evaluate",
    "open_database",
    "plots",
    "run",
    "wake_models",
]


provide(_readers)  # the parts that read files are above the part that reads campaigns


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vindeby' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value: Any = importlib.import_module(module)
    if attribute is not None:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
