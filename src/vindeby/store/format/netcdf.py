"""New HDF5 files, and variables over named axes in them, as netCDF-4 keeps them: with dimension scales.

The HDF5 library writes a file through an object that makes plain system calls, because the library can crash when a
disk is full. The table form of a database and the netCDF files of an export are written here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import StorageError
from vindeby.store.disk.files import CarefulFile

if TYPE_CHECKING:
    import h5py

_LIBVER = ("earliest", "v110")
"""The oldest structures that can hold what is written: every HDF5 library from 1.8 on reads them."""

_ONLY_A_LENGTH = "This is a netCDF dimension but not a netCDF variable."


def new_variable(
    file: h5py.File,
    name: str,
    dtype: Any,
    axes: Mapping[str, int],
    attributes: Mapping[str, Any],
    **options: Any,
) -> h5py.Dataset:
    """Create a variable over axes of these lengths; one that is named after its first axis has its coordinates.

    Coordinates must be created before the variables that lie along their axis. ``options`` are those of h5py.
    """
    dataset = file.create_dataset(name, tuple(axes.values()), dtype, **options)
    dataset.attrs.update(attributes)
    if name in axes:
        dataset.make_scale(name)
    for number, (axis, length) in enumerate(axes.items()):
        if axis not in file:
            file.create_dataset(axis, (length,), ">f4").make_scale(f"{_ONLY_A_LENGTH}{length:10d}")
        if name not in axes:
            dataset.dims[number].attach_scale(file[axis])
    return dataset


def number_axes(file: h5py.File, coordinates: str, axes: Sequence[str]) -> None:
    """Number the axes of a file; coordinates with several axes must refer to them by these numbers."""
    numbers: dict[str, np.int32] = {}
    for name, dataset in file.items():
        if dataset.is_scale:
            numbers[name] = np.int32(len(numbers))
            dataset.attrs["_Netcdf4Dimid"] = numbers[name]
    file[coordinates].attrs["_Netcdf4Coordinates"] = [numbers[axis] for axis in axes]


class Variable(NamedTuple):
    """A variable of a netCDF file."""

    axes: tuple[str, ...]
    values: NDArray[Any]
    attributes: Mapping[str, Any]


def write_netcdf(path: Path, variables: Mapping[str, Variable], attributes: Mapping[str, Any]) -> None:
    """Write a new netCDF-4 file with these variables and root attributes."""
    import h5py

    with new_hdf5_file(path, attributes) as file:
        for name, one in sorted(variables.items(), key=lambda entry: entry[1].axes != (entry[0],)):
            is_text = one.values.dtype.kind in "OU"
            values = one.values.astype(object) if is_text else one.values
            sizes = dict(zip(one.axes, values.shape, strict=True))
            dtype = h5py.string_dtype() if is_text else values.dtype
            new_variable(file, name, dtype, sizes, one.attributes, data=values)


@contextlib.contextmanager
def new_hdf5_file(path: Path, root: Mapping[str, Any]) -> Iterator[h5py.File]:
    """Yield a new HDF5 file with these root attributes; a disk error is raised at the end of the block."""
    import h5py  # not needed to read what is sealed, and loading it takes as long as reading thousands of records

    target = CarefulFile(path)
    try:
        with target, h5py.File(target, "w", libver=_LIBVER) as file:
            for name, value in root.items():
                file.attrs[name] = value
            yield file
            file.flush()
            target.check()
    except (RuntimeError, ValueError) as error:
        target.check()  # what the library read back was never written
        raise StorageError(f"{path}: HDF5 cannot write it: {error}; nothing was changed") from error
