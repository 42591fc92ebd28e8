"""An area with a hole, and lattices over it, for the tests of lattices."""

from __future__ import annotations

from math import pi

from hypothesis import strategies as st

from tests.layout.zoned_problems import ROSE
from vindeby.layout import Boundary, LayoutProblem
from vindeby.layout.lattices.points import PlaneLattice
from vindeby.wake import UniformSite, WindFarm, iea37_335mw

Ring = tuple[tuple[float, float], ...]

FARM = WindFarm(UniformSite(ROSE, 9.8, 0.075), iea37_335mw(), "iea37")
"""With one thrust coefficient at all wind speeds."""
AREA: Ring = (
    (0.0, 0.0), (3000.0, -400.0), (3600.0, 1500.0), (2000.0, 1100.0), (1700.0, 2800.0), (-300.0, 2000.0),
)  # fmt: skip
HOLE: Ring = ((600.0, 500.0), (1200.0, 700.0), (800.0, 1200.0))


def lattices(least_pitch: float, most_pitch: float) -> st.SearchStrategy[PlaneLattice]:
    """Any lattice with a point near the middle, and pitches (m) between these."""
    return st.builds(
        PlaneLattice,
        angle=st.floats(-pi, pi),
        aspect=st.floats(0.4, 4.0),
        skew=st.floats(-1.0, 1.0),
        pitch=st.floats(least_pitch, most_pitch),
        east=st.floats(-1500.0, 1500.0),
        north=st.floats(-1500.0, 1500.0),
    )


def problem_in(area: Ring, hole: Ring, count: int = 5, spacing: float = 100.0) -> LayoutProblem:
    return LayoutProblem(FARM, Boundary([area], holes=[hole]), count, spacing, "area")
