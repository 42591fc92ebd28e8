"""Open the database, run directory or folder that a user named, and the campaign kept with it.

Both are read through the store, which verifies what it hands out and lets no damaged file near this process. What was
read once is not read again until its file changes.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from vindeby.campaign import Campaign
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.record import Attribute
from vindeby.store.format.seal import FORMAT_VERSION, OtherFormatError, SealError, open_sealed
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any

GivenCampaign: TypeAlias = "str | Campaign | None"
"""A campaign, its file or the name of a preset; None is the one kept with the results."""


def campaign_of(
    run: RunDirectory, given: GivenCampaign, kept: Attribute | Callable[[], Attribute | None] | None = None
) -> Campaign | None:
    """Return the campaign that was given, else the frozen one of the run directory, else the database's own."""
    if isinstance(given, Campaign):
        return given
    if given is not None:
        return Campaign.load(given)
    text = run.campaign_text()
    if text is not None:
        return Campaign.loads(text, str(run.campaign_file))
    kept = kept() if callable(kept) else kept
    if isinstance(kept, str) and kept:
        return Campaign.loads(kept, f"{run.output} (campaign)")
    return None


def farm_of(campaign: Campaign | None, farm_idx: int) -> Farm | None:
    """Return the farm of this number; None if the campaign does not have it."""
    return campaign.farms[farm_idx] if campaign and 0 <= farm_idx < len(campaign.farms) else None


def turbine_of(campaign: Campaign | None, type_idx: int) -> TurbineSection | None:
    """Return the turbine type of this number; None if the campaign does not have it."""
    return campaign.turbines[type_idx] if campaign and 0 <= type_idx < len(campaign.turbines) else None


def has_neighbours(campaign: Campaign | None, farm_idx: int) -> bool:
    """Return whether this farm has neighbours."""
    farm = farm_of(campaign, farm_idx)
    return campaign is not None and bool(campaign.neighbours or (farm is not None and farm.neighbours))


def named_output(path: Path | str) -> Path:
    """Return the database or folder that a user named; for a run directory, its database."""
    path = Path(path)
    if path.is_dir() and path.name.endswith(".h5.run"):
        return path.with_name(path.name.removesuffix(".run"))
    return path


def kept_campaign(path: Path) -> Attribute | None:
    """Return the campaign inside a database, sealed or not; None if there is none or the file cannot be read."""
    with contextlib.suppress(OSError, SealError), open_sealed(path) as file:
        root = file.seal.directory.get("root")
        return root.get("campaign") if isinstance(root, dict) else None
    if not path.is_file():
        return None
    with Guard() as guard:
        return read_any(path, guard).root.get("campaign")


def open_source(path: Path | str) -> Database:
    """Open a database, a run in progress, or a folder of worker files."""
    path = named_output(path)
    database = Database(path, folder=path.is_dir())
    version = database.attributes.get("format_version", FORMAT_VERSION)
    if isinstance(version, int) and version != FORMAT_VERSION:
        raise OtherFormatError(str(path), version, FORMAT_VERSION)
    return database
