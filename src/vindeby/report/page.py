"""The page: its elements, in which every word that comes from a file is escaped, and its sections in their order."""

import base64
import contextlib
import hashlib
import json
import platform
import time
from collections.abc import Callable, Collection, Iterable
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote

from vindeby._version import __version__
from vindeby.assembly.physics import ENGINE_AEP, differences_in_words, far_from_engine
from vindeby.assembly.starts import GAIN
from vindeby.assembly.value import LCOE
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_in_words
from vindeby.campaign.reading.packed_lists import abridged
from vindeby.errors import DataError
from vindeby.plots import PICTURES
from vindeby.plots.layout import layout
from vindeby.plots.style import DOTS_PER_INCH, as_bytes
from vindeby.report import gather
from vindeby.results import humanize as words
from vindeby.results.groups import summaries
from vindeby.results.result_set import ResultSet
from vindeby.results.snapshot import Snapshot
from vindeby.results.web import asset
from vindeby.store.disk.files import read_bounded
from vindeby.store.format.root import OWN_FIELDS
from vindeby.text import parse_json, plural, printable

_CSS_DOTS_PER_INCH = 96
_AUDITS = 50
_ROWS = 500
_PHONE_WIDTH = 560
"""Pictures wider than this are scrolled on a phone, each in its own frame, rather than shrunk until unreadable."""


class ResultLink(str):
    """A key that leads to the drawing of its layout; the page's script follows it."""

    __slots__ = ()


def shown(text: str) -> str:
    """Return text for HTML, with characters that are not printable as their escapes."""
    return escape(printable(text))


def tag(name: str, text: str, **attributes: str) -> str:
    """Return an element that holds text; a trailing underscore in an attribute's name is dropped."""
    more = "".join(f' {key.rstrip("_")}="{shown(value)}"' for key, value in attributes.items())
    return f"<{name}{more}>{shown(text)}</{name}>"


def table(
    titles: Iterable[str], rows: Iterable[Iterable[str]], names: int = 1, minor: Collection[int] = ()
) -> str:
    """Return a table; the first columns are names, the others figures; ``minor`` ones are hidden on a phone."""
    head = "".join(tag("th", title, class_=_kind(index, names, minor)) for index, title in enumerate(titles))
    body = "".join(
        "<tr>" + "".join(_cell(cell, _kind(index, names, minor)) for index, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _kind(index: int, names: int, minor: Collection[int]) -> str:
    return ("name" if index < names else "figure") + (" minor" if index in minor else "")


def _cell(cell: str, kind: str) -> str:
    if not isinstance(cell, ResultLink):
        return tag("td", cell, class_=kind)
    address = f"#layout-{quote(cell, safe='')}"  # as encodeURIComponent of the script reads it
    return f'<td class="{kind}">{tag("a", cell, href=address, class_="key")}</td>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and values."""
    return (
        '<dl class="facts">' + "".join(tag("dt", name) + tag("dd", value) for name, value in pairs) + "</dl>"
    )


def picture(draw: Callable[..., Any], caption: str) -> str:
    """Return a picture in the size that it has on paper."""
    png = as_bytes(draw().figure)
    dots = (int.from_bytes(png[start : start + 4]) for start in (16, 20))  # as the header of a PNG has them
    width, height = (round(count * _CSS_DOTS_PER_INCH / DOTS_PER_INCH) for count in dots)
    kind = "scroll wide" if width > _PHONE_WIDTH else "scroll"
    return (
        f'<figure class="picture"><div class="{kind}">'
        f'<img src="{_address(png)}" alt="{shown(caption)}" width="{width}" height="{height}"></div>'
        f"{tag('figcaption', caption, class_='faint')}</figure>"
    )


def _address(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def setup(result_set: ResultSet) -> str:
    """Return the section of the best layout; empty without results and campaign."""
    pictures = "".join(_best_layout(result_set, shown) for shown in result_set.objectives)
    known = [] if result_set.campaign is None else campaign_facts(result_set.campaign)
    if not pictures and not known:
        return ""
    shown = f'<div class="pictures">{pictures}</div>' if pictures else ""
    return tag("h2", "The best layout, and how it was found") + shown + (facts(known) if known else "")


def _best_layout(result_set: ResultSet, shown: str) -> str:
    """Return a picture of the best layout by the objective that is ``shown``."""
    with contextlib.suppress(DataError):  # no result, or one without a layout that could be drawn
        key = result_set.best_key(shown)
        caption = f"{key}: the layout that {result_set.best_in_words(shown)}"
        return picture(partial(layout, result_set, key), caption)
    return ""


def campaign_facts(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the tasks, the search and the wind of a campaign in a few words each."""
    found = [("tasks", campaign.counts), ("how", campaign.search_in_words)]
    if campaign.is_about_wind:
        found.append(("wind", campaign.site.about))
        types = (f"t{index} {one.name}" for index, one in enumerate(campaign.turbines))
        found.append(("turbine types", ", ".join(types)))
    found += [(f"neighbours of {where}", what) for where, what in neighbours_in_words(campaign)]
    stated = {"objective": campaign.objective, "costs": campaign.costs}
    return found + [(name, one.title) for name, one in stated.items() if one is not None]


Progress = Callable[[str], None]


def build_report(result_set: ResultSet, progress: Progress = lambda _: None) -> str:
    """Return the whole page as text."""
    snapshot = result_set.look()
    progress("reading layouts")
    data = gather.results_data(result_set)
    progress("drawing the best layout")
    sections = [
        _summary(snapshot),
        _filter(result_set),
        setup(result_set),
        _combinations(result_set),
        best_table(result_set),
        _pictures(result_set, progress),
        _differences(result_set),
        _results(data),
        _failures(snapshot),
        _missing(snapshot),
        _bad_files(snapshot),
        _provenance(result_set),
    ]
    style, scripts = asset("look.css"), [asset("drawing.js"), asset("report.js")]
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {' '.join(map(_hash, scripts))}"
    )
    embedded = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            tag("title", f"{snapshot.name}: report"),
            f"<style>{style}</style></head><body>",
            *filter(None, sections),
            f'<script type="application/json" id="data">{embedded}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        ]
    )


def _filter(result_set: ResultSet) -> str:
    """Return a sentence on the condition of the results; empty if all are shown."""
    if result_set.where is None:
        return ""
    many, every = len(result_set.rows), len(result_set.answers)
    return tag(
        "p", f"What follows is about the {many:,} of {plural(every, 'result')} with {result_set.where}"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _summary(snapshot: Snapshot) -> str:
    figures = [
        ("expected", snapshot.expected),
        ("done", snapshot.done),
        ("missing", snapshot.missing),
        ("failed", snapshot.failed),
        ("invalid", snapshot.invalid),
        ("stale", snapshot.stale or None),
        ("running", snapshot.running or None),
        *((f"of unverified origin: {name}", count) for name, count in snapshot.origins.items()),
    ]
    items = "".join(f"<li><b>{value:,}</b>{shown(name)}</li>" for name, value in figures if value is not None)
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(snapshot.time))
    disk, bar = snapshot.disk, ""
    size = f", {words.size(disk.database)}" if disk is not None and disk.database else ""
    if snapshot.expected:
        done = min(snapshot.done, snapshot.expected)
        bar = f'<progress max="{snapshot.expected}" value="{done}"></progress>'
    return (
        tag("h1", snapshot.name)
        + tag("p", f"{snapshot.path}{size}; as it was on {made}", class_="faint")
        + f'<ul class="figures">{items}</ul>{bar}'
    )


def best_table(result_set: ResultSet) -> str:
    """Return the table of ``query --by`` for farms, types and axes, of two objectives with the best by each."""
    columns, second = ["farm", "type", *result_set.axes.axes], result_set.second
    other, label = (LCOE, "LCOE") if second is None else (second.attribute, second.label)
    of_best = {"n_turbines": "turbines", other: f"{label} of best", GAIN: "gain of best over its start, %"}
    lines, stated = list[list[str]](), list[dict[str, Any]]()
    for shown in result_set.objectives:
        by = [] if second is None else [label.partition(",")[0] if shown else "AEP"]
        for group in summaries(result_set, columns, shown):
            stated.append(dict(result_set.record(group["best"]).attributes))
            figures = (f"{group[name]:,.1f}" for name in ("aep_best", "aep_median", "aep_std"))
            shares = f"{group['results']:,}", f"{100 * group['wake_loss_best']:,.2f}"
            names = [*(str(group[name]) for name in columns), ResultLink(group["best"]), *by]
            lines.append([*names, *(text.replace("nan", "") for text in (*figures, *shares))])
    if not lines:
        return ""
    titles = [*columns, "best result", *([] if second is None else ["best by"])]
    count = len(titles)
    titles += [
        "AEP of best, GWh",
        "median AEP, GWh",
        "standard deviation, GWh",
        "results",
        "wake loss of best, %",
    ]
    for attribute, title in of_best.items():
        if any(attribute in one for one in stated):
            titles.append(title)
            for line, one in zip(lines, stated, strict=True):
                line.append(f"{one[attribute]:,.6g}" if attribute in one else "")
    body = table(titles, lines, names=count, minor=range(count + 1, count + 4))
    command = f"vindeby query {result_set.path.name} --by {','.join(columns)} --to latex"
    return (
        tag("h2", "The best of each farm and type")
        + body
        + tag("p", f"For a paper: {command}", class_="faint")
    )


def _combinations(result_set: ResultSet) -> str:
    """Return a table of the first results of stored layouts, with combination and losses."""
    if result_set.campaign is None or result_set.campaign.stored is None or not result_set.keys:
        return ""
    lines: list[list[str]] = []
    for key in result_set.keys[:_ROWS]:
        record, place = result_set.record(key), result_set.place(key)
        aep = f"{float(record.arrays['aep']):,.3f}" if "aep" in record.arrays else ""
        losses = [record.arrays.get(f"loss_{name}") for name in ("internal", "external", "total")]
        names = ", ".join(result_set.axes.values_of(place.combination))
        stands = str(record.attributes.get("neighbour_layouts", ""))
        figures = [aep, *("" if loss is None else f"{100 * float(loss):.2f}" for loss in losses)]
        cell = (result_set.axes.farm_name(place.farm_idx), result_set.axes.cell_name(*place.cell))
        lines.append([ResultLink(key), *cell, names, *figures, stands])
    titles = ("result", "farm", "type", "combination", "AEP, GWh")
    columns = (*titles, "own wakes, %", "neighbours' wakes, %", "all wakes, %", "neighbours")
    more = f", the first {len(lines):,}" if len(lines) < len(result_set.keys) else ""
    return tag("h2", f"Combinations{more}") + table(columns, lines, names=4, minor=(1, 2, 7, 8))


def _pictures(result_set: ResultSet, progress: Progress) -> str:
    """Return the pictures of a campaign that have something to show."""
    parts = list[str]()
    for name, (draw, caption) in PICTURES.items():
        with contextlib.suppress(DataError):  # the database does not hold what this picture needs
            parts.append(picture(partial(draw, result_set), caption))
            progress(f"drew {name}")
    return tag("h2", "Pictures") + f'<div class="columns">{"".join(parts)}</div>' if parts else ""


def _results(data: dict[str, Any]) -> str:
    if not data["results"]:
        return tag("h2", "Results") + tag("p", "There are none yet.")
    return (
        '<section class="screen-only"><h2>All results</h2>'
        "<noscript>The table needs JavaScript.</noscript>"
        '<div class="tools"><label>filter <input id="filter" type="search" placeholder="farm0 t5"></label>'
        '<button class="plain" type="button" id="before">previous</button>'
        '<button class="plain" type="button" id="after">next</button><span id="place" role="status"></span></div>'
        '<div class="both"><div class="scroll"><table><thead><tr id="head"></tr></thead>'
        '<tbody id="rows"></tbody></table></div><div class="drawing" id="drawing" aria-live="polite"></div></div>'
        "</section>"
    )


def _differences(result_set: ResultSet) -> str:
    """Describe energies of a user's function that the wake model does not give."""
    calls = () if result_set.campaign is None else (step.call for step in result_set.campaign.method)
    if not any(call is not None and call.energy_is_compared for call in calls):
        return ""
    rows = result_set.rows
    keys = [key.decode(errors="replace") for key in rows["key"].tolist()]
    differences = differences_in_words(far_from_engine(keys, rows["aep"], rows[ENGINE_AEP]))
    return tag("p", differences) if differences else ""


def _failures(snapshot: Snapshot) -> str:
    if not snapshot.failures:
        return ""
    parts = [tag("h2", f"Failures ({len(snapshot.failures):,})")]
    for failure in snapshot.failures:
        summary = f"{failure.key}: {failure.kind}: {failure.reason}"
        about = f"{words.moment(failure.time)}, attempts: {failure.attempts}, log: {failure.log or 'none'}"
        parts.append(f"<details>{tag('summary', summary)}{tag('p', about, class_='faint')}")
        parts.append((tag("pre", failure.traceback) if failure.traceback else "") + "</details>")
    return "".join(parts)


def _missing(snapshot: Snapshot) -> str:
    rows = gather.missing_by_cell(snapshot)
    if not rows:
        return ""
    title = tag("h2", f"Missing ({snapshot.missing:,})")
    return title + table(("farm", "type", "why", "seeds"), rows, names=4)


def _bad_files(snapshot: Snapshot) -> str:
    if not snapshot.bad_files:
        return ""
    rows = ((bad.path, "; ".join(bad.findings)) for bad in snapshot.bad_files)
    return tag("h2", "Files with problems") + table(("file", "what"), rows, names=2)


def _provenance(result_set: ResultSet) -> str:
    """Return the provenance of results: root attributes, versions, records of merges, the campaign file."""
    known = [("file", result_set.path.name)]
    for name, value in sorted(result_set.source.attributes.items()):
        if name not in {"campaign", "schemas", "kind", "study", OWN_FIELDS}:
            known.append((name, str(value)))
    known.append(("report made by", f"vindeby {__version__}, Python {platform.python_version()}"))
    parts = [tag("h2", "Where this comes from"), facts(known)]
    for path in sorted(result_set.run.audit.glob("*.json"), reverse=True)[:_AUDITS]:
        with contextlib.suppress(OSError, ValueError):
            entry = parse_json(read_bounded(path))
            if isinstance(entry, dict):
                when, outcome, records = (entry.get(name, "") for name in ("time", "outcome", "records"))
                text = json.dumps({**entry, "record": path.name}, indent=1)
                head = tag("summary", f"merge {when}: {outcome}, records: {records}")
                parts.append(f"<details>{head}{tag('pre', text)}</details>")
    if result_set.campaign is not None:
        text = abridged(result_set.campaign.dumps())
        parts.append(f"<details>{tag('summary', 'the campaign file')}{tag('pre', text)}</details>")
    return "".join(parts)
