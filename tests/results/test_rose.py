"""The wind rose shows each sector with its own wind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vindeby.plots.wind import draw_rose
from vindeby.wake import TableSite, Turbine, UniformSite, WindFarm


def test_each_sector_of_the_rose_has_the_frequency_of_its_sector() -> None:
    from matplotlib.figure import Figure

    frequency = np.arange(1.0, 13.0) / 78.0
    site = UniformSite(frequency, 9.0, interpolation="nearest")
    turbine = Turbine.generic("five", 5.0, 126.0, 90.0)
    axes = Figure().add_subplot(projection="polar")
    draw_rose(axes, WindFarm(site, turbine, "jensen", directions=np.arange(360.0)))
    bars = np.array([patch.get_height() for patch in axes.patches]).reshape(-1, 12)  # type: ignore[attr-defined]
    assert bars.sum(axis=0).tolist() == pytest.approx((100.0 * frequency).tolist(), rel=1e-9)


def drawn(site: Any) -> Any:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot(projection="polar")
    draw_rose(axes, WindFarm(site, Turbine.generic("five", 5.0, 126.0, 90.0), "jensen"))
    return axes


def test_a_rose_has_the_sectors_of_its_table() -> None:
    table = np.outer(np.arange(1.0, 17.0) / 136.0, [0.25, 0.75])
    axes = drawn(TableSite(table, [8.0, 11.0]))
    bars = np.array([patch.get_height() for patch in axes.patches]).reshape(-1, 16)
    assert bars.sum(axis=0).tolist() == pytest.approx((100.0 * table.sum(axis=1)).tolist(), rel=1e-9)
