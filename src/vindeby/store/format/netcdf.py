"""Variables over named axes in an HDF5 file, as netCDF-4 keeps them: with dimension scales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import h5py

_ONLY_A_LENGTH = "This is a netCDF dimension but not a netCDF variable."


def new_variable(
    file: h5py.File,
    name: str,
    dtype: Any,
    axes: Mapping[str, int],
    attributes: Mapping[str, Any],
    **options: Any,
) -> h5py.Dataset:
    """Create a variable over axes of these lengths; one that is named after its only axis has its coordinates.

    Coordinates must be created before the variables that lie along their axis. ``options`` are those of h5py.
    """
    dataset = file.create_dataset(name, tuple(axes.values()), dtype, **options)
    dataset.attrs.update(attributes)
    if [name] == list(axes):
        dataset.make_scale(name)
        return dataset
    for number, (axis, length) in enumerate(axes.items()):
        if axis not in file:
            file.create_dataset(axis, (length,), ">f4").make_scale(f"{_ONLY_A_LENGTH}{length:10d}")
        dataset.dims[number].attach_scale(file[axis])
    return dataset
