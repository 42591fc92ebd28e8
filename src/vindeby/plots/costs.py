"""What layouts cost: the parts of the LCOE of the best results, and the water depth under a layout."""

import numpy as np
from matplotlib.axes import Axes

from vindeby.assembly.value import LCOE, PARTS
from vindeby.errors import DataError
from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, draw_surroundings
from vindeby.plots.style import figure, ink, shades, style
from vindeby.results.result_set import ResultSet
from vindeby.store.format.record import Record

_CAPEX = [name for name in PARTS if name not in ("capex_eur", "opex_eur_per_year")]
_MOST_BARS = 60


def _parts_of(record: Record) -> list[float] | None:
    """What each part adds to the LCOE (EUR per MWh): those of the capex by their shares, then the opex."""
    said = [record.attributes.get(name) for name in (*_CAPEX, "capex_eur", "opex_eur_per_year", LCOE)]
    numbers = [float(one) for one in said if isinstance(one, int | float)]
    if len(numbers) < len(said) or "aep" not in record.arrays:
        return None
    *parts, capex, opex, lcoe = numbers
    by_opex = opex / (1000.0 * float(record.arrays["aep"].ravel()[0]))
    return [part / capex * (lcoe - by_opex) if capex else 0.0 for part in parts] + [by_opex]


def costs(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """The parts of the LCOE of the best result of each farm and type."""
    found: dict[str, list[float]] = {}
    for (farm, kind), row in sorted(result_set.best().items())[:_MOST_BARS]:
        parts = _parts_of(result_set.record(result_set.key_of(row)))
        if parts is not None:
            found[f"{result_set.farm_name(farm)}, {result_set.cell_name(farm, kind)}"] = parts
    if not found:
        raise DataError(f"{result_set.path}: its results do not say what they cost; give the campaign costs")
    values = np.array(list(found.values()))
    labels = [PARTS[name] for name in _CAPEX] + ["opex"]
    used = [index for index in range(len(labels)) if values[:, index].any()]
    with style(dark=dark):
        axes: Axes = figure(7.2, 1.8 + 0.3 * len(found)).add_subplot()
        left = np.zeros(len(found))
        for colour, index in zip(shades(len(used)), used, strict=True):
            axes.barh(list(found), values[:, index], left=left, color=colour, label=labels[index])
            left += values[:, index]
        for line, total in enumerate(left):
            axes.text(total, line, f"  {total:.2f}", va="center", fontsize=7.5, color=ink())
        axes.set(ylim=(len(found) - 0.4, -0.6), xlabel="EUR per MWh")
        axes.margins(x=0.12)
        axes.grid(visible=False, axis="y")
        axes.set_title("The parts of the LCOE, of the best of each farm and type")
        axes.figure.legend(loc="outside lower center", ncols=len(used), fontsize=8)
    return axes


def depth(result_set: ResultSet, *, dark: bool = False) -> Axes:
    """The water depth under the best layout of the campaign's first farm that has one."""
    drawn = [Drawn(result_set, result_set.key_of(row)) for _, row in sorted(result_set.best().items())[:1]]
    if not drawn or drawn[0].depth is None:
        raise DataError(
            f"{result_set.path}: the water depth is not known; give the campaign a grid of depths"
        )
    best, grid = drawn[0], drawn[0].depth
    with style(dark=dark):
        axes: Axes = figure(*shapes.paper_for(best.box)).add_subplot()
        shapes.draw_depth(axes, grid, best.origin, filled=True)
        draw_surroundings(axes, best, best.box)
        shapes.draw_rotors(axes, best.places_km, best.diameter_m, None, color=ink(), zorder=5)
        axes.set_title(f"{best.key}: {best.cell}")
    return axes
