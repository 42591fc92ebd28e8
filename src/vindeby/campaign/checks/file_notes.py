"""What is reported about files of other tools: what was ignored, and what was chosen where a file leaves it open."""

from __future__ import annotations

from collections.abc import Iterator

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.sections.file_source import FileSource


def notes_about_files(campaign: Campaign) -> Iterator[str]:
    """One sentence per note, with the section and the name of the file."""
    yield from _notes("site", campaign.site.source)
    for turbine in campaign.turbines:
        yield from _notes(f"type {turbine.name}", turbine.source)
    of_farms = (group for farm in campaign.farms for group in farm.neighbours or ())
    for group in (*(campaign.neighbours or ()), *of_farms):
        for turbine in group.turbines or ():
            yield from _notes(f"{group.label}, type {turbine.name}", turbine.source)


def _notes(what: str, source: FileSource | None) -> Iterator[str]:
    if source is not None:
        yield from (f"{what}, from {source.file}: {note}" for note in source.notes or ())
