"""The two file formats of OUT.h5: ``classic``, a group per record, and ``table``, a column per name."""

from collections.abc import Mapping

from vindeby.errors import ArgumentError
from vindeby.store.format.classic import ClassicFormat
from vindeby.store.format.file_format import FileFormat
from vindeby.store.format.table import TableFormat

FILE_FORMATS: Mapping[str, FileFormat] = {"classic": ClassicFormat(), "table": TableFormat()}


def file_format_named(name: str) -> FileFormat:
    """The file format of this name."""
    if name not in FILE_FORMATS:
        raise ArgumentError(
            f"--format: there is no file format {name!r}; there are: {', '.join(FILE_FORMATS)}"
        )
    return FILE_FORMATS[name]
