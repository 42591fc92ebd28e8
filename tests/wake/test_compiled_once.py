"""A loop is compiled once for a wake model, whatever the wind is made from and however layouts are given.

Whether an array may be written to is part of its type for Numba, and compiling a loop again takes many seconds.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numba
import numpy as np
import pytest

from tests.physics.gridded_sites import Local
from vindeby.wake import (
    Site,
    TableSite,
    TimeSeriesSite,
    Turbine,
    UniformSite,
    WeibullSite,
    WindFarm,
    WindStates,
)
from vindeby.wake.sites.gridded_site import GriddedSite

TWO = (Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 178.0, 119.0))
SPEEDS = np.array([7.0, 9.0])


def read_only(values: Any) -> Any:
    array = np.array(values)
    array.flags.writeable = False
    return array


class OwnSite:
    """A user's site, of whose arrays none can be written to."""

    def states(self, directions: object = None, speeds: object = None) -> WindStates:
        full = TableSite([[0.2, 0.3], [0.1, 0.4]], SPEEDS, 0.07).states()
        arrays = {f.name: getattr(full, f.name) for f in fields(full)}
        return WindStates(
            **{
                name: read_only(value) if isinstance(value, np.ndarray) else value
                for name, value in arrays.items()
            }
        )


SITES: dict[str, Site] = {
    "one speed": UniformSite((0.5, 0.5), 9.0, 0.1),
    "weibull": WeibullSite([0.5, 0.5], [9.0, 8.0], [2.0, 2.1], 0.1, "nearest", read_only([0.0, 90.0]), SPEEDS),
    "turbulence by sector": WeibullSite([0.5, 0.5], [9.0, 8.0], [2.0, 2.1], read_only([0.1, 0.08])),
    "table": TableSite(read_only([[0.2, 0.3], [0.1, 0.4]]), read_only(SPEEDS), 0.07),
    "series": TimeSeriesSite(read_only(SPEEDS), read_only([10.0, 250.0]), read_only([0.1, 0.2])),
    "own": OwnSite(),
}  # fmt: skip


@pytest.mark.parametrize("name", SITES)
def test_the_wind_of_every_site_has_the_same_type(name: str) -> None:
    first = WindFarm(SITES["one speed"], TWO, "iea37")
    assert numba.typeof(WindFarm(SITES[name], TWO, "iea37").wind) == numba.typeof(first.wind)


def test_local_wind_has_the_same_type_whatever_its_grid_is_made_from() -> None:
    site = Local().site()
    assert isinstance(site, GriddedSite)
    grid = site.grid
    fixed = replace(site, grid=replace(grid, x=read_only(grid.x), y=read_only(grid.y)))
    farms = [WindFarm(each, TWO, "iea37", directions=[10.0], speeds=SPEEDS) for each in (site, fixed)]
    assert numba.typeof(farms[0].wind) == numba.typeof(farms[1].wind)


def test_no_form_of_a_layout_has_a_loop_compiled_again() -> None:
    farm = WindFarm(SITES["one speed"], TWO, "iea37")
    x, y = np.array([400.0, 900.0, 1400.0]), np.array([500.0, 600.0, 700.0])
    farm.aep(x, y)
    loop: Any = farm._loops.energy(farm.states).loop
    compiled = list(loop.signatures)
    forms: list[tuple[Any, Any, Any]] = [
        (x.tolist(), y.tolist(), [0, 1, 0]),
        (x, y, np.array([0, 1, 0])),
        (read_only(x), read_only(y), read_only([0, 1, 0])),
        (np.stack([x, y], axis=1)[:, 0], y[::-1], np.array([0, 1, 0], np.int32)),
    ]
    for form in forms:
        farm.aep(*form)
        assert loop.signatures == compiled
        # Some loops are given the places as they are.
        assert all(array.flags.c_contiguous and array.flags.writeable for array in farm._layout(*form)[0])
