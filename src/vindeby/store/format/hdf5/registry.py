"""The two file formats of OUT.h5: ``classic``, a group per record, and ``table``, a column per name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache

from vindeby.errors import ArgumentError
from vindeby.store.format.hdf5.file_format import FileFormat

_CLASSES = {"classic": "ClassicFormat", "table": "TableFormat"}


class _FileFormats(Mapping[str, FileFormat]):
    """Each is loaded when first asked for, so that reading one form need not wait for what the other needs."""

    def __getitem__(self, name: str) -> FileFormat:
        return _made(name, _CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _made(module: str, name: str) -> FileFormat:
    made: FileFormat = getattr(importlib.import_module(f"vindeby.store.format.hdf5.{module}"), name)()
    return made


FILE_FORMATS: Mapping[str, FileFormat] = _FileFormats()


def file_format_named(name: str) -> FileFormat:
    """The file format of this name."""
    if name not in FILE_FORMATS:
        raise ArgumentError(
            f"--format: there is no file format {name!r}; there are: {', '.join(FILE_FORMATS)}"
        )
    return FILE_FORMATS[name]
