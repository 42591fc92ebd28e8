"""in-turn: the zones of a farm searched in sequence, with the turbines of other zones fixed.

In the first round a zone is laid out beside those that were laid out before it; in later rounds all others
stand. The energy of all turbines that stand is maximised, so a zone gains nothing by taking wind from another, and no
round makes the farm worse.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vindeby.errors import ArgumentError
from vindeby.layout.method import Method, Pipeline, Result, Search
from vindeby.layout.methods.starts import Lattice, RandomStart, SmartStart
from vindeby.layout.problem import Layout, LayoutProblem, joined

NOTHING = Layout.of([], [])
LEAST_GAIN = 1e-9
"""A zone moves only to gain a larger share of the energy, so that rounding moves none."""


@dataclass(frozen=True)
class InTurn(Method):
    """Methods in sequence, for each zone in turn, in at most so many ``rounds``.

    From the second round on, methods that need no start (smart-start, random-start, lattice) are left out, unless they
    are the only ones. A zone keeps its layout unless the farm gains. After a round in which no zone moves, all further
    rounds would be the same, so it is the last.
    """

    steps: Sequence[Method]
    rounds: int = 1

    def __post_init__(self) -> None:
        if not self.steps:
            raise ArgumentError("in-turn needs at least one method")
        if self.rounds < 1:
            raise ArgumentError(f"rounds must be a whole number >= 1, not {self.rounds!r}")

    def prepare(self, problem: LayoutProblem) -> Search:
        """Return the search, whose seeds share nothing because the turbines around a zone differ."""
        if problem.mix is not None and np.ndim(problem.mix) == 1 and len(problem.zones) > 1:
            raise ArgumentError(
                f"farm {problem.name}: in-turn needs a mix for each zone, not one for the farm"
            )
        first = Pipeline(self.steps)
        refining = [step for step in self.steps if not isinstance(step, SmartStart | RandomStart | Lattice)]
        later = Pipeline(refining or self.steps)

        def run(seed: int, start: Layout | None = None) -> Result:
            layouts = [NOTHING] * len(problem.zones) if start is None else _by_zone(problem, start)
            evaluations, moved = 0, False
            notes: dict[str, str | int | float | bool] = {}
            for count in range(self.rounds):
                constructing = start is None and count == 0
                moved = False
                for z in range(len(problem.zones)):
                    part = self._zone_problem(problem, layouts, z)
                    method = first if constructing else later
                    found = method.run(part, seed, None if constructing else layouts[z])
                    evaluations += found.evaluations
                    notes |= found.notes
                    if _is_better(part, found.layout, layouts[z]):
                        layouts[z], moved = found.layout, True
                if not moved:
                    break
            layout = NOTHING
            for zone in layouts:
                layout = joined(layout, zone)
            status = found.status
            if self.rounds > 1:
                status = "budget" if moved else "converged"
            # Arrays of a single zone say nothing about the farm.
            return Result(layout, problem.aep(layout), status, evaluations, notes=notes)

        return run

    def brief(self) -> Method:
        """Return the method with every step brief, and one round."""
        return InTurn([step.brief() for step in self.steps])

    def _zone_problem(self, problem: LayoutProblem, layouts: Sequence[Layout], z: int) -> LayoutProblem:
        zone = problem.zones[z]
        standing = NOTHING if problem.standing is None else problem.standing
        for other, layout in enumerate(layouts):
            if other != z:
                standing = joined(standing, layout)
        return replace(
            problem,
            boundary=zone.boundary,
            n_turbines=zone.n_turbines,
            name=f"{problem.name}, zone {zone.name or z}",
            mix=None if problem.mix is None else np.atleast_2d(problem.mix)[z].tolist(),
            standing=standing,
        )


def _by_zone(problem: LayoutProblem, layout: Layout) -> list[Layout]:
    parts = [problem.zone_of == z for z in range(len(problem.zones))]
    return [Layout(layout.x[mine], layout.y[mine], layout.types[mine]) for mine in parts]


def _is_better(part: LayoutProblem, found: Layout, before: Layout) -> bool:
    if not part.is_feasible(before):
        return True
    had = part.worth(before)  # which may be negative
    return part.worth(found) > had + LEAST_GAIN * abs(had)
