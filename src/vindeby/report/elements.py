"""The elements of a page. Every word that comes from a file is escaped here, once."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from vindeby.plots.style import as_bytes, size_in_inches
from vindeby.printable import printable

_CSS_DOTS_PER_INCH = 96
_PHONE_WIDTH = 560
"""Pictures wider than this are scrolled on a phone, each in its own frame, rather than shrunk until unreadable."""


@dataclass(frozen=True)
class ResultLink:
    """A key that leads to the drawing of its layout; the page's script follows it."""

    key: str

    @property
    def address(self) -> str:
        """As ``encodeURIComponent`` of the script reads it."""
        return f"#layout-{quote(self.key, safe='')}"


def shown(text: str) -> str:
    """Text for HTML; what is not printable, surrogates and marks of direction among it, is seen as its escape."""
    return escape(printable(text))


def tag(name: str, text: str, **attributes: str) -> str:
    """An element that holds text; a trailing underscore in an attribute's name is dropped."""
    more = "".join(f' {key.rstrip("_")}="{shown(value)}"' for key, value in attributes.items())
    return f"<{name}{more}>{shown(text)}</{name}>"


def table(
    titles: Iterable[str],
    rows: Iterable[Iterable[str | ResultLink]],
    names: int = 1,
    minor: Collection[int] = (),
) -> str:
    """A table whose first columns are names and whose others are figures; ``minor`` ones are hidden on a phone."""
    head = "".join(tag("th", title, class_=_kind(index, names, minor)) for index, title in enumerate(titles))
    body = "".join(
        "<tr>" + "".join(_cell(cell, _kind(index, names, minor)) for index, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _kind(index: int, names: int, minor: Collection[int]) -> str:
    return ("name" if index < names else "figure") + (" minor" if index in minor else "")


def _cell(cell: str | ResultLink, kind: str) -> str:
    if isinstance(cell, str):
        return tag("td", cell, class_=kind)
    return f'<td class="{kind}">{tag("a", cell.key, href=cell.address, class_="key")}</td>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what they mean."""
    return (
        '<dl class="facts">' + "".join(tag("dt", name) + tag("dd", value) for name, value in pairs) + "</dl>"
    )


def picture(draw: Callable[[bool], Any], caption: str) -> str:
    """A picture for light and for dark pages, in the size that it has on paper."""
    light, dark = draw(False), draw(True)
    width, height = (round(inches * _CSS_DOTS_PER_INCH) for inches in size_in_inches(light.figure))
    kind = "scroll wide" if width > _PHONE_WIDTH else "scroll"
    return (
        f'<figure class="picture"><div class="{kind}"><picture>'
        f'<source media="(prefers-color-scheme: dark)" srcset="{_address(dark)}">'
        f'<img src="{_address(light)}" alt="{shown(caption)}" width="{width}" height="{height}"></picture></div>'
        f"{tag('figcaption', caption, class_='faint')}</figure>"
    )


def _address(axes: Any) -> str:
    return "data:image/png;base64," + base64.b64encode(as_bytes(axes.figure)).decode()
