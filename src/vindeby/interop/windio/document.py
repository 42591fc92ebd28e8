"""A windIO system in the place of a campaign file: ``vindeby run system.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.errors import CampaignError, Problem
from vindeby.interop.windio.system import read_system
from vindeby.interop.windio.turbine import printable_name


def windio_document(path: Path, overrides: Sequence[str] = ()) -> Document:
    """The system as the data of a campaign; refuses one that leaves open what ``overrides`` do not give either."""
    system = read_system(path)
    given = [assignment.partition("=")[0] for assignment in overrides]
    missing = [one for one in system.notes.missing if not _is_given(one.field, given)]
    if missing:
        written = f"`vindeby init --from {path} FILE` writes a campaign file to complete"
        raise CampaignError(
            [
                Problem(
                    str(path), one.field, one.why, None, f"give it with --set {one.field}=..., or {written}"
                )
                for one in missing
            ]
        )
    if "site" in system.data:
        system.data["site"]["source"] = {"file": printable_name(path.name), "format": "windIO"}
    notes = [line for line in system.notes.lines() if not line.startswith("missing")]
    return Document(system.data, {(): Origin(str(path))}, notes)


def _is_given(field: str, given: Sequence[str]) -> bool:
    """Whether an override names the field, or a part that holds it; a farm may go by its number or its name."""
    steps = field.split(".")
    for dotted in given:
        named = dotted.split(".")
        if len(named) <= len(steps) and all(
            one == other or other.isdecimal() for one, other in zip(named, steps, strict=False)
        ):
            return True
    return False
