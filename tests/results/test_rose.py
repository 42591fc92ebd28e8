"""The wind rose shows each sector with its own wind."""

from __future__ import annotations

import numpy as np
import pytest

from vindeby.plots.wind import draw_rose
from vindeby.wake import Turbine, UniformSite, WindFarm


def test_each_sector_of_the_rose_has_the_frequency_of_its_sector() -> None:
    from matplotlib.figure import Figure

    frequency = np.arange(1.0, 13.0) / 78.0
    site = UniformSite(frequency, 9.0, interpolation="nearest")
    turbine = Turbine.generic("five", 5.0, 126.0, 90.0)
    axes = Figure().add_subplot(projection="polar")
    draw_rose(axes, WindFarm(site, turbine, "jensen", directions=np.arange(360.0)))
    bars = np.array([patch.get_height() for patch in axes.patches]).reshape(-1, 12)  # type: ignore[attr-defined]
    assert bars.sum(axis=0).tolist() == pytest.approx((100.0 * frequency).tolist(), rel=1e-9)
