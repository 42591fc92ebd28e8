"""The style of pictures, and their files."""

import contextlib
import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from vindeby.errors import ArgumentError
from vindeby.store.disk.output_file import write_file

FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 150
INK, PAPER, FAINT, STRONG = "#1a1a1a", "#ffffff", "#8a8a8a", "#440154"
MARKERS = "osD^vP*Xh<>p"
WAKE_COLOURS = "Blues_r"
"""Colours of wakes: the free wind is almost white, and the slowest wind stands out most."""
_VISIBLE = {"viridis": 0.6, "Greys_r": 0.49}
"""The share of a colour map, from its dark end, with a contrast of 3 or more against the page (WCAG 1.4.11)."""
_MARGIN = 0.1

_SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.5,
    "grid.alpha": 0.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.09,
    "figure.constrained_layout.w_pad": 0.09,
    "grid.color": "#cccccc",
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    "date.converter": "concise",
    "svg.hashsalt": "vindeby",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.formatter.useoffset": False,
    "text.parse_math": False,  # a farm may be called $1
}


def style() -> contextlib.AbstractContextManager[None]:
    """Return a context to draw in, which leaves the settings of others unchanged."""
    return mpl.rc_context(_SETTINGS)


def shades(count: int, name: str = "viridis") -> list[Any]:
    """Return this many colours of a colour map, all of which stand out from the page."""
    return list(mpl.colormaps[name](np.linspace(0.0, _VISIBLE[name], count)))


def legend_mark(marker: str, colour: Any, label: str, size: float = 4.5) -> Line2D:
    """Return an entry of a legend: a marker in a colour."""
    look = {"color": colour, "markeredgewidth": 0, "linestyle": "none"}
    return Line2D([], [], marker=marker, markersize=size, label=label, **look)


def thousands(value: float, _: object) -> str:
    """Return the text of a number on an axis: ``12,500``."""
    return f"{value:,.10g}"


def figure(width: float, height: float) -> Figure:
    """Return a figure of this size in inches, without a window and in no global list."""
    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH)


def as_bytes(drawn: Figure | SubFigure, kind: str = "png") -> bytes:
    """Return a figure as the content of a file; the same figure always gives the same bytes."""
    buffer = io.BytesIO()
    whole = drawn if isinstance(drawn, Figure) else drawn.figure
    date = {"svg": "Date", "pdf": "CreationDate"}.get(kind)
    metadata = None if date is None else {date: None, "Creator": "vindeby"}
    with style():  # a figure may be saved outside the context of its style
        # Maps keep their shape, so the layout of a figure may put their titles and labels outside of it.
        whole.savefig(buffer, format=kind, metadata=metadata, bbox_inches="tight", pad_inches=_MARGIN)
    return buffer.getvalue()


def format_of(path: Path) -> str:
    """Return the format that the name of a file asks for."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ArgumentError(
            f"{path}: pictures are made as {', '.join(FORMATS)}; end the name in one of these"
        )
    return kind


def save(drawn: Figure | SubFigure, path: Path) -> None:
    """Write a picture, completely or not at all."""
    write_file(path, as_bytes(drawn, format_of(path)))
