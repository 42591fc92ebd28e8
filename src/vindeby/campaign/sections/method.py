"""How layouts are searched: a pipeline of steps, each starting from what the one before found."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from vindeby import parameters
from vindeby.campaign.sections.values import (
    Direction,
    ImportedName,
    Increasing,
    Name,
    NamedOneOf,
    Parameters,
    Section,
    one_is_a_list,
    require,
)
from vindeby.campaign.sections.wake_model import NamedCode


@dataclass(frozen=True)
class SmartStart(parameters.SmartStart):
    """Greedy construction on a grid: one turbine after the other where it would give most."""

    wind_speeds: Increasing | None = None
    """The wind speeds to judge points by, in m/s; the site's if not given."""
    wind_directions: Annotated[tuple[Direction, ...], Field(min_length=1)] | None = None
    """The wind directions to judge points by; the site's if not given."""


def _one_budget(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    given = {name: value for name, value in data.items() if value is not None}
    wrong = "seconds and evaluations exclude each other"
    require(not {"seconds", "evaluations"} <= given.keys(), wrong, "give one of them")
    return data if given else {"seconds": 60.0}


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


class PythonSearch(NamedCode):
    """A search method of the user's own: a subclass of ``vindeby.layout.Method`` that takes the ``options``."""

    key = "python"
    section = "method"


STARTS = ("smart-start", "random-start", "lattice", "boundary-grid", "auto", "python", "call")
"""The steps that need no layout to start from."""


class Step(NamedOneOf):
    """One search step under its name; a bare name takes the defaults."""

    group = "vindeby.search_methods"

    smart_start: SmartStart | None = Field(None, alias="smart-start")
    random_start: parameters.RandomStart | None = Field(None, alias="random-start")
    lattice: parameters.Lattice | None = None
    boundary_grid: parameters.BoundaryGrid | None = Field(None, alias="boundary-grid")
    gradient: parameters.Gradient | None = None
    random_search: parameters.RandomSearch | None = Field(None, alias="random-search")
    annealing: parameters.Annealing | None = None
    auto: Annotated[parameters.Auto, BeforeValidator(_one_budget)] | None = None
    python: PythonSearch | None = None
    call: Call | None = None

    @property
    def title(self) -> str:
        """The name of the step; of a method of the user's own, where it is."""
        return self.chosen[0] if self.python is None else self.python.title

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
    return one_is_a_list(data)
