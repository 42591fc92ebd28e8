"""Finding layouts: boundaries, spacing, and the search methods.

May import ``vindeby.wake``, ``vindeby.economy``, ``vindeby.errors`` and ``vindeby.units``; ``runner`` and what stands
above may import it. A ``LayoutProblem`` says what is wanted, a ``Method`` how to look for it, a ``Result`` what came
out.
"""

from __future__ import annotations

from vindeby.layout.area.boundary import Boundary, Zone, Zones
from vindeby.layout.area.depth_limits import within_depths
from vindeby.layout.method import Method, Pipeline, Result, Search, Status
from vindeby.layout.methods.auto import Auto
from vindeby.layout.methods.front import Front
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.methods.in_turn import InTurn
from vindeby.layout.methods.starts import Lattice, RandomStart, SmartStart
from vindeby.layout.methods.walks import Annealing, RandomSearch
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.layout.valuation import Valuation

__all__ = [
    "Annealing",
    "Auto",
    "Boundary",
    "Front",
    "Gradient",
    "InTurn",
    "Lattice",
    "Layout",
    "LayoutProblem",
    "Method",
    "Pipeline",
    "RandomSearch",
    "RandomStart",
    "Result",
    "Search",
    "SmartStart",
    "Status",
    "Valuation",
    "Zone",
    "Zones",
    "within_depths",
]
