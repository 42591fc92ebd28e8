"""The two forms of OUT.h5: ``classic``, a group a record, and ``table``, a column a name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache

from vindeby.errors import ArgumentError
from vindeby.store.layouts.base import Layout

_CLASSES = {"classic": "ClassicLayout", "table": "TableLayout"}


class _Layouts(Mapping[str, Layout]):
    """Each is loaded when first asked for, so that reading one form need not wait for what the other needs."""

    def __getitem__(self, name: str) -> Layout:
        return _layout(name, _CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _layout(module: str, name: str) -> Layout:
    made: Layout = getattr(importlib.import_module(f"vindeby.store.layouts.{module}"), name)()
    return made


LAYOUTS: Mapping[str, Layout] = _Layouts()


def layout_named(name: str) -> Layout:
    """The layout of this name."""
    if name not in LAYOUTS:
        raise ArgumentError(f"--layout: there is no layout {name!r}; there are: {', '.join(LAYOUTS)}")
    return LAYOUTS[name]
