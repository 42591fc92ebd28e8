"""Pictures of energies and losses: by farm, turbine type, seed, combination and time."""

import math
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from vindeby import units
from vindeby.arrays import FloatArray
from vindeby.errors import DataError
from vindeby.plots.layout import Drawn
from vindeby.plots.style import (
    INK,
    MARKERS,
    PAPER,
    figure,
    legend_mark,
    shades,
    style,
    thousands,
)
from vindeby.results.fronts import fronts_of
from vindeby.results.result_set import ResultSet

_MOST_FARMS = 24
_MOST_BARS = 60
_MOST_LINES = 8
SAME_CAPACITY = 1e-3
"""Capacities that differ by no more than this share are taken as equal."""


class ComparedQuantity(NamedTuple):
    """A quantity that results are compared by; more is better."""

    label: str
    values: FloatArray
    """The value of each row."""


def comparable(result_set: ResultSet, rows: NDArray[Any]) -> ComparedQuantity:
    """Return the energy of rows if all have the same installed capacity, else their capacity factor.

    A capacity is a whole number of turbines, so farms of "1,000 MW" have 990 to 1,008 MW; their energies differ
    more by that rounding than by their layouts. Without a campaign the capacities are not known: then the energy.
    """
    capacity = result_set.mean_rated_mw(rows) * rows["n_turbines"]
    energy = np.asarray(rows["aep"], np.float64)
    known = len(rows) > 0 and bool(np.all(capacity > 0))
    if not known or capacity.max() - capacity.min() <= SAME_CAPACITY * capacity.max():
        return ComparedQuantity("AEP, GWh", energy)
    return ComparedQuantity("capacity factor, %", 100 * result_set.capacity_factors(rows))


def type_label(result_set: ResultSet, kind: int, farm: int | None = None) -> str:
    """Return the short name and the campaign's name of a turbine type, or of the mix of a farm."""
    name = result_set.axes.type_name(kind) if farm is None else result_set.axes.cell_name(farm, kind)
    return name if name == f"t{kind}" else f"t{kind} {name}"


def _with_energy(result_set: ResultSet) -> NDArray[Any]:
    rows: NDArray[Any] = result_set.rows[
        ~np.isnan(result_set.rows["aep"]) & (result_set.rows["farm_idx"] >= 0)
    ]
    if len(rows) < 2:
        raise DataError(f"{result_set.path}: holds fewer than two energies that could be compared")
    return rows


class Kinds:
    """The turbine types and combinations of axes by which results of a farm are compared."""

    def __init__(self, result_set: ResultSet, rows: NDArray[Any]) -> None:
        self._of_rows = rows[["type_idx", "combination"]]
        self.places: list[tuple[int, int]] = np.unique(self._of_rows).tolist()
        axes, types = result_set.axes, {kind for kind, _ in self.places}
        self.has_axes = bool(axes.axes)
        self.ticks = [f"t{kind}" for kind, _ in self.places]
        self.names = [type_label(result_set, kind) for kind, _ in self.places]
        if self.has_axes:
            values = [", ".join(axes.values_of(combination)) for _, combination in self.places]
            self.names = [", ".join(pair) for pair in zip(self.names, values, strict=True)]
            self.ticks = (
                values
                if len(types) == 1
                else [" ".join(pair) for pair in zip(self.ticks, values, strict=True)]
            )

    def are(self, number: int) -> NDArray[np.bool_]:
        """Return whether each row is of one kind."""
        return np.array(self._of_rows == np.array(self.places[number], self._of_rows.dtype))

    def draw_ticks(self, axes: Axes) -> None:
        """Name the kinds along the lower side."""
        turned: Any = {"rotation": 40, "ha": "right", "fontsize": 7} if self.has_axes else {}
        axes.set_xticks(range(len(self.ticks)), self.ticks, **turned)


def energy(result_set: ResultSet) -> Axes:
    """Draw each seed as a point: one panel per farm, one column per type and combination of axes.

    A bar marks the median, a triangle the best; where there are axes, a box the quartiles and the range of the seeds.
    """
    rows = _with_energy(result_set)
    shown, kinds = comparable(result_set, rows), Kinds(result_set, rows)
    farms = [int(farm) for farm in np.unique(rows["farm_idx"])][:_MOST_FARMS]
    with style():
        panel = max(2.1, 0.32 * len(kinds.places))
        columns = min(5, len(farms), max(1, int(14.0 / panel)))
        lines = math.ceil(len(farms) / columns)
        whole = figure(max(4.5, panel * columns + 0.5), (2.5 + 0.5 * kinds.has_axes) * lines + 1.0)
        grid = whole.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        colours, random = shades(len(kinds.places)), np.random.default_rng(1)
        for place, axes in enumerate(grid.flat):
            if place >= len(farms):
                axes.set_visible(False)
                continue
            mine = rows["farm_idx"] == farms[place]
            for column, colour in enumerate(colours):
                values = shown.values[mine & kinds.are(column)]
                if kinds.has_axes and len(values):
                    axes.boxplot(values, positions=[column], widths=0.8, showfliers=False, whis=(0, 100))
                _column(axes, values, column, colour, random)
            axes.set_title(result_set.axes.farm_name(farms[place]), fontsize=8)
            kinds.draw_ticks(axes)
            axes.grid(visible=False, axis="x")
        for axes in grid[:, 0]:
            axes.set_ylabel(shown.label)
            axes.yaxis.set_major_formatter(thousands)
        heading = shown.label[0].upper() + shown.label[1:].partition(",")[0]
        whole.suptitle(f"{heading} of every seed", fontsize=10, fontweight="bold")
        handles = [
            legend_mark(MARKERS[number % len(MARKERS)], colour, name)
            for number, (name, colour) in enumerate(zip(kinds.names, colours, strict=True))
        ]
        handles += [
            Line2D([], [], color=INK, linewidth=1.3, label="median"),
            legend_mark("^", INK, "best", 5),
        ]
        whole.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4), fontsize=8)
    axes = grid.flat[0]
    assert isinstance(axes, Axes)
    return axes


def _column(axes: Axes, values: FloatArray, at: int, colour: object, random: np.random.Generator) -> None:
    if not len(values):
        return
    spread = random.uniform(-0.26, 0.26, len(values))
    axes.plot(at + spread, values, MARKERS[at % len(MARKERS)], markersize=4.5 if len(values) <= 20 else 3.2,
              color=colour, markeredgecolor=PAPER, markeredgewidth=0.4)  # fmt: skip
    axes.plot([at - 0.36, at + 0.36], [np.median(values)] * 2, color=INK, linewidth=1.3)
    axes.plot(at, values.max(), "^", markersize=5, color=INK, markeredgecolor=PAPER, markeredgewidth=0.5)


def losses(result_set: ResultSet) -> Axes:
    """Draw the loss to own and neighbours' wakes: of the best of each farm and type, or of each combination."""
    is_stored = result_set.campaign is not None and result_set.campaign.stored is not None
    best = [*map(result_set.key_of, result_set.best().values())]
    drawn = [Drawn(result_set, key) for key in (result_set.keys if is_stored else best)[:_MOST_BARS]]
    drawn = [one for one in drawn if not math.isnan(one.own_wake_loss)]
    if not drawn or not (is_stored or any(one.groups for one in drawn)):
        raise DataError(f"{result_set.path}: has no neighbours whose wakes could be compared with its own")
    names = [one.title if is_stored else one.cell for one in drawn]
    own, total = np.array([(100 * one.own_wake_loss, 100 * one.wake_loss) for one in drawn]).T
    with style():
        axes: Axes = figure(7.2, 1.8 + 0.3 * len(names)).add_subplot(ylim=(len(names) - 0.4, -0.6))
        own_colour, other_colour = shades(2)
        axes.barh(names, own, color=own_colour, edgecolor=PAPER, label="own wakes")
        axes.barh(
            names, total - own, left=own, color=other_colour, edgecolor=PAPER, label="neighbours' wakes"
        )
        for line, (mine, both) in enumerate(zip(own, total, strict=True)):
            axes.text(both, line, f"  {mine:.2f} + {both - mine:.2f}", va="center", fontsize=7.5)
        axes.margins(x=0.15)
        axes.grid(visible=False, axis="y")
        axes.figure.legend(loc="outside lower center", ncols=2, fontsize=8)
        axes.set_xlabel("wake loss, % of the AEP without wakes")
        axes.set_title("Own and neighbours' wakes")
    return axes


def front(result_set: ResultSet) -> Axes:
    """Draw AEP against the second of two objectives, with a line through the front, and the weight of each point."""
    fronts = fronts_of(result_set)
    points = [point for one in fronts for point in one.points]
    if len({(point.other, point.aep_gwh) for point in points}) < 2:
        raise DataError(f"{result_set.path}: holds fewer than two results that could make a front")
    with style():
        axes: Axes = figure(7.2, 4.4).add_subplot(ylabel="AEP, GWh")
        for number, (one, colour) in enumerate(zip(fronts, shades(len(fronts)), strict=True)):
            marker = MARKERS[number % len(MARKERS)]
            for dominated, form in ((False, {"linewidth": 1}), (True, {"linewidth": 0, "mfc": "none"})):
                mine = [
                    (point.other, point.aep_gwh) for point in one.points if point.is_dominated == dominated
                ]
                label = None if dominated else f"{one.farm}, {one.type}"
                axes.plot(*zip(*mine, strict=True), marker=marker, markersize=4.5, color=colour, label=label,
                          **form)  # fmt: skip
        for point in points:
            if point.weight is not None:
                place = (point.other, point.aep_gwh)
                axes.annotate(f"{point.weight:.3g}", place, (4, 2), textcoords="offset points", fontsize=6.5)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(thousands)
        against = fronts[0].against
        axes.set_xlabel(against.label)
        axes.set_title(f"AEP against {against.label}; open marks are dominated, figures are weights")
        axes.legend(fontsize=8)
    return axes


def series(result_set: ResultSet) -> Axes:
    """Draw the smoothed power of the first evaluated farm over time, and the difference of each combination."""
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
