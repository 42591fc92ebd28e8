"""Time in a campaign: how results came in, and how long tasks took."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from vindeby.errors import DataError
from vindeby.plots.energy import type_label
from vindeby.plots.style import MARKERS, figure, ink, shades, strong, style
from vindeby.results import humanize as words
from vindeby.results.history import History
from vindeby.results.result_set import ResultSet

_LONG_PAUSE_S = 600.0


def completion(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Results published over working time; pauses between runs are cut out and marked."""
    history = History(result_set.run)
    history.refresh()
    if len(history.published) < 2:
        raise DataError(f"{result_set.path}: its run directory does not tell when results came")
    times = np.array([moment for moment, _ in history.published])
    counts = np.array([count for _, count in history.published])
    gaps = np.diff(times, prepend=times[0])
    pauses = np.flatnonzero(gaps > _LONG_PAUSE_S)
    elapsed = np.cumsum(np.where(gaps > _LONG_PAUSE_S, 0.0, gaps))
    unit, name = (
        (3600.0, "hours")
        if elapsed[-1] > 7200
        else (60.0, "minutes")
        if elapsed[-1] > 180
        else (1.0, "seconds")
    )
    with style(dark=dark):
        axes = figure(7.2, 3.8).add_subplot()
        axes.plot(elapsed / unit, counts, color=strong(), linewidth=2.0, drawstyle="steps-post")
        axes.axhline(counts[-1], color=ink(), linewidth=0.6, linestyle=":")
        total = result_set.campaign.total_configs if result_set.campaign else int(counts[-1])
        if total >= counts[-1]:
            axes.axhline(total, color=ink(), linewidth=0.8, linestyle="--")
            axes.annotate(f"{total:,} expected", (0, total), xytext=(2, -3), textcoords="offset points", va="top",
                          fontsize=8)  # fmt: skip
        for number, pause in enumerate(pauses):
            axes.axvline(elapsed[pause] / unit, color=ink(), linewidth=0.8, linestyle=":",
                         label="a pause" if number == 0 else None)  # fmt: skip
        failed = [np.interp(f.time, times, elapsed) / unit for f in history.failed_tasks.values()]
        if failed:
            axes.plot(failed, np.zeros(len(failed)), "x", color=ink(), markersize=5, clip_on=False,
                      label=f"{len(failed)} failures")  # fmt: skip
        if failed or len(pauses):
            axes.legend(loc="lower right")
        axes.set(xlabel=f"{name} of work", ylabel="results", ylim=(0, None), xlim=(0, None))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.set_title(f"Results over time, {words.moment(times[0])} to {words.moment(times[-1])}")
    return axes


def durations(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """Seconds of each task, by turbine type, on a logarithmic axis."""
    rows = result_set.rows[result_set.rows["seconds"] > 0]
    if not len(rows):
        raise DataError(f"{result_set.path}: its results do not tell how long they took")
    types = [int(kind) for kind in np.unique(rows["type_idx"])]
    with style(dark=dark):
        axes = figure(7.2, 1.5 + 0.42 * len(types)).add_subplot()
        random = np.random.default_rng(1)
        for line, (kind, colour) in enumerate(zip(types, shades(len(types)), strict=True)):
            values = rows["seconds"][rows["type_idx"] == kind]
            axes.plot(values, line + random.uniform(-0.3, 0.3, len(values)), MARKERS[line % len(MARKERS)],
                      markersize=2.5, color=colour, markeredgewidth=0)  # fmt: skip
            middle = float(np.median(values))
            axes.plot([middle] * 2, [line - 0.38, line + 0.38], color=ink(), linewidth=1.6)
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
