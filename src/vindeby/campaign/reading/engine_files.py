"""The configuration file of an engine: read once and put into the campaign."""

from __future__ import annotations

from pathlib import Path

from vindeby.campaign.reading.wind_files import ReadText
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used, read
from vindeby.campaign.sections.wake_model import is_labelled_4, replaced_part
from vindeby.errors import CampaignError, Problem


def with_engine_file(document: Document, folder: Path, read_text: ReadText) -> Document:
    """Put a FLORIS configuration that stands in a file of its own into the document."""
    wake = document.data.get("wake")
    if not isinstance(wake, dict) or not isinstance(wake.get("floris"), str):
        return document
    origin = document.origin(("wake", "floris"))
    path = folder / wake["floris"]
    text = read_text(path, "wake.floris", f"{origin.source}:{origin.line}")
    content = read(text, str(path), includes=True)
    if not isinstance(content.data, dict):
        told = "this is no FLORIS configuration: it must be a mapping"
        raise CampaignError([Problem(str(path), "", told, None, "give the file that FlorisModel reads")])
    document.notes += [f"{path.name}: {note}" for note in not_used(replaced_part(content.data))]
    content.data.pop("farm", None)  # the campaign has its own; this one may include turbines
    wake["floris"] = {"configuration": content.data}
    if not is_labelled_4(version := content.data.get("floris_version", "v4")):
        document.notes.append(f"{path.name}: floris_version is {version}; it is read as version 4")
    document.origins[("wake", "floris", "configuration")] = Origin(str(path), 1)
    for inside, place in content.origins.items():
        document.origins[("wake", "floris", "configuration", *inside)] = place
    return document
