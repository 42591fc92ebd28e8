"""The functions that read what a campaign file may name: files of other tools, engines, wind farms.

Imports go one way, and reading most campaigns must not load such libraries. So the code stands in the parts above,
``vindeby.readers`` has one function for each, and ``vindeby`` hands them over when it is imported (``provide``).
"""

from typing import Any, NamedTuple


class FileContent(NamedTuple):
    """A section of a campaign, as plain data, that a file of another tool was turned into."""

    data: dict[str, Any]
    format: str
    notes: tuple[str, ...] = ()
    """Remarks to report: what was ignored, and what was chosen where the file leaves something open."""


_provided: list[Any] = []


def provide(readers: Any) -> None:
    """Set the functions that campaign files are read with: those of the module ``vindeby.readers``."""
    _provided[:] = [readers]


def readers() -> Any:
    """Return the functions that were provided; each of them may raise VindebyError."""
    return _provided[0]
