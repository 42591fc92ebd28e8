"""Turbines that stand already, as a campaign describes them: positions, and of which type each is.

What a campaign file names (a table, a database) is read when the file is, so that here and in the stored campaign there
are only positions and type descriptions.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from vindeby.campaign.sections.boundary import Vertex
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import NAMED, Name, Section, Text, one_is_a_list, require
from vindeby.text import plural

MOST_IN_A_GROUP = 10_000


class NeighbourGroup(Section):
    """Turbines that were built together: where each stands, and its type by name.

    A name is that of one of the group's own ``turbines``, or else of one of the campaign's.
    """

    may_be_in_a_file = True
    short_form = {"type": "object", "required": ["database"]}  # noqa: RUF012

    name: Name | None = None
    """The name of the group."""
    source: Text | None = None
    """Where the positions come from, in words: written when they are read from a file."""
    turbines: Annotated[tuple[Turbine, ...], *NAMED] | None = None
    """Turbine types of its own, described as the campaign's are."""
    type: Annotated[tuple[Name, ...], BeforeValidator(one_is_a_list, Name | tuple[Name, ...])] | None = None
    """The type of all its turbines, or one for each position."""
    positions: Annotated[tuple[Vertex, ...], Field(min_length=1, max_length=MOST_IN_A_GROUP)]
    """Where its turbines stand, [[x, y], ...] in metres."""

    def __repr__(self) -> str:
        return f"<NeighbourGroup {self.label!r}: {plural(len(self.positions), 'turbine')}>"

    @property
    def label(self) -> str:
        """What a picture or a message calls it."""
        return self.name or self.source or "neighbours"

    @property
    def type_names(self) -> tuple[str, ...]:
        """The name of the type of each turbine."""
        names = self.type or tuple(turbine.name for turbine in self.turbines or ())
        return names * len(self.positions) if len(names) == 1 else names

    @model_validator(mode="after")
    def _types_are_said(self) -> Self:
        own, given = self.turbines or (), self.type
        wrong = f"{len(own)} types are described" if own else "the type of these turbines is missing"
        remedy = "give type: the name of a turbine type, or one name for each position"
        require(given is not None or len(own) == 1, wrong, remedy)
        require(
            given is None or len(given) in (1, len(self.positions)),
            f"has {len(given or ())} names, but there are {len(self.positions)} positions",
            "give one name for all, or one for each position",
            "type",
        )
        return self


_Groups = Annotated[tuple[NeighbourGroup, ...], Field(min_length=1)]
Neighbours = Annotated[
    tuple[NeighbourGroup, ...],
    BeforeValidator(one_is_a_list, NeighbourGroup | _Groups),
    Field(min_length=1),
]
"""One group or several; a single one needs no list."""
