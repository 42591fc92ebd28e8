"""Marks of unverified records: the attribute ``origin`` says where such a record comes from."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment, attribute_field

ORIGIN = "origin"
FOREIGN, SALVAGED = "foreign", "salvaged"
ORIGINS = (FOREIGN, SALVAGED)
_FORMER = "stated_origin"


def marked(attributes: Mapping[str, Attribute], origin: str) -> dict[str, Attribute]:
    """Return the attributes with the mark of an unverified record; another program's ``origin`` is renamed."""
    former = attributes.get(ORIGIN)
    if former in ORIGINS:
        return dict(attributes)
    moved = {} if former is None else {_FORMER: former}
    return {**attributes, **moved, ORIGIN: origin}


def origins(rows: NDArray[Any]) -> NDArray[np.bytes_]:
    """Return the origin of every row of a segment; empty for results that vindeby computed."""
    field = attribute_field(ORIGIN)
    found = np.where(rows["fingerprint"] == b"", FOREIGN.encode(), b"")
    if field in (rows.dtype.names or ()) and rows.dtype[field].kind == "S":
        stated = np.isin(rows[field], [origin.encode() for origin in ORIGINS])
        found = np.where(stated, rows[field], found)
    return found


def count_origins(segment: Segment) -> Counter[str]:
    """Return the number of records of each unverified origin."""
    names, counts = np.unique(origins(segment.rows), return_counts=True)
    pairs = zip(names.tolist(), counts.tolist(), strict=True)
    return Counter({name.decode(): count for name, count in pairs if name})


def in_words(counts: Mapping[str, int]) -> str:
    """Return the counts as text, e.g. ``12 of unverified origin (salvaged)``; empty if there are none."""
    present = {name: counts[name] for name in ORIGINS if counts.get(name)}
    if not present:
        return ""
    kinds = ", ".join(
        present if len(present) == 1 else [f"{count:,} {name}" for name, count in present.items()]
    )
    return f"{sum(present.values()):,} of unverified origin ({kinds})"
