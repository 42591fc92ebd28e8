"""The name of the coordinate reference system of a campaign, such as ``EPSG:32631``.

It is only kept, for pictures and for files that are written: what it means is known to pyproj, which not everybody has.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from vindeby.campaign.sections.values import Text, refusal

_NAME = re.compile(r"[A-Za-z]{2,12}:[0-9A-Za-z]{1,12}")
_WELL_KNOWN_TEXT = re.compile(r"[A-Za-z]{3,20}\[.*\]")


def _a_system(text: str) -> str:
    if not (_NAME.fullmatch(text) or _WELL_KNOWN_TEXT.fullmatch(text)):
        raise refusal(
            "is no name of a coordinate reference system", remedy="write e.g. EPSG:32631", value=text
        )
    return text


CoordinateSystem = Annotated[Text, AfterValidator(_a_system)]
"""AUTHORITY:CODE, or well-known text (WKT) on one line where no authority has given a code."""
