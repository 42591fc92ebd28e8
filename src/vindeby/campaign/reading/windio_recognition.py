"""Is a file a windIO system, or a part of one, in the place of a campaign file?"""

from __future__ import annotations

import re

_TOP_LEVEL = re.compile(r"^[\"']?(\w+)[\"']?[ \t]*:", re.MULTILINE)
_OF_WINDIO = {"wind_farm", "energy_resource", "wind_resource", "boundaries", "performance", "layouts"}
_OF_OURS = {"farms", "wake", "method", "seeds", "neighbours", "internal_wakes", "output"}
"""Of campaigns and studies; a study has ``layouts``, too."""
_INCLUDE = re.compile(r"^[^#\n]*:[ \t]*!include[ \t]", re.MULTILINE)


def is_windio(text: str) -> bool:
    """Whether the keys at the margin are those of windIO; no ``!include`` stands in a file of our own."""
    keys = set(_TOP_LEVEL.findall(text))
    if keys & _OF_OURS:
        return False
    return bool(keys & _OF_WINDIO) or ("site" in keys and bool(_INCLUDE.search(text)))
