"""The two forms of OUT.h5: ``classic``, a group a record, and ``table``, a column a name."""

from __future__ import annotations

from vindeby.errors import ArgumentError
from vindeby.store.layouts.base import Layout
from vindeby.store.layouts.classic import ClassicLayout
from vindeby.store.layouts.table import TableLayout

LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in (ClassicLayout(), TableLayout())}


def layout_named(name: str) -> Layout:
    """The layout of this name."""
    if name not in LAYOUTS:
        raise ArgumentError(f"--layout: there is no layout {name!r}; there are: {', '.join(LAYOUTS)}")
    return LAYOUTS[name]
