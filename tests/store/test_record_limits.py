"""What a record may not hold is refused when it is made, not by a merge hours later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.store.examples import contents, publish
from vindeby.errors import ArgumentError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import MAXIMUM_DIMENSIONS, Record
from vindeby.store.merge.merge import MergeOptions, merge


def of_dimensions(count: int, key: str = "a") -> Record:
    return Record(key, "", {"x": np.zeros((1,) * count)})


@pytest.mark.parametrize("count", [MAXIMUM_DIMENSIONS + 1, 32, 33, 64])
def test_an_array_of_too_many_dimensions_is_refused_when_the_record_is_made(count: int) -> None:
    with pytest.raises(ArgumentError, match=rf"record a: array 'x' has {count} dimensions; at most 16"):
        of_dimensions(count)


@pytest.mark.parametrize("file_format", ["classic", "table"])
def test_an_array_of_as_many_dimensions_as_allowed_is_merged(run: RunDirectory, file_format: str) -> None:
    batch = [of_dimensions(MAXIMUM_DIMENSIONS, key) for key in ("a", "b")]
    publish(run, batch)
    merge(run.output, MergeOptions(file_format=file_format))
    assert contents(run.output) == {one.key: one for one in batch}


@pytest.mark.parametrize("value", [np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array([1.0, 2.0])])
def test_a_masked_array_is_refused_when_the_record_is_made(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"record a: array 'x' is a masked array"):
        Record("a", "", {"x": value})
