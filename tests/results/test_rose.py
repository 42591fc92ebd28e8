"""The wind rose shows each sector with its own wind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vindeby.plots.wind import draw_rose
from vindeby.wake import ChangedSite, TableSite, Turbine, UniformSite, WeibullSite, WindFarm


def test_each_sector_of_the_rose_has_the_frequency_of_its_sector() -> None:
    from matplotlib.figure import Figure

    frequency = np.arange(1.0, 13.0) / 78.0
    site = UniformSite(frequency, 9.0, interpolation="nearest")
    turbine = Turbine.generic("five", 5.0, 126.0, 90.0)
    axes = Figure().add_subplot(projection="polar")
    draw_rose(axes, WindFarm(site, turbine, "jensen", directions=np.arange(360.0)))
    bars = np.array([patch.get_height() for patch in axes.patches]).reshape(-1, 12)  # type: ignore[attr-defined]
    assert bars.sum(axis=0).tolist() == pytest.approx((100.0 * frequency).tolist(), rel=1e-9)


SHARES = np.array([3, 4, 5, 6, 5, 6, 8, 12, 16, 15, 12, 8]) / 100


def drawn(site: Any) -> Any:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot(projection="polar")
    draw_rose(axes, WindFarm(site, Turbine.generic("five", 5.0, 126.0, 90.0), "jensen"))
    return axes


@pytest.mark.parametrize("turned", [0.0, -1.7])
def test_the_rose_shows_the_frequencies_that_were_given_beside_those_that_are_used(turned: float) -> None:
    site = WeibullSite(SHARES, np.full(12, 9.0), np.full(12, 2.0))
    axes = drawn(ChangedSite(site, turned_deg=turned) if turned else site)
    arcs = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert [line.get_ydata()[0] for line in arcs] == pytest.approx((100 * SHARES).tolist(), rel=1e-12)
    middles = [float(np.rad2deg(line.get_xdata().mean())) for line in arcs]
    assert middles == pytest.approx((np.arange(12) * 30.0 + turned).tolist(), abs=1e-9)
    (note,) = [text.get_text() for text in axes.texts]
    assert note.startswith(f"16.0 % from {240 + turned:.3g}° as given, 14.2 % as used:")
    assert note.endswith("linear interpolation, 3 to 25 m/s")


def test_a_rose_that_is_used_as_it_was_given_is_drawn_once_in_its_own_sectors() -> None:
    table = np.outer(np.arange(1.0, 17.0) / 136.0, [0.25, 0.75])
    axes = drawn(TableSite(table, [8.0, 11.0]))
    bars = np.array([patch.get_height() for patch in axes.patches]).reshape(-1, 16)
    assert bars.sum(axis=0).tolist() == pytest.approx((100.0 * table.sum(axis=1)).tolist(), rel=1e-9)
    assert not [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert not axes.texts
