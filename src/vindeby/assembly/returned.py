"""Is a result of a function that has nothing to do with wind whole? It has the arrays that the campaign names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vindeby.store.format.record import Record

RETURNS = "returns"
"""The attribute of such a result that names its arrays; readers know by it that there is no layout and no energy."""


@dataclass(frozen=True)
class ReturnedCheck:
    """What must hold for a result of such a campaign."""

    names: tuple[str, ...]

    def __call__(self, record: Record) -> Iterator[str]:
        """Say what is wrong with the record."""
        for name in self.names:
            array = record.arrays.get(name)
            if array is None:
                yield f"has no {name}"
            elif not np.isfinite(array).all():
                yield f"{name} holds values that are not finite"
