"""How layouts are searched: a pipeline of steps, each starting from what the one before found."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, Strict, model_validator

from vindeby.campaign.sections.values import (
    Count,
    Direction,
    ImportedName,
    Increasing,
    Name,
    NamedOneOf,
    Number,
    Parameters,
    Positive,
    Section,
    require,
)


class SmartStart(Section):
    """Greedy construction on a grid: one turbine after the other where it would give most."""

    grid_size: Annotated[int, Strict(), Field(ge=2, le=1000)] = 18
    """Points of the grid along each side."""
    random_pct: Annotated[Number, Field(ge=0.0, le=100.0)] = 30.0
    """The share of the best points that one is drawn from, in percent."""
    wind_speeds: Increasing | None = None
    """The wind speeds to judge points by, in m/s; the site's if not given."""
    wind_directions: Annotated[tuple[Direction, ...], Field(min_length=1)] | None = None
    """The wind directions to judge points by; the site's if not given."""


class RandomStart(Section):
    """Turbines at random places that keep to the boundary and the spacing."""


class Lattice(Section):
    """Turbines on the points of a regular lattice, the best of so many; ``rows`` leaves no gaps in its rows."""

    rows: Annotated[bool, Strict()] = False
    """Leave no gaps in the rows."""
    trials: Count = 1000
    """How many lattices are compared."""


class Gradient(Section):
    """Continuous refinement along the gradient of AEP, at first with wakes that grow ``widening`` times as fast.

    ``wind`` says in which wind states, ``memory`` how many last steps tell of the curvature.
    """

    max_iterations: Count = 320
    """At most so many steps."""
    widening: Annotated[Number, Field(ge=1.0, le=100.0)] = 16.0
    """How many times as fast wakes grow at first."""
    wind: Literal["coarse-to-fine", "all"] = "coarse-to-fine"
    """In which wind states."""
    memory: Annotated[int, Strict(), Field(ge=0, le=100)] = 10
    """How many last steps tell of the curvature."""


class RandomSearch(Section):
    """Relocation of single turbines at random, kept where AEP rises; ``wind`` says in which wind states."""

    max_evaluations: Count = 10_000
    """At most so many trial moves."""
    max_step_m: Positive | None = None
    """The longest move in metres; anywhere if not given."""
    wind: Literal["coarse-to-fine", "all"] = "coarse-to-fine"
    """In which wind states."""


class Annealing(Section):
    """Relocation of single turbines at random, kept even where AEP falls, at first more often than later.

    Without a ``temperature``, it follows from the wake loss of the start. ``wind`` says in which wind states.
    """

    max_evaluations: Count = 200_000
    """So many trial moves."""
    temperature: Annotated[Number, Field(gt=0.0, le=1.0)] | None = None
    """At first, as a share of AEP; from the wake loss if not given."""
    wind: Literal["coarse-to-fine", "all"] = "coarse-to-fine"
    """In which wind states."""


class Hopping(Section):
    """Moving a turbine somewhere else and refining from there, again and again; the best layout is kept."""

    max_hops: Count = 100
    """So many hops."""
    places: Count = 40
    """How many places are tried in each hop."""


class Auto(Section):
    """A portfolio: starts race, the best are refined and moved, within CPU seconds or a number of evaluations."""

    seconds: Positive | None = None
    """CPU seconds per task."""
    evaluations: Count | None = None
    """Evaluations per task, instead of seconds."""

    @model_validator(mode="before")
    @classmethod
    def _one_budget(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = {name: value for name, value in data.items() if value is not None}
        wrong = "seconds and evaluations exclude each other"
        require(not {"seconds", "evaluations"} <= given.keys(), wrong, "give one of them")
        return {"seconds": 60.0} if not given else data


class StochasticGradient(Section):
    """Refinement along gradients of a few sampled directions, breaking the rules on its way; for dense farms."""

    max_iterations: Count = 2000
    """So many steps."""
    samples: Count = 4
    """Directions that are sampled in each step."""


_LONGEST_LIST = 1000
_RESERVED = {".", "..", "checksum", "fingerprint", "key", "status", "returns"}


def _names_of_arrays(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse names that no array of a result can have."""
    for index, name in enumerate(names):
        usable = "/" not in name and name not in _RESERVED
        require(usable, "cannot be the name of an array", "choose another", index)
        require(name not in names[:index], "is listed twice", "list each array once", index)
    return names


class Call(Section):
    """A Python function of the user's own, the parameters it is given, and what it returns if not a layout.

    ``cases`` are texts, one for each seed: each is part of the identity of the tasks with that seed only, so that a
    list of cases can grow. ``context`` is what a function gets and a database keeps in its root attributes, but
    what decides no result, such as the path of a file whose content has a digest among the parameters.
    """

    bare = ("function", (str,))

    function: ImportedName
    """The function as package.module:name."""
    parameters: Parameters = Field(default_factory=dict)
    """What it is called with."""
    returns: (
        Annotated[
            tuple[Name, ...], Field(min_length=1, max_length=_LONGEST_LIST), AfterValidator(_names_of_arrays)
        ]
        | None
    ) = None
    """The arrays that it returns instead of a layout."""
    cases: tuple[Annotated[str, Strict()], ...] | None = None
    """One text for each seed, part of the identity of its tasks."""
    context: dict[Name, Annotated[str, Strict()]] | None = None
    """Texts that decide no result."""
    energy: Literal["own"] | None = None
    """``own``: the function's energy is taken as it is, and not compared with what the wake model gives."""

    @property
    def energy_is_compared(self) -> bool:
        """Whether the campaign's wake model should give the same energy; vindeby's own functions compute with it."""
        return self.energy is None and self.returns is None and not self.function.startswith("vindeby.")


STARTS = ("smart-start", "random-start", "lattice", "auto", "call")
"""The steps that need no layout to start from."""


class Step(NamedOneOf):
    """One search step under its name; a bare name takes the defaults."""

    smart_start: SmartStart | None = Field(None, alias="smart-start")
    random_start: RandomStart | None = Field(None, alias="random-start")
    lattice: Lattice | None = None
    gradient: Gradient | None = None
    random_search: RandomSearch | None = Field(None, alias="random-search")
    annealing: Annealing | None = None
    hopping: Hopping | None = None
    auto: Auto | None = None
    stochastic_gradient: StochasticGradient | None = Field(None, alias="stochastic-gradient")
    call: Call | None = None

    def identity(self) -> dict[str, Any]:
        """What decides the results of all seeds."""
        not_deciding = {"call": {"cases", "context", "energy"}}
        return self.model_dump(by_alias=True, exclude_none=True, exclude=not_deciding)


def begins_with_a_start(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Refuse a pipeline whose first step improves a layout, when there is none yet."""
    first = steps[0].chosen[0]
    wrong = f"begins with {first}, which needs a layout to start from"
    require(first in STARTS, wrong, "put smart-start, random-start or lattice before it", 0)
    return steps


def one_step_is_a_pipeline(data: Any) -> Any:
    """A single step need not be written as a list of one.

    Several steps must be: their order matters, and the order of the keys of a mapping never does.
    """
    steps = data if isinstance(data, dict) else {}
    wrong = f"several steps ({', '.join(map(str, steps))}) need an order"
    require(len(steps) < 2, wrong, "write them as a list, each behind a dash")
    return [data] if isinstance(data, dict | str) else data
