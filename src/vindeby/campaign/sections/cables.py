"""The cables of a farm: substations, what cables there are, and how they are routed (``costs: cables:``)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, Strict, Tag, model_validator

from vindeby.campaign.sections.boundary import Boundary, Vertex
from vindeby.campaign.sections.values import Count, Name, NotNegative, Positive, Section, either, require
from vindeby.text import plural

if TYPE_CHECKING:
    from vindeby.campaign.sections.farm import Farm

_Places = Annotated[tuple[Vertex, ...], Field(min_length=1, max_length=50)]
_Searched = Annotated[Count, Field(le=50)]
Substations = Annotated[
    Annotated[_Searched, Tag("number")] | Annotated[_Places, Tag("rows")], either("number", "rows")
]
"""How many substations are placed by the search, or where they stand: ``[x, y]`` each, in metres."""


class Cables(Section):
    """Cables from the turbines to substations, which cost so much per metre and never cross."""

    substations: Annotated[
        Annotated[_Searched, Tag("number")]
        | Annotated[_Places, Tag("rows")]
        | Annotated[dict[Name, Substations], Field(min_length=1), Tag("table")],
        either("number", "rows", "table"),
    ]
    """Where substations stand, [x, y] in metres, or how many there are; of each farm or each zone, by its name."""
    types: Annotated[
        tuple[tuple[Annotated[Count, Field(le=1000)], NotNegative], ...], Field(min_length=1, max_length=20)
    ]
    """The cables to choose from: [turbines that one carries, EUR per metre]."""
    router: Literal["heuristic", "hgs", "milp"] = "heuristic"
    """How the final cables are found: in about 0.1 s, some seconds, or a minute."""
    seconds: Positive | None = None
    """A time limit for hgs and milp, by the clock; the cables may then differ from run to run."""
    within_area: Annotated[bool, Strict()] = False
    """Whether cables stay inside the farm, or its zone; they avoid exclusions in any case."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for index, ((small, cheap), (large, dear)) in enumerate(pairwise(self.types), 1):
            wrong = f"a cable for {large} turbines follows one for {small}"
            require(small < large, wrong, "list the cables by capacity, each once", "types", index)
            wrong = (
                f"carries more than the cable before it for less, {dear:g} instead of {cheap:g} EUR per metre"
            )
            require(cheap <= dear, wrong, "leave out the cable that is not worth it", "types", index)
        timed = self.seconds is None or self.router != "heuristic"
        require(timed, "the heuristic router has no time limit", "remove it, or write router: hgs", "seconds")
        return self

    def groups(self, farm: Farm) -> list[tuple[Boundary, int | tuple[Vertex, ...]]]:
        """The areas whose turbines have substations of their own: the farm, or each of its zones; none if unknown."""
        given = self.substations
        if not isinstance(given, dict):
            return [(farm.boundary, given)]
        if farm.name in given:
            return [(farm.boundary, given[farm.name])]
        zones = farm.zones or ()
        if not zones or any(zone.name not in given for zone in zones):
            return []
        return [(zone.boundary, given[zone.name]) for zone in zones]

    def identity_for(self, farm: Farm) -> dict[str, Any]:
        """What decides a result of this farm; names do not."""
        rest = self.model_dump(exclude_none=True, exclude={"substations"})
        return {**rest, "substations": [places for _, places in self.groups(farm)]}

    @property
    def in_words(self) -> str:
        """For example ``3 types for up to 7 turbines, router heuristic; 1 substation``."""
        given = self.substations
        where = (
            "substations by name"
            if isinstance(given, dict)
            else plural(len(given), "substation")
            if isinstance(given, tuple)
            else f"{plural(given, 'substation')}, searched"
        )
        most = plural(self.types[-1][0], "turbine")
        return f"{plural(len(self.types), 'type')} for up to {most}, router {self.router}; {where}"
