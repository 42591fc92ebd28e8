"""A picture of a mix among neighbours says of both what they are."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from vindeby.plots import shapes
from vindeby.plots.shapes import MixedTypes, draw_mixed


def test_the_legend_names_the_types_and_the_neighbours() -> None:
    axes = Figure().subplots()
    shapes.draw_neighbours(axes, np.array([[0.0], [900.0]]), 1, (0.0, 0.0))
    mixed = MixedTypes(np.array([0, 1, 0]), ("small", "large"), (120.0, 160.0), (360.0, 480.0))
    draw_mixed(axes, np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]), mixed, 270.0)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["small (2)", "large (1)", "neighbours (1)"]
