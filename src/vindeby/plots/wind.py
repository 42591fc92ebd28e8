"""The wind in pictures: the rose, and the prevailing direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import DataError
from vindeby.plots.style import INK, PAPER, figure, shades, style
from vindeby.results.result_set import ResultSet

if TYPE_CHECKING:
    from vindeby.wake import WindFarm


_SECTORS, _MOST_SECTORS = 12, 36
_SPEED_CLASSES = (0.0, 6.0, 9.0, 12.0, 15.0, np.inf)


def prevailing(farm: WindFarm) -> tuple[float, float]:
    """Return the middle of the most frequent sector, and the mean wind speed in it."""
    middles, sector = _sectors(farm)
    shares = np.bincount(sector, farm.states.probability, len(middles))
    best = int(np.argmax(shares))
    mean = np.bincount(sector, farm.states.probability * farm.states.speed, len(middles)) / np.maximum(
        shares, 1e-300
    )
    return float(middles[best]), float(round(mean[best], 1))


def _sectors(farm: WindFarm) -> tuple[FloatArray, IntArray]:
    """Return the sector centres (degrees) of the site, or of 12 sectors, and the sector of each state."""
    rose, turned = getattr(farm.site, "rose", farm.site), getattr(farm.site, "turned_deg", 0.0)
    count = len(np.atleast_1d(getattr(rose, "frequency", getattr(rose, "probability", ()))))
    count = count if 3 <= count <= _MOST_SECTORS else _SECTORS
    place = (np.repeat(farm.states.direction, np.diff(farm.states.first)) - turned) / (360 / count)
    sector = np.floor(place + 0.5).astype(int) % count  # a border belongs to the next one, as in wake.site
    return (np.arange(count) * 360 / count + turned) % 360, sector


def draw_rose(axes: Any, farm: WindFarm, direction: float | None = None) -> None:
    """Draw the frequency of wind directions and speeds; ``axes`` must be polar."""
    states, (middles, sector) = farm.states, _sectors(farm)
    angles, count = np.deg2rad(middles), len(middles)
    base = np.zeros(count)
    colours = shades(len(_SPEED_CLASSES) - 1, "Greys_r")
    for low, high, colour in zip(_SPEED_CLASSES, _SPEED_CLASSES[1:], colours, strict=False):
        mine = (states.speed >= low) & (states.speed < high)
        share = np.bincount(sector[mine], states.probability[mine], count) * 100
        name = f"{low:g} to {high:g}" if high < np.inf else f"over {low:g}"
        axes.bar(
            angles,
            share,
            width=2 * np.pi / count * 0.9,
            bottom=base,
            color=colour,
            edgecolor=PAPER,
            linewidth=0.3,
            label=name,
        )
        base += share
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_thetagrids(np.arange(0, 360, 90), ["N", "E", "S", "W"], fontsize=7)
    axes.tick_params(pad=-2)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    axes.tick_params(axis="y", labelsize=6)
    axes.grid(linewidth=0.4, alpha=0.6)
    axes.spines["polar"].set_visible(False)
    if direction is not None:
        axes.annotate(
            "",
            (np.deg2rad(direction), base.max() * 0.45),
            (np.deg2rad(direction), base.max() * 1.12),
            arrowprops={
                "arrowstyle": "-|>",
                "color": INK,
                "linewidth": 1.2,
                "shrinkA": 0,
                "shrinkB": 0,
                "path_effects": [withStroke(linewidth=3.5, foreground=PAPER)],
            },
        )
    axes.set_title("wind", fontsize=9, pad=10, loc="center")
    axes.legend(
        title="m/s",
        fontsize=6.5,
        title_fontsize=7,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.1),
        ncols=3,
        handlelength=1,
        columnspacing=1,
    )


def rose(result_set: ResultSet) -> Axes:
    """Draw the wind rose of the campaign's site."""
    campaign = result_set.campaign
    farm = result_set.wind_farm(next(iter(result_set.axes.cells), None))
    if campaign is not None and not campaign.is_about_wind:
        raise DataError(f"{result_set.path}: its campaign is about a function without wind")
    if farm is None:
        raise DataError(f"{result_set.path}: no campaign is kept with it, so the wind is not known")
    with style():
        axes: Axes = figure(4.0, 4.3).add_subplot(projection="polar")
        draw_rose(axes, farm)
    return axes
