"""``vindeby-export.json``: what a folder of exported files holds, and by which an earlier export is recognised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vindeby._version import __version__
from vindeby.interop.export.chosen import Chosen

NAME = "vindeby-export.json"


def write_mark(folder: Path, file_format: str, chosen: Chosen, **more: Any) -> None:
    """Say what the folder holds."""
    data = {
        "format": file_format,
        "vindeby": __version__,
        "database": chosen.database.name,
        "campaign": None if chosen.campaign is None else chosen.campaign.name,
        "results": {key: {"aep_gwh": chosen.aep[key]} for key in chosen.places},
        "notes": chosen.notes,
        **more,
    }
    (folder / NAME).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def is_marked(folder: Path, file_format: str) -> bool:
    """Whether a folder is an earlier export of this format."""
    try:
        data = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("format") == file_format
