"""A campaign as who counts its results needs it: names, seeds, and the identity of each cell.

It is kept beside the frozen campaign, so that a look at a run need not read, check and digest the campaign again. It
says of which text it was made and by which version: one that is not of this text and this version is not used.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vindeby._version import __version__
from vindeby.campaign.tasks import RESULT_REVISION, Cell
from vindeby.text import parse_json

if TYPE_CHECKING:  # loads pydantic and shapely, which reading an outline need not
    from vindeby.campaign.campaign import Campaign


@dataclass(frozen=True)
class Outline:
    """What a campaign expects; the cells are in the order of farm and type."""

    name: str
    farms: tuple[str, ...]
    types: tuple[str, ...]
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]

    @property
    def total_configs(self) -> int:
        """How many tasks there are."""
        return len(self.cells) * len(self.seeds)


def outline_of(campaign: Campaign) -> Outline:
    """What of a campaign is needed to count its results."""
    return Outline(
        campaign.name,
        tuple(farm.name for farm in campaign.farms) or ("all",),
        tuple(turbine.name for turbine in campaign.turbines) or ("function",),
        campaign.seeds,
        campaign.cells(),
    )


def write_outline(campaign: Campaign, text: str) -> str:
    """The outline as JSON, bound to ``text``, the campaign file that is kept beside it."""
    data = {**_binding(text), **asdict(outline_of(campaign))}
    if campaign.seeds == tuple(range(len(campaign.seeds))):
        data["seeds"] = len(campaign.seeds)
    return json.dumps(data) + "\n"


def read_outline(outline: str | None, text: str) -> Outline | None:
    """The outline of the campaign file ``text``; None where it is none, or was made of another text or version."""
    try:
        data = parse_json(outline or "null")
        if not isinstance(data, dict) or any(data[name] != value for name, value in _binding(text).items()):
            return None
        seeds = range(data["seeds"]) if isinstance(data["seeds"], int) else data["seeds"]
        cells = tuple(_cell(cell) for cell in data["cells"])
        return Outline(data["name"], tuple(data["farms"]), tuple(data["types"]), tuple(seeds), cells)
    except (ValueError, KeyError, TypeError):
        return None


def _cell(data: dict[str, Any]) -> Cell:
    zones, mix, cases = data.get("zones", ()), data.get("mix", ()), data.get("cases", {})
    by_seed = {int(seed): case for seed, case in cases.items()}
    pairs = tuple((kind, count) for kind, count in mix)
    ranges = tuple((fewest, most) for fewest, most in data.get("mix_ranges", ()))
    return Cell(**{**data, "zones": tuple(zones), "mix": pairs, "mix_ranges": ranges, "cases": by_seed})


def _binding(text: str) -> dict[str, Any]:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"campaign": digest, "version": __version__, "revision": RESULT_REVISION}
