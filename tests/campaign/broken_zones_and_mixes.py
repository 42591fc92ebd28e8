"""Mistakes that people make with zones of a farm and with mixes of turbine types.

Each case is like those of ``broken.py``: a wrong file, and the words that the message must have.
"""

from __future__ import annotations

from tests.campaign.broken import Broken
from tests.campaign.zoned import ZONED


def _with(old: str, new: str, *words: str) -> Broken:
    assert ZONED.count(old) == 1, f"{old!r} occurs {ZONED.count(old)} times in the campaign"
    return Broken(ZONED.replace(old, new), words)


_WEST = "        n_turbines: 5\n"
_IN_TURN = "    search: in-turn\n    rounds: 2\n"
_MIX = "    mix: {five: 4, three: 2}\n"
_FIRST = "  - name: together\n"

BROKEN_ZONES_AND_MIXES: dict[str, Broken] = {
    "boundary and zones": _with(
        _FIRST,
        _FIRST + "    boundary: [[0, 0], [4000, 0], [4000, 3000]]\n",
        "farms[0].zones",
        "boundary and zones exclude each other",
        "give one",
    ),
    "no zones": _with(
        _MIX,
        _MIX + "  - {name: empty, zones: []}\n",
        "farms[3].zones",
        "must have at least 1 entries",
        ":20:",
    ),
    "neither boundary nor zones": _with(
        _MIX, _MIX + "  - {name: nowhere, n_turbines: 3}\n", "farms[3].boundary", "is missing", "or zones"
    ),
    "two zones of one name": _with(
        "      - name: east\n",
        "      - name: west\n",
        "farms[0].zones[1].name",
        "same name",
        "got 'west'",
        ":8:",
    ),
    "a zone without a count": _with(
        _WEST, "", "farms[0].zones[0]", "the number of turbines in this zone is missing", "capacity_mw"
    ),
    "a zone with a count and a capacity": _with(
        _WEST,
        _WEST + "        capacity_mw: 20\n",
        "zones[0].capacity_mw",
        "exclude each other",
        "got 20",
        ":8:",
    ),
    "a zone of no turbines": _with(
        _WEST, "        n_turbines: 0\n", "farms[0].zones[0].n_turbines", "must be at least 1", "got 0"
    ),
    "a zone too small for one turbine": _with(
        "        capacity_mw: 15\n",
        "        capacity_mw: 4\n",
        "farms[0].zones[1].capacity_mw",
        "makes no turbine of type 'five' (5 MW) in zone 'east'",
        "got 4",
    ),
    "a count for a farm of zones": _with(
        _FIRST, _FIRST + "    n_turbines: 8\n", "farms[0].n_turbines", "is said by the zones", "got 8", ":4:"
    ),
    "a zone whose polygon crosses itself": _with(
        "        boundary: [[0, 0], [2000, 0], [2000, 3000], [0, 3000]]\n",
        "        boundary: [[0, 0], [2000, 3000], [2000, 0], [0, 3000]]\n",
        "farms[0].zones[0].boundary",
        "crosses or touches itself",
    ),
    "a key that a zone does not have": _with(
        _WEST, _WEST + "        spacing: 5 D\n", "farms[0].zones[0].spacing", "is not a known key"
    ),
    "a search that does not exist": _with(
        "    search: in-turn\n", "    search: one-by-one\n", "farms[1].search", "'together' or 'in-turn'"
    ),
    "rounds of a search together": _with(
        _IN_TURN,
        "    search: together\n    rounds: 2\n",
        "farms[1].rounds",
        "is for a search zone by zone",
        "search: in-turn",
        "got 2",
    ),
    "a number of rounds in words": _with(
        "    rounds: 2\n",
        "    rounds: for ever\n",
        "farms[1].rounds",
        "must be a whole number",
        "got 'for ever'",
    ),
    "too many rounds": _with(
        "    rounds: 2\n", "    rounds: 1001\n", "farms[1].rounds", "must be at most 1000", "got 1001"
    ),
    "no round at all": _with(
        "    rounds: 2\n", "    rounds: 0\n", "farms[1].rounds", "must be at least 1", "got 0"
    ),
    "a search without zones": _with(
        _MIX, _MIX + "    search: in-turn\n", "farms[2].search", "is for a farm with zones", "got 'in-turn'"
    ),
    "a mix of a type that is not there": _with(
        _MIX,
        "    mix: {five: 4, tree: 2}\n",
        "farms[2].mix.tree",
        "no turbine type has the name 'tree'",
        "three, five",
        ":19:",
    ),
    "a mix in a zone of a type that is not there": _with(
        "mix: {three: 3}", "mix: {ten: 3}", "farms[1].zones[1].mix.ten", "no turbine type", "three, five"
    ),
    "a mix of no turbines": _with(_MIX, "    mix: {five: 0}\n", "farms[2].mix.five", "must be at least 1"),
    "a mix of nothing": _with(_MIX, "    mix: {}\n", "farms[2].mix", "must have at least 1 entries"),
    "a mix of parts": _with(
        _MIX, "    mix: {five: 0.5, three: 0.5}\n", "farms[2].mix", "must be a whole number", "got 0.5"
    ),
    "a mix as a list": _with(_MIX, "    mix: [five, three]\n", "farms[2].mix", "must be a mapping"),
    "a mix and a count": _with(
        _MIX, _MIX + "    n_turbines: 6\n", "farms[2].mix", "n_turbines and mix exclude each other"
    ),
    "a mix in some zones only": _with(
        "mix: {three: 3}", "n_turbines: 3", "farms[1].zones[1]", "only some zones have a mix"
    ),
    "a mix of the farm and of its zones": _with(
        _IN_TURN, "    mix: {five: 2, three: 4}\n", "farms[1].zones[0]", "none for the farm"
    ),
    "a mix of the farm of another count than its zones": Broken(
        ZONED.replace("        capacity_mw: 15\n", "        n_turbines: 3\n    mix: {five: 4, three: 3}\n"),
        ("farms[0].mix", "makes 7 turbines, but the zones have 8", "make the two agree"),
    ),
    "a mix of the farm with a capacity in a zone": Broken(
        ZONED.replace("        capacity_mw: 15\n", "        capacity_mw: 15\n    mix: {five: 4, three: 3}\n"),
        ("farms[0].zones[1]", "needs the number of turbines in each zone"),
    ),
    "zones in turn that share a mix": Broken(
        ZONED.replace(
            "        capacity_mw: 15\n",
            "        n_turbines: 3\n    mix: {five: 4, three: 4}\n    search: in-turn\n",
        ),
        ("farms[0].mix", "searched in turn cannot share a mix", "give each zone its mix"),
    ),
}
