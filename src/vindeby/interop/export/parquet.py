"""Parquet, by pyarrow: typed columns with units, and the campaign among the metadata of the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vindeby.interop.export.columns import UNITS
from vindeby.interop.export.libraries import library


def write_parquet(path: Path, columns: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write the columns; an unknown zone is null, an unknown number NaN."""
    pyarrow = library("pyarrow", "interop", "export --to parquet")
    parquet = library("pyarrow.parquet", "interop", "export --to parquet")
    fields, arrays = [], []
    for name, column in columns.items():
        values: Any = column
        if column.dtype.kind in "OU":
            values = pyarrow.array([str(text) for text in column.tolist()], pyarrow.string())
        elif name == "zone":
            values = pyarrow.array(column, mask=column < 0)
        else:
            values = pyarrow.array(column)
        unit = {"units": UNITS[name]} if name in UNITS else None
        fields.append(pyarrow.field(name, values.type, metadata=unit))
        arrays.append(values)
    schema = pyarrow.schema(fields, metadata=dict(metadata))
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), str(path))
