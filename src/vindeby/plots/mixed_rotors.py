"""The turbines of a farm with several types: rotors and least distances to scale, and a colour for each type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from vindeby.plots import shapes
from vindeby.plots.style import FAINT, MARKERS, shades

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class MixedTypes:
    """Of which type each turbine is, and the name, diameter and spacing (m) of each type."""

    types: IntArray
    names: tuple[str, ...]
    diameters_m: tuple[float, ...]
    spacings_m: tuple[float, ...]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How many there are of each."""
        counts = np.bincount(self.types, minlength=len(self.names))
        return [(name, f"{count}") for name, count in zip(self.names, counts.tolist(), strict=True)]


def draw_mixed(axes: Axes, places_km: FloatArray, mixed: MixedTypes, direction: float | None) -> None:
    """Draw all turbines, those of a type in one colour with one sign, and say which is which."""
    handles = []
    for kind, (name, colour) in enumerate(zip(mixed.names, shades(len(mixed.names)), strict=True)):
        mine = places_km[:, mixed.types == kind]
        if mixed.spacings_m[kind]:
            shapes.draw_spacing(
                axes, mine, mixed.spacings_m[kind], edgecolor=FAINT, linewidth=0.5, linestyle=(0, (3, 2))
            )
        shapes.draw_rotors(axes, mine, mixed.diameters_m[kind], direction, color=colour, zorder=5)
        marker = MARKERS[kind % len(MARKERS)]
        axes.plot(*mine, marker, markersize=3, color=colour, markeredgewidth=0, zorder=5)
        handles.append(
            Line2D([], [], linestyle="none", marker=marker, markersize=4.5, color=colour, markeredgewidth=0,
                   label=f"{name} ({mine.shape[1]})")
        )  # fmt: skip
    already, _ = axes.get_legend_handles_labels()  # neighbours, if there are any
    axes.legend(handles=[*handles, *already], loc="best", fontsize=7)
