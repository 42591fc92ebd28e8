"""What a campaign file may name and what stands in parts above it: files of other tools, engines, wind farms.

``vindeby`` provides this module to ``vindeby.campaign``, which imports nothing of the parts that read such files. Each
of them is imported when it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vindeby.campaign.reading.readers import FileContent, StoredLayout
    from vindeby.campaign.reading.yaml_text import Document
    from vindeby.store.read.gridded_file import GriddedFile


def gridded_file(path: Path, wanted: tuple[str, ...]) -> GriddedFile:
    """The variables of a netCDF-4 file that are wanted."""
    from vindeby.store.read.gridded_file import read_gridded_file

    return read_gridded_file(path, wanted)


def stored_layout(path: Path, key: str | None, farm: str | None, type_: str | None) -> StoredLayout:
    """The result of this key, or without one the best of a farm and type."""
    from vindeby.assembly.stored_layout import read_stored_layout

    return read_stored_layout(path, key, farm, type_)


def site_file(path: Path, options: dict[str, Any]) -> FileContent:
    """A site file of another tool as a section; CampaignError for an option has its name as field and no source."""
    from vindeby.interop.formats import read_site_file

    return read_site_file(path, options)


def turbine_file(path: Path, options: dict[str, Any]) -> FileContent:
    """A turbine file of another tool as an entry of ``turbines``; raises in the same way."""
    from vindeby.interop.formats import read_turbine_file

    return read_turbine_file(path, options)


def with_geographic_files(document: Document, folder: Path) -> Document:
    """The document with what its geographic files hold, in metres of one system."""
    from vindeby.interop.geo.campaign_files import with_geographic_files

    return with_geographic_files(document, folder)


def windio_document(path: Path, overrides: Sequence[str]) -> Document:
    """A windIO system as the data of a campaign; CampaignError where it says too little."""
    from vindeby.interop.windio.system import windio_document

    return windio_document(path, overrides)


def wind_of(site: Any) -> Any:
    """The site of ``vindeby.wake`` that a section describes."""
    from vindeby.assembly import wind

    return wind.wind_of(site)


def turbine_of(turbine: Any) -> Any:
    """The ``vindeby.Turbine`` that a section describes."""
    from vindeby.assembly import wind

    return wind.turbine_of(turbine)


def wind_farm_of(campaign: Any, farm: str | int, turbine: str | int) -> Any:
    """The ``vindeby.WindFarm`` of a farm and a turbine type of a campaign."""
    from vindeby.assembly import wind

    return wind.wind_farm_of(campaign, farm, turbine)


def load_engine(engine: Any) -> None:
    """Import the engine that ``wake`` names; InputError where it cannot be used."""
    from vindeby.interop import engines

    engines.load(engine)


def engine_farm(engine: Any, site: Any, turbines: Any, neighbours: Any) -> Any:
    """A wind farm that the engine computes."""
    from vindeby.interop import engines

    return engines.engine_farm(engine, site, turbines, neighbours)
