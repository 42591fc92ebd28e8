"""The search method: a pipeline of steps, each starting from the result of the step before."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, Strict, model_validator

from vindeby import parameters
from vindeby.campaign.reading.code_files import digest_of_files
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.sections.values import (
    Direction,
    ImportedName,
    Increasing,
    Name,
    NamedOneOf,
    Parameters,
    Section,
    Text,
    each_once,
    one_is_a_list,
    require,
)
from vindeby.campaign.sections.wake_model import NamedCode


@dataclass(frozen=True)
class SmartStartSection(parameters.SmartStartParameters):
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


def _name_of_an_array(name: str) -> str:
    require("/" not in name and name not in _RESERVED, "cannot be the name of an array", "choose another")
    return name


class Call(Section):
    """A Python function of the user's own, the parameters it is given, and what it returns if not a layout."""

    bare = ("function", (str,))

    function: ImportedName
    """The function as package.module:name."""
    parameters: Parameters = Field(default_factory=dict)
    """The arguments that it is called with."""
    returns: (
        Annotated[
            tuple[Annotated[Name, AfterValidator(_name_of_an_array)], ...],
            Field(min_length=1, max_length=_LONGEST_LIST),
            AfterValidator(each_once),
        ]
        | None
    ) = None
    """The arrays that it returns instead of a layout."""
    files: Annotated[str, Strict()] | None = None
    """A digest of the files that parameters name (``file``, ``..._file``); put in when the campaign is read."""
    energy: Literal["own"] | None = None
    """``own``: the function's energy is taken as it is, and not compared with what the wake model gives."""

    def with_files(self) -> Self:
        """Return this call with a digest of the files that its parameters name, as they are now."""
        return self.model_copy(update={"files": self.files or digest_of_files(self.parameters)})

    @property
    def energy_is_compared(self) -> bool:
        """Return whether the campaign's wake model should give the same energy."""
        return self.energy is None and self.returns is None


Pin = Annotated[str, Strict(), Field(pattern=r"^farm\d+_t\d+_s\d+(_[0-9a-f]{8})? [0-9a-f]{16}$")]
"""The key of a stored layout, and the first digits of the checksum that its record had when the layout was chosen."""
_Names = Annotated[
    tuple[Name, ...], BeforeValidator(one_is_a_list, Name | tuple[Name, ...]), Field(min_length=1)
]


Seed = Annotated[int, Strict(), Field(ge=0)]
_Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(each_once)]
InternalWakes = Literal["on", "off", "both"]


def _one_seed_is_a_list(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def _on_or_off(value: Any) -> Any:
    return ("off", "on")[value] if isinstance(value, bool) else value


class StoredSection(Section):
    """Layouts of a database as they are, evaluated in the campaign's wind and wakes among its neighbours."""

    bare = ("database", (str,))

    database: Annotated[str, Strict(), Field(min_length=1)] | None = None
    """The database with the layouts."""
    farms: _Names | None = None
    """The farms whose layouts are evaluated; all by default."""
    types: _Names | None = None
    """The turbine types whose layouts are evaluated; all by default."""
    seeds: Annotated[
        Literal["best", "all"] | _Seeds,
        BeforeValidator(_one_seed_is_a_list, Seed | Literal["best", "all"] | _Seeds),
    ] = "best"
    """The best layout of each farm and type, all of them, or those of these seeds."""
    internal_wakes: Annotated[InternalWakes, BeforeValidator(_on_or_off, bool | InternalWakes)] = "on"
    """True if the turbines of an evaluated farm cast wakes; ``both`` evaluates with and without these wakes."""
    output: Literal["aep", "power"] = "aep"
    """Energies only, or also the power of each turbine at each step of a time series."""
    power_type: Literal["float32", "float64"] = "float32"
    """The number type in which powers are stored."""
    digest: Text | None = None
    """The digest of the database; written when the layouts are chosen."""
    campaign: Text | None = None
    """The name of its campaign; written when the layouts are chosen."""
    layouts: dict[Name, tuple[Pin, ...]] | None = None
    """The layouts of each farm and type, in the order of the seeds; written when they are chosen."""
    turbines: tuple[TurbineSection, ...] | None = None
    """The turbine types that the layouts number; written when the layouts are chosen."""

    @model_validator(mode="after")
    def _power_type_needs_powers(self) -> Self:
        is_used = self.power_type == "float32" or self.output == "power"
        require(is_used, "has a meaning only with output: power", "leave it out", "power_type")
        return self

    def identity(self) -> dict[str, Any]:
        """Return the data that decide the results of all layouts."""
        given = {"internal_wakes": self.internal_wakes, "output": self.output}
        more = {"power_type": self.power_type} if self.output == "power" else {}
        return {**given, **more, "turbines": [turbine.identity() for turbine in self.turbines or ()]}


class PythonSearch(NamedCode):
    """A search method of the user's own: a subclass of ``vindeby.layout.Method`` that takes the ``options``."""

    key = "python"
    section = "method"


STARTS = ("smart-start", "random-start", "lattice", "stored")
"""The steps that have a layout to start from, and take none."""
EITHER = ("auto", "python", "call")
"""The steps that make a layout of their own unless they start from a given one."""


class Step(NamedOneOf):
    """A search step under its name; a bare name takes the defaults."""

    smart_start: SmartStartSection | None = Field(None, alias="smart-start")
    random_start: parameters.RandomStartParameters | None = Field(None, alias="random-start")
    lattice: parameters.LatticeParameters | None = None
    gradient: parameters.GradientParameters | None = None
    random_search: parameters.RandomSearchParameters | None = Field(None, alias="random-search")
    annealing: parameters.AnnealingParameters | None = None
    auto: Annotated[parameters.AutoParameters, BeforeValidator(_one_budget)] | None = None
    python: PythonSearch | None = None
    call: Call | None = None
    stored: StoredSection | None = None

    @property
    def title(self) -> str:
        """The name of the step; of a method of the user's own, where it is."""
        return self.chosen[0] if self.python is None else self.python.title

    def identity(self) -> dict[str, Any]:
        """Return the data that decide the results of all seeds."""
        if self.stored is not None:
            return {"stored": self.stored.identity()}
        return self.model_dump(by_alias=True, exclude_none=True, exclude={"call": {"energy"}})


def some_are_alone(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Refuse a call, or stored layouts, among other steps."""
    for index, step in enumerate(steps if len(steps) > 1 else ()):
        wrong = "a call cannot be one of several steps: its function does the whole search"
        remedy = "refine in the function, with task.problem, or leave the other steps out"
        require(step.call is None, wrong, remedy, index)
        wrong = "stored layouts are evaluated as they are: stored cannot be one of several steps"
        remedy = "leave the other steps out; to improve stored layouts, write start: {database: FILE.h5}"
        require(step.stored is None, wrong, remedy, index)
    return steps


def one_step_is_a_pipeline(data: Any) -> Any:
    """Return a single step as a list of one; refuse several steps in a mapping.

    Several steps must be: their order matters, and the order of the keys of a mapping never does.
    """
    steps = data if isinstance(data, dict) else {}
    wrong = f"several steps ({', '.join(map(str, steps))}) need an order"
    require(len(steps) < 2, wrong, "write them as a list, each behind a dash")
    return one_is_a_list(data)
