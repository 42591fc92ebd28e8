"""New HDF5 files, and variables over named axes in them, as netCDF-4 keeps them: with dimension scales.

The HDF5 library writes a file through an object that makes plain system calls, because the library can crash when a
disk is full. The table form of a database and the netCDF files of an export are written here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
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
_DIMENSION = "_Netcdf4Dimid"
"""The attribute that numbers the axes; coordinates with several axes name them by their numbers."""


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
        _make_scale(dataset, name)
    for axis, length in axes.items():
        if axis not in file:
            _make_scale(file.create_dataset(axis, (length,), ">f4"), f"{_ONLY_A_LENGTH}{length:10d}")
    if name not in axes:
        for number, axis in enumerate(axes):
            dataset.dims[number].attach_scale(file[axis])
    elif len(axes) > 1:
        dataset.attrs["_Netcdf4Coordinates"] = [file[axis].attrs[_DIMENSION] for axis in axes]
    return dataset


def _make_scale(dataset: h5py.Dataset, name: str) -> None:
    dataset.attrs[_DIMENSION] = np.int32(sum(one.is_scale for one in dataset.file.values()))
    dataset.make_scale(name)


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
    """A new HDF5 file with these root attributes; an error of the disk is raised at the end of the block."""
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
