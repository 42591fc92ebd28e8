"""Which entry of a campaign file names a geographic file, and how what is wrong with either is said.

Messages show no text of a file that holds no areas: a campaign file may come from elsewhere and name any file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from vindeby.campaign.reading.yaml_text import Document, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

STRAIGHT_IN_FILE = "straight-in-file"
STRAIGHT_IN_METRES = "straight-in-metres"


@dataclass
class Named:
    """A mapping of the campaign file with the key ``file``, where it stands, and the file."""

    document: Document
    data: dict[str, Any]
    at: DataPath
    path: Path

    @property
    def field(self) -> str:
        """The field in words, such as ``farms[0].boundary``."""
        return field_name(self.at)

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Something is wrong in the file itself."""
        shown = None if value is None else str(value)
        raise CampaignError([Problem(str(self.path), self.field, message, shown, remedy)]) from None

    def refuse_key(self, key: str, message: str, remedy: str) -> NoReturn:
        """Something is wrong with what the campaign file says about it."""
        at = (*self.at, key)
        origin, value = self.document.origin(at), self.data.get(key)
        shown = repr(value) if isinstance(value, str | int | float) else None
        problem = Problem(origin.source, field_name(at), message, shown, remedy, origin.line)
        raise CampaignError([problem]) from None

    def refuse_other_keys(self, known: tuple[str, ...]) -> None:
        """Refuse a key that has no meaning beside a geographic file."""
        for key in self.data:
            if key not in known:
                self.refuse_key(key, "has no meaning beside a geographic file", f"known: {', '.join(known)}")

    def text(self, key: str) -> str | None:
        """The text under a key, if there is one."""
        value = self.data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.refuse_key(key, "must be text", "put it in quotes")
        return value

    def keeps_corners_only(self) -> bool:
        """Whether edges are straight in metres, so that only their ends are projected."""
        value = self.text("edges")
        if value not in (None, STRAIGHT_IN_FILE, STRAIGHT_IN_METRES):
            self.refuse_key("edges", "is not known", f"known: {STRAIGHT_IN_FILE}, {STRAIGHT_IN_METRES}")
        return value == STRAIGHT_IN_METRES
