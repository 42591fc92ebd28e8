"""What a campaign file may name and what stands in parts above: files of other tools, engines, wind farms.

Imports go one way, and reading most campaigns must not load such libraries. So the code stands in the parts above,
``vindeby.readers`` has one function for each, and ``vindeby`` hands them over when it is imported (``provide``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from vindeby.campaign.reading.yaml_text import Document


class StoredLayout(NamedTuple):
    """A layout that a database holds: positions in metres, and turbine types as a campaign file describes them."""

    key: str
    what: str
    """Farm, type and seed, in words."""
    positions: list[list[float]]
    turbines: list[dict[str, Any]] | None
    type: str | list[str] | None


class FileContent(NamedTuple):
    """A section of a campaign, as plain data, that a file of another tool was turned into."""

    data: dict[str, Any]
    format: str
    notes: tuple[str, ...] = ()
    """What must be reported: what was ignored, and what was chosen where the file leaves something open."""


class GriddedFile(Protocol):
    """Arrays by name, with the names of their axes."""

    @property
    def arrays(self) -> dict[str, tuple[tuple[str, ...], npt.NDArray[np.float64]]]:
        """Variables and coordinates: their axes, and the numbers."""

    @property
    def others(self) -> tuple[str, ...]:
        """The names of all other variables."""


class Readers(Protocol):
    """One reader for each kind of file, and the engines; each raises VindebyError."""

    def gridded_file(self, path: Path, wanted: tuple[str, ...]) -> GriddedFile:
        """The variables of a netCDF-4 file that are wanted."""

    def stored_layout(self, path: Path, key: str | None, farm: str | None, type_: str | None) -> StoredLayout:
        """The result of this key, or without one the best of a farm and type."""

    def site_file(self, path: Path, options: dict[str, Any]) -> FileContent:
        """A site file of another tool; CampaignError for an option has its name as field and no source."""

    def turbine_file(self, path: Path, options: dict[str, Any]) -> FileContent:
        """A turbine file of another tool; raises in the same way."""

    def with_geographic_files(self, document: Document, folder: Path) -> Document:
        """The document with what its geographic files hold, in metres of one system."""

    def windio_document(self, path: Path, overrides: Sequence[str]) -> Document:
        """A windIO system as the data of a campaign; CampaignError where it says too little."""

    def load_engine(self, engine: Any) -> None:
        """Import the engine that ``wake`` names; InputError where it cannot be used."""

    def wind_of(self, site: Any) -> Any:
        """The site of ``vindeby.wake`` that a section describes."""

    def turbine_of(self, turbine: Any) -> Any:
        """The ``vindeby.Turbine`` that a section describes."""

    def wind_farm_of(self, campaign: Any, farm: str | int, turbine: str | int) -> Any:
        """The ``vindeby.WindFarm`` of a farm and a turbine type of a campaign."""

    def engine_farm(self, engine: Any, site: Any, turbines: Any, neighbours: Any) -> Any:
        """A wind farm that the engine computes."""


_provided: list[Readers] = []


def provide(readers: Readers) -> None:
    """Set the readers that campaign files are read with."""
    _provided[:] = [readers]


def readers() -> Readers:
    """The readers that were provided."""
    return _provided[0]
