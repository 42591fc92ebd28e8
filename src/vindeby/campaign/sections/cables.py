"""The cables of a farm: substations, what cables there are, and how they are routed (``costs: cables:``)."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, Tag, model_validator

from vindeby.campaign.sections.boundary import Vertex
from vindeby.campaign.sections.values import Count, Name, NotNegative, Positive, Section, either, require
from vindeby.text import plural

_Searched = Annotated[Count, Field(le=50), Tag("number")]
_Places = Annotated[tuple[Vertex, ...], Field(min_length=1, max_length=50), Tag("rows")]
Substations = Annotated[_Searched | _Places, either("number", "rows")]
"""How many substations are placed by the search, or where they stand: ``[x, y]`` each, in metres."""


class Cables(Section):
    """Cables from the turbines to substations, which cost so much per metre and never cross."""

    substations: Annotated[
        _Searched | _Places | Annotated[dict[Name, Substations], Field(min_length=1), Tag("table")],
        either("number", "rows", "table"),
    ]
    """Where substations stand, [x, y] in metres, or how many there are; or either of them by the name of the farm."""
    types: Annotated[
        tuple[tuple[Annotated[Count, Field(le=1000)], NotNegative], ...], Field(min_length=1, max_length=20)
    ]
    """The cables to choose from: [turbines that one carries, EUR per metre]."""
    router: Literal["heuristic", "hgs", "milp"] = "heuristic"
    """How the final cables are found: in about 0.1 s, some seconds, or a minute."""
    seconds: Positive | None = None
    """A time limit for hgs and milp, by the clock; the cables may then differ from run to run."""
    within_area: Annotated[bool, Strict()] = False
    """Whether cables stay inside the farm; they avoid exclusions in any case."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for index, (smaller, larger) in enumerate(pairwise(self.types), 1):
            wrong = f"{list(larger)} follows {list(smaller)}: larger cables must cost the same or more"
            remedy = "list the cables by capacity, and leave out those that are not worth it"
            rises = smaller[0] < larger[0] and smaller[1] <= larger[1]
            require(rises, wrong, remedy, "types", index)
        timed = self.seconds is None or self.router != "heuristic"
        require(timed, "the heuristic router has no time limit", "remove it, or write router: hgs", "seconds")
        return self

    def substations_of(self, farm: str) -> int | tuple[Vertex, ...] | None:
        """The substations of a farm; None where they are given for other farms only."""
        return self.substations.get(farm) if isinstance(self.substations, dict) else self.substations

    def identity_for(self, farm: str) -> dict[str, Any]:
        """What decides a result of this farm; its name does not."""
        rest = self.model_dump(exclude_none=True, exclude={"substations"})
        return {**rest, "substations": [self.substations_of(farm)]}

    @property
    def in_words(self) -> str:
        """For example ``3 types for up to 7 turbines, router heuristic; 1 substation``."""
        match self.substations:
            case int() as count:
                where = f"{plural(count, 'substation')}, searched"
            case tuple() as places:
                where = plural(len(places), "substation")
            case _:
                where = "substations by farm"
        most = plural(self.types[-1][0], "turbine")
        return f"{plural(len(self.types), 'type')} for up to {most}, router {self.router}; {where}"
