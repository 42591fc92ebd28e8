"""How objects show themselves in a notebook: small tables and pictures as HTML and inline SVG.

Whatever comes from a file may hold any character, so every text goes through ``escaped``. No library is needed, and
colours are the notebook's own, so that it reads on dark pages too.
"""

import html
import math
from collections.abc import Iterable, Sequence

from vindeby.text import one_line, plural

_PICTURE_PX = 200.0
_MARGIN_PX = 8.0
_MOST_ROWS = 30


def escaped(text: object) -> str:
    """A text in one line for HTML; what cannot be printed is shown as Python writes it."""
    return html.escape(one_line(str(text)))


def heading(title: object, rest: str = "") -> str:
    """A line with its first words in bold."""
    bold = f"<b>{escaped(title)}</b> " if title else ""
    return f"<div>{bold}{escaped(rest)}</div>"


def table(titles: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table; of a long one, the first rows and how many more there are."""
    head = "".join(f"<th>{escaped(title)}</th>" for title in titles)
    body = "".join(
        f"<tr>{''.join(f'<td>{escaped(value)}</td>' for value in row)}</tr>" for row in rows[:_MOST_ROWS]
    )
    if len(rows) > _MOST_ROWS:
        more = escaped(f"... and {len(rows) - _MOST_ROWS:,} more")
        body += f'<tr><td colspan="{len(titles)}">{more}</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def layout_picture(x: Iterable[float], y: Iterable[float], title: str = "") -> str:
    """Turbines as dots, north at the top, with the width and the height of what they cover."""
    points = [
        (float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)
    ]
    if not points:
        return f"<div>{escaped('no positions to draw')}</div>"
    west, south = (min(values) for values in zip(*points, strict=True))
    east, north = (max(values) for values in zip(*points, strict=True))
    width_m, height_m = east - west, north - south
    largest = max(width_m, height_m)
    if not 0.0 < largest < math.inf:
        largest = 1.0
    scale = (_PICTURE_PX - 2 * _MARGIN_PX) / largest
    width_px, height_px = (
        min(length * scale, _PICTURE_PX) + 2 * _MARGIN_PX for length in (width_m, height_m)
    )
    dots = "".join(
        f"M{_MARGIN_PX + (a - west) * scale:.1f} {_MARGIN_PX + (north - b) * scale:.1f}h0" for a, b in points
    )
    label = f"{plural(len(points), 'turbine')}, {width_m / 1000:.3g} km x {height_m / 1000:.3g} km"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width_px:.0f}" height="{height_px:.0f}" role="img">'
        f"<title>{escaped(f'{title}: {label}' if title else label)}</title>"
        f'<path d="{dots}" stroke="#3b7dd8" stroke-width="5" stroke-linecap="round"/></svg>'
        f"<div>{escaped(label)}</div>"
    )
