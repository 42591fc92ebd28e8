"""What a campaign file may name and what stands in parts above: files of other tools, engines, wind farms.

Imports go one way, and reading most campaigns must not load such libraries. So the code stands in the parts above,
``vindeby.readers`` has one function for each, and ``vindeby`` hands them over when it is imported (``provide``).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from vindeby.errors import ArgumentError


class FileContent(NamedTuple):
    """A section of a campaign, as plain data, that a file of another tool was turned into."""

    data: dict[str, Any]
    format: str
    notes: tuple[str, ...] = ()
    """What must be reported: what was ignored, and what was chosen where the file leaves something open."""


EXPANSIONS = {"schema": "k = k_a + k_b I", "wifa": "k = k_a I + k_b"}
"""The readings of windIO's ``wake_expansion_coefficient``, with the turbulence intensity I."""


@dataclass(frozen=True)
class WindioOptions:
    """Which of ``EXPANSIONS`` holds (by the sizes of k_a and k_b if None); whether includes may leave their folder."""

    expansion: str | None = None
    allow_outside: bool = False

    def __post_init__(self) -> None:
        if self.expansion not in (None, *EXPANSIONS):
            known = " or ".join(EXPANSIONS)
            raise ArgumentError(f"--windio-expansion: {self.expansion!r} is not known; use {known}")


_provided: list[Any] = []


def provide(readers: Any) -> None:
    """Set the functions that campaign files are read with: those of the module ``vindeby.readers``."""
    _provided[:] = [readers]


def readers() -> Any:
    """The functions that were provided; each raises VindebyError."""
    return _provided[0]
