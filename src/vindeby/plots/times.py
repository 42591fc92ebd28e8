"""Time in a campaign: how results came in, and how long tasks took."""

from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from vindeby import units
from vindeby.arrays import FloatArray
from vindeby.errors import DataError
from vindeby.plots.energy import type_label
from vindeby.plots.style import INK, MARKERS, PAPER, STRONG, figure, shades, style, thousands
from vindeby.results import humanize as words
from vindeby.results.result_set import ResultSet

_MOST_LINES = 8


def completion(result_set: ResultSet) -> Axes:
    """Results published over time, and when tasks failed."""
    history = result_set.history
    history.refresh()
    if len(history.published) < 2:
        raise DataError(f"{result_set.path}: its run directory does not say when results were published")
    times = np.array([1000 * moment for moment, _ in history.published]).astype("datetime64[ms]")
    counts = [count for _, count in history.published]
    total = result_set.campaign.total_configs if result_set.campaign else counts[-1]
    failed = np.array([1000 * one.time for one in history.failed_tasks.values()]).astype("datetime64[ms]")
    with style():
        axes = figure(7.2, 3.8).add_subplot(ylabel="results", xlabel="time, UTC")
        axes.plot(times, counts, color=STRONG, linewidth=2.0, drawstyle="steps-post", label="published")
        axes.axhline(total, color=INK, linewidth=0.8, linestyle="--", label=f"{total:,} expected")
        if len(failed):
            axes.plot(failed, np.zeros(len(failed)), "x", color=INK, markersize=5, clip_on=False,
                      label=f"{len(failed)} failures")  # fmt: skip
        axes.set_ylim(0, None)
        axes.legend(loc="lower right")
        axes.yaxis.set_major_formatter(thousands)
        axes.set_title("Results over time")
    return axes


def series(result_set: ResultSet) -> Axes:
    """The power of the first evaluated farm, smoothed over time, and by how much combinations differ from the first."""
    powers: dict[str, FloatArray] = {}
    campaign = result_set.campaign if result_set.campaign and result_set.campaign.stored else None
    for cell in campaign.cells() if campaign else ():
        key = cell.key(campaign.seeds[0]) if campaign else ""
        if cell.place[:2] == (0, 0) and len(powers) < _MOST_LINES and key in result_set.source:
            power = result_set.record(key).arrays.get("power")
            name = ", ".join(result_set.axes.values_of(cell.combination))
            if power is not None:
                powers[name] = 1.0 / units.MW * power.sum(axis=0, dtype=np.float64)
    if not powers or result_set.campaign is None:
        raise DataError(
            f"{result_set.path}: holds no power over time; stored layouts evaluated with output: power do"
        )
    first, times = next(iter(powers.values())), getattr(result_set.campaign.site.time_series, "times", None)
    x, width = np.arange(len(first)), max(1, len(first) // 60)
    x = x if times is None else np.array(times, "datetime64[s]")
    with style():
        axes, below = figure(7.2, 4.8).subplots(2, 1, sharex=True)
        for (name, power), colour in zip(powers.items(), shades(len(powers)), strict=True):
            for part, values in ((axes, power), (below, power - first)):
                mean = np.convolve(values, np.ones(width) / width, "valid")
                part.plot(x[width // 2 :][: len(mean)], mean, color=colour, label=name)
        axes.set_ylabel("power, MW")
        below.set(ylabel="less that of the first, MW", xlabel="step" if times is None else "")
        axes.set_title(f"Power of {result_set.axes.farm_name(0)} by combination, mean of {width} steps")
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return cast("Axes", axes)


def durations(result_set: ResultSet) -> Axes:
    """Seconds of each task, by turbine type, on a logarithmic axis."""
    rows = result_set.rows[result_set.rows["seconds"] > 0]
    if len(rows) < 2:
        raise DataError(f"{result_set.path}: holds no two results that say how long they took")
    types = [int(kind) for kind in np.unique(rows["type_idx"])]
    with style():
        axes = figure(7.2, 1.5 + 0.42 * len(types)).add_subplot()
        random = np.random.default_rng(1)
        for line, (kind, colour) in enumerate(zip(types, shades(len(types)), strict=True)):
            values = rows["seconds"][rows["type_idx"] == kind]
            axes.plot(values, line + random.uniform(-0.3, 0.3, len(values)), MARKERS[line % len(MARKERS)],
                      ms=4.5 if len(values) <= 20 else 3.2, color=colour, mec=PAPER, mew=0.4)  # fmt: skip
            middle = float(np.median(values))
            axes.plot([middle] * 2, [line - 0.38, line + 0.38], color=INK, linewidth=1.6)
            axes.annotate(words.duration(middle), (middle, line - 0.38), ha="center", va="bottom", fontsize=7,
                          xytext=(0, 0), textcoords="offset points")  # fmt: skip
        axes.set_yticks(range(len(types)), [type_label(result_set, kind) for kind in types])
        axes.set_ylim(len(types) - 0.4, -0.8)  # the first type on top, as in every legend
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: words.duration(value)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(visible=False, axis="y")
        total = words.duration(float(rows["seconds"].sum()))
        axes.set(xlabel="time of one task")
        axes.set_title(f"Task durations; bar: median; {total} of work in all")
    return axes
