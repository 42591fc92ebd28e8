"""How pictures look, and how they become files."""

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from vindeby.errors import ArgumentError
from vindeby.store.disk.output_file import write_file

FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 150
INK, PAPER, FAINT = "#1a1a1a", "#ffffff", "#8a8a8a"
LEAST_CONTRAST = 3.0
"""Of what carries meaning against its page, by the Web Content Accessibility Guidelines (1.4.11)."""
MARKERS = "osD^vP*Xh<>p"
_MARGIN = 0.1

_COMMON = {
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
    "svg.hashsalt": "vindeby",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.formatter.useoffset": False,
    "text.parse_math": False,  # a farm may be called $1
}
_LIGHT = {"page": PAPER, "text": INK, "edge": INK, "grid": "#cccccc"}
_DARK = {"page": "#16191d", "text": "#e6e6e6", "edge": "#b0b0b0", "grid": "#3a3f45"}
_COLOURED = {
    "page": ("figure.facecolor", "axes.facecolor"),
    "text": ("text.color", "axes.labelcolor", "xtick.color", "ytick.color"),
    "edge": ("axes.edgecolor",),
    "grid": ("grid.color",),
}
"""The settings of matplotlib that have each of these colours."""


def style(*, dark: bool = False) -> contextlib.AbstractContextManager[None]:
    """Draw inside this context; the settings of others are not changed."""
    colours = _DARK if dark else _LIGHT
    settings: Any = _COMMON | {name: colours[part] for part, names in _COLOURED.items() for name in names}
    return mpl.rc_context(settings)


def ink() -> str:
    """The colour of text in the current style."""
    return str(mpl.rcParams["text.color"])


def paper() -> str:
    """The colour of the page in the current style."""
    return str(mpl.rcParams["figure.facecolor"])


def shades(count: int) -> list[Any]:
    """This many colours of viridis, without the end that would vanish against the page."""
    return _steps(ramp(), count)


def greys(count: int) -> list[Any]:
    """This many greys that stand out from the page, for a figure whose colours already have a meaning."""
    return _steps(ramp("Greys_r"), count)


def _steps(colours: Any, count: int) -> list[Any]:
    return [colours(index / max(1, count - 1)) for index in range(count)]


def ramp(name: str = "viridis") -> LinearSegmentedColormap:
    """The part of a colour map that stands out from the current page."""
    every = mpl.colormaps[name](range(256))
    kept = [colour for colour in every if contrast(colour, paper()) >= LEAST_CONTRAST]
    return LinearSegmentedColormap.from_list("visible", kept)


def contrast(one: Any, other: Any) -> float:
    """The contrast ratio of two colours, 1 to 21, as the Web Content Accessibility Guidelines define it."""
    low, high = sorted(_luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Any) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_on(colour: Any) -> str:
    """Black or white, whichever can be read better on a colour."""
    return max(("#000000", "#ffffff"), key=lambda text: contrast(text, colour))


def slow_to_free() -> Any:
    """The blue of wakes: the free wind has the colour of the page, the slowest wind stands out most."""
    if paper() == PAPER:
        return mpl.colormaps["Blues_r"]
    return LinearSegmentedColormap.from_list("wakes", ["#9ecaff", "#2f6fb5", paper()])


def legend_mark(marker: str, colour: Any, label: str, size: float = 4.5, *, is_open: bool = False) -> Line2D:
    """An entry of a legend: a mark in a colour, filled or open."""
    look = {"color": "none", "markeredgecolor": colour, "markeredgewidth": 0.6}
    if not is_open:
        look = {"color": colour, "markeredgewidth": 0}
    return Line2D([], [], linestyle="none", marker=marker, markersize=size, label=label, **look)


def thousands(value: float, _: object) -> str:
    """A number on an axis: ``12,500``."""
    return f"{value:,.10g}"


def label_points(
    axes: Axes, points: Sequence[tuple[float, float]], texts: Sequence[str], size: float = 6.5
) -> None:
    """A text beside each point, where it hides no point and no other text; none where there is no such place."""
    axes.autoscale_view()
    places = axes.transData.transform(np.array(points)) * 72.0 / DOTS_PER_INCH
    taken = [shapely.Point(place).buffer(3.0) for place in places]
    for place, point, text in zip(places, points, texts, strict=True):
        width = 0.64 * size * len(text)
        for right, up in ((4, -2 - size), (4, 2), (-4 - width, 2), (-4 - width, -2 - size)):
            left, bottom = place + np.array([right, up])
            box = shapely.box(left, bottom, left + width, bottom + size)
            if not shapely.intersects(box, taken).any():
                axes.annotate(text, point, (right, up), textcoords="offset points", fontsize=size)
                taken.append(box)
                break


def strong() -> Any:
    """The colour of a single line or of many equal points."""
    return shades(3)[0 if paper() == PAPER else 2]


def figure(width: float, height: float) -> Figure:
    """A figure of this size in inches, without a window and in no global list."""
    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH)


def as_bytes(drawn: Figure | SubFigure, kind: str = "png") -> bytes:
    """The figure as the content of a file; the same figure always gives the same bytes."""
    buffer = io.BytesIO()
    whole = drawn if isinstance(drawn, Figure) else drawn.figure
    date = {"svg": "Date", "pdf": "CreationDate"}.get(kind)
    metadata = None if date is None else {date: None, "Creator": "vindeby"}
    with style():  # a figure may be saved outside the context of its style
        # Maps keep their shape, so the layout of a figure may put their titles and labels outside of it.
        whole.savefig(buffer, format=kind, metadata=metadata, bbox_inches="tight", pad_inches=_MARGIN)
    return buffer.getvalue()


def format_of(path: Path) -> str:
    """The format that a file's name asks for."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ArgumentError(
            f"{path}: pictures are made as {', '.join(FORMATS)}; end the name in one of these"
        )
    return kind


def save(drawn: Figure | SubFigure, path: Path) -> None:
    """Write a picture, as a whole or not at all."""
    write_file(path, as_bytes(drawn, format_of(path)))
