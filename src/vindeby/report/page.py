"""The page itself: its sections in their order."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

from vindeby.assembly.physics import ENGINE_AEP, differences_in_words, far_from_engine
from vindeby.campaign.reading.packed_lists import abridged
from vindeby.errors import DataError
from vindeby.plots.campaign import PICTURES, Picture
from vindeby.report import gather
from vindeby.report.elements import ResultLink, facts, picture, shown, table, tag
from vindeby.report.setup import setup
from vindeby.results import humanize as words
from vindeby.results.observer import Observer
from vindeby.results.result_set import ResultSet
from vindeby.results.snapshot import Snapshot
from vindeby.results.web import asset

Progress = Callable[[str], None]


def build_report(result_set: ResultSet, observer: Observer, progress: Progress = lambda _: None) -> str:
    """The whole page as text."""
    snapshot = observer.look()
    progress("reading layouts")
    data = gather.results_data(result_set)
    progress("drawing the best layout")
    sections = [
        _summary(snapshot),
        setup(result_set),
        _differences(result_set),
        _combinations(result_set),
        _best(result_set),
        _pictures(result_set, progress),
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
        ("of an older campaign", snapshot.stale or None),
        ("running", snapshot.running or None),
        *((f"of unverified origin: {name}", count) for name, count in snapshot.origins.items()),
    ]
    items = "".join(f"<li><b>{value:,}</b>{shown(name)}</li>" for name, value in figures if value is not None)
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(snapshot.time))
    size = (
        ""
        if snapshot.disk is None
        else f", {words.size(snapshot.disk.database + snapshot.disk.run_directory)}"
    )
    bar = ""
    if snapshot.expected:
        bar = (
            f'<progress max="{snapshot.expected}" value="{min(snapshot.done, snapshot.expected)}"></progress>'
        )
    return (
        tag("h1", snapshot.name)
        + tag("p", f"{snapshot.path}{size}; as it was on {made}", class_="faint")
        + f'<ul class="figures">{items}</ul>{bar}'
    )


def _differences(result_set: ResultSet) -> str:
    """Energies of a user's function that the wake model does not give."""
    calls = () if result_set.campaign is None else (step.call for step in result_set.campaign.method)
    if not any(call is not None and call.energy_is_compared for call in calls):
        return ""
    rows = result_set.rows
    keys = [key.decode(errors="replace") for key in rows["key"].tolist()]
    told = differences_in_words(far_from_engine(keys, rows["aep"], rows[ENGINE_AEP]))
    return tag("p", told) if told else ""


def _best(result_set: ResultSet) -> str:
    rows = gather.best_table(result_set)
    if not rows:
        return ""
    lines = []
    for farm, kind, key, count, best, median, loss in rows:
        figures = (f"{best:,.1f}", f"{median:,.1f}", "" if loss is None else f"{loss:.2f}")
        lines.append((farm, kind, ResultLink(key), count, *figures))
    titles = ("farm", "type", "best result", "turbines", "best AEP, GWh", "median AEP, GWh")
    head = tag("h2", "The best of each farm and type")
    return head + table((*titles, "wake loss of best, %"), lines, names=3, minor=(3, 5))


def _drawn(draw: Picture, result_set: ResultSet, dark: bool) -> Any:
    return draw(result_set, dark=dark)


def _combinations(result_set: ResultSet) -> str:
    rows = gather.combination_table(result_set)
    if not rows:
        return ""
    titles = ("result", "farm", "type", "combination", "AEP, GWh")
    losses = ("own wakes, %", "neighbours' wakes, %", "all wakes, %", "neighbours")
    lines: list[list[str | ResultLink]] = [[ResultLink(key), *rest] for key, *rest in rows]
    more = f", the first {len(rows):,}" if len(rows) < len(result_set.keys) else ""
    return tag("h2", f"Combinations{more}") + table((*titles, *losses), lines, names=4, minor=(1, 2, 7, 8))


def _pictures(result_set: ResultSet, progress: Progress) -> str:
    parts = [tag("h2", "Pictures")]
    for name, (draw, caption) in PICTURES.items():
        if name == "wind":
            continue  # shown at the top
        progress(f"drawing {name}")
        try:
            parts.append(picture(partial(_drawn, draw, result_set), caption))
        except DataError:
            continue  # a database that does not tell this
    return "".join(parts) if len(parts) > 1 else ""


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
    return tag("h2", "Files with something wrong") + table(("file", "what"), rows, names=2)


def _provenance(result_set: ResultSet) -> str:
    parts = [tag("h2", "Where this comes from"), facts(gather.provenance(result_set))]
    for entry in gather.audits(result_set):
        head = (
            f"merge {entry.get('time', '')}: {entry.get('outcome', '')}, {entry.get('records', '')} records"
        )
        parts.append(f"<details>{tag('summary', head)}{tag('pre', json.dumps(entry, indent=1))}</details>")
    if result_set.campaign is not None:
        text = abridged(result_set.campaign.dumps())
        parts.append(f"<details>{tag('summary', 'the campaign file')}{tag('pre', text)}</details>")
    return "".join(parts)
