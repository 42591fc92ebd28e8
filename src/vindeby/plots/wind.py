"""The wind in pictures: the rose, the prevailing direction, the wakes of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from vindeby.arrays import FloatArray
from vindeby.errors import DataError
from vindeby.plots.style import INK, PAPER, figure, shades, style
from vindeby.results.result_set import ResultSet

if TYPE_CHECKING:
    from vindeby.wake import WindFarm


_SECTORS, _MOST_SECTORS = 12, 36
_SPEED_CLASSES = (0.0, 6.0, 9.0, 12.0, 15.0, np.inf)


def prevailing(farm: WindFarm) -> tuple[float, float]:
    """The direction that the wind comes from most often, and its mean speed then."""
    direction, shares, speeds = _by_direction(farm)
    best = int(np.argmax(_smooth(shares)))
    return float(direction[best]), float(round(speeds[best], 1))


def _smooth(values: FloatArray) -> FloatArray:
    """The mean over a sector around each direction."""
    width = max(1, len(values) // _SECTORS)
    window = np.ones(width) / width
    around = np.concatenate([values[-width:], values, values[:width]])
    return np.asarray(np.convolve(around, window, "same")[width:-width])


def _by_direction(farm: WindFarm) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Directions at even distances, how often the wind comes from each, and its mean speed then."""
    states = farm.states
    weighted = states.probability * states.speed
    if states.step is None:
        first = states.first[:-1]
        shares = np.add.reduceat(states.probability, first)
        return states.direction, shares, np.add.reduceat(weighted, first) / np.maximum(shares, 1e-300)
    # A time series has any directions: they are counted by whole degrees, of which many have no step.
    degree = np.repeat(np.rint(states.direction).astype(int) % 360, np.diff(states.first))
    shares, speeds = np.zeros(360), np.zeros(360)
    np.add.at(shares, degree, states.probability)
    np.add.at(speeds, degree, weighted)
    return np.arange(360.0), shares, _smooth(speeds) / np.maximum(_smooth(shares), 1e-300)


def _count_of_sectors(rose: Any) -> int:
    """Return how many sectors a site is described by, or 12 for one that is not described by a few sectors."""
    count = len(np.atleast_1d(getattr(rose, "frequency", getattr(rose, "probability", ()))))
    return count if 3 <= count <= _MOST_SECTORS else _SECTORS


def draw_rose(axes: Any, farm: WindFarm, direction: float | None = None) -> None:
    """How often the wind comes from where, and how fast; ``axes`` must be polar."""
    states = farm.states
    rose, turned = getattr(farm.site, "rose", farm.site), getattr(farm.site, "turned_deg", 0.0)
    count = _count_of_sectors(rose)
    place = (np.repeat(states.direction, np.diff(states.first)) - turned) / (360 / count)
    sector = np.floor(place + 0.5).astype(int) % count  # a border belongs to the next one, as in wake.site
    angles = np.deg2rad(np.arange(count) * 360 / count + turned)
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
    """The wind of the campaign's site alone."""
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
