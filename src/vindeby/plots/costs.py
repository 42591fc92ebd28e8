"""What layouts cost: the parts of the LCOE of the best results, the water depth under a layout, and its cables."""

from functools import partial

import numpy as np
from matplotlib.axes import Axes

from vindeby.assembly.value import CABLE_LENGTH, LCOE, PARTS
from vindeby.errors import DataError
from vindeby.plots.layout import Drawn, layout_map
from vindeby.plots.style import stacked_bars, style
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


def costs(result_set: ResultSet) -> Axes:
    """The parts of the LCOE of the best result of each farm and type."""
    found: dict[str, list[float]] = {}
    for place, row in [*result_set.best(LCOE).items()][:_MOST_BARS]:
        parts = _parts_of(result_set.record(result_set.key_of(row)))
        if parts is not None:
            found[result_set.axes.cell_in_words(*place)] = parts
    if not found:
        raise DataError(f"{result_set.path}: its results do not say what they cost; give the campaign costs")
    values = np.array(list(found.values()))
    labels = [PARTS[name] for name in _CAPEX] + ["opex"]
    shown = {label: values[:, index] for index, label in enumerate(labels) if values[:, index].any()}
    with style():
        axes = stacked_bars(list(found), shown, [f"{total:.2f}" for total in values.sum(axis=1)])
        axes.set_xlabel("EUR per MWh")
        second = result_set.second
        by = "" if second is None else f" by {'LCOE' if second.attribute == LCOE else 'AEP'}"
        axes.set_title(f"The parts of the LCOE, of the best of each farm and type{by}")
    return axes


def _map_of_best(result_set: ResultSet, *, shown: str, ground: str, missing: str) -> Axes:
    """The layout that is best by the objective that is ``shown``."""
    key = result_set.best_key(shown)
    drawn = Drawn(result_set, key)
    if (drawn.depth if ground == "depth" else drawn.routes) is None:
        raise DataError(f"{result_set.path}: {missing}")
    return layout_map(result_set, key, ground=ground)


_NO_DEPTH = "the water depth is not known; give the campaign a grid of depths"
depth = partial(_map_of_best, shown=LCOE, ground="depth", missing=_NO_DEPTH)
_NO_CABLES = "its results have no cables; give the costs of the campaign cables"
cables = partial(_map_of_best, shown=CABLE_LENGTH, ground="nothing", missing=_NO_CABLES)
