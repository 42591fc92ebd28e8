"""Two layouts of a farm in one picture."""

import numpy as np
from matplotlib.axes import Axes

from vindeby.errors import ArgumentError
from vindeby.plots import shapes
from vindeby.plots.layout import Drawn, draw_surroundings
from vindeby.plots.style import figure, style
from vindeby.results.difference import unlike_sections
from vindeby.results.result_set import ResultSet


def compare(result_set: ResultSet, before: str, after: str, other: ResultSet | None = None) -> Axes:
    """Draw one layout in outline, another in full, and an arrow from each place to the one that took it over.

    Turbines have no identity across layouts; they are paired so that the arrows are short. Where one layout has more
    turbines, those left over have no arrow. ``after`` may be in another database.
    """
    pair_of = (result_set, before), (other or result_set, after)
    first, second = (Drawn(results, key) for results, key in pair_of)
    names = [key if other is None else f"{results.path}: {key}" for results, key in pair_of]
    if not _is_same_farm(first, second, *(results.place(key)[0] for results, key in pair_of)):
        which = " and ".join(names)
        raise ArgumentError(f"{which} are in different farms; compare two layouts of one farm")
    box = shapes.frame(first.area, np.hstack([first.places, second.places, first.neighbours]))
    old, new = (shapes.in_km(drawn.places, first.origin) for drawn in (first, second))
    with style():
        width, height = shapes.paper_for(box)
        axes = figure(max(width, 5.6), height + 0.8).add_subplot()
        draw_surroundings(axes, first, box)
        axes.plot(*old, "o", markersize=6, markerfacecolor="none", markeredgecolor="#5b7fa6", label=names[0])
        axes.plot(*new, "o", markersize=5, color="#00224e", label=names[1])
        shapes.draw_moves(axes, old, new)
        unlike = [] if other is None else unlike_sections(*pair_of)
        axes.set_title(f"{first.key} → {second.key}\n" + _worth(first, second, unlike))
        axes.figure.legend(loc="outside lower center", ncols=2)
    return axes


def _is_same_farm(first: Drawn, second: Drawn, *numbers: int) -> bool:
    """Return whether two layouts share an area; where none is known, whether their farms have the same number."""
    if first.area is None or second.area is None:
        return numbers[0] == numbers[1]
    return bool(first.area.intersects(second.area))


def _worth(first: Drawn, second: Drawn, unlike: list[str]) -> str:
    if first.aep_gwh is None or second.aep_gwh is None:
        return first.title
    change = f"{100 * (second.aep_gwh / first.aep_gwh - 1.0):+.2f} %"
    if unlike:
        change = f"not comparable, as the campaigns differ in {', '.join(unlike)}"
    text = f"{first.aep_gwh:,.1f} → {second.aep_gwh:,.1f} GWh ({change})"
    if first.farm is not None and second.farm is not None:
        text += f", wake loss {100 * first.wake_loss:.2f} → {100 * second.wake_loss:.2f} %"
    return text
