"""Is a file a windIO system, or a part of one, in the place of a campaign file?"""

from __future__ import annotations

import re

_TOP_LEVEL = re.compile(r"^[\"']?(\w+)[\"']?[ \t]*:", re.MULTILINE)
_OF_WINDIO = {"wind_farm", "energy_resource", "wind_resource", "boundaries", "performance", "layouts"}
_INCLUDE = re.compile(r"^[^#\n]*:[ \t]*!include[ \t]", re.MULTILINE)


def is_windio(text: str) -> bool:
    """Whether the keys at the margin are those of windIO; a campaign file has none of them, and no ``!include``."""
    keys = set(_TOP_LEVEL.findall(text))
    if "farms" in keys:
        return False
    return bool(keys & _OF_WINDIO) or ("site" in keys and bool(_INCLUDE.search(text)))
