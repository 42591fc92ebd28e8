"""``vindeby cases``: the open cases and their records; ``--check`` judges these, ``--score`` a layout of yours."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vindeby.cli.options import JsonOption
from vindeby.cli.output import echo, echo_json, say
from vindeby.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from vindeby.cases import Case

_WIDTH_OF_A_FILE = 150
_SAME = 1e-9
"""A stored worth may differ by so much, relatively, from what the judge says."""


def command(
    layout: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="With --score: a table with x and y, in metres.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Judge every stored layout again.")] = False,
    score: Annotated[
        str | None,
        typer.Option("--score", metavar="CASE", help="Judge the layout in FILE as one of this case."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="FOLDER", help="With --check: judge published layouts found in it, too."
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """List the open cases with the best published and our layouts; run one with: vindeby run case:NAME."""
    if (score is None) != (layout is None):
        raise ArgumentError("cases: --score CASE and FILE go together, e.g. --score iea37-cs3 layout.csv")
    if data is not None and not (check and data.is_dir()):
        raise ArgumentError(f"--data {data}: give an existing folder, and --check")
    if score is not None and layout is not None:
        _score(score, layout, json_)
    elif check:
        _check(data, json_)
    else:
        _list(json_)


def _list(json_: bool) -> None:
    from vindeby.cases import all_cases

    cases = all_cases()
    if json_:
        echo_json([_as_data(case) for case in cases])
        return
    _print_table(cases)
    for case in cases:
        echo(
            f"{case.name}: {case.title}. {case.source}. Best published: {case.published_by}. {case.note}".rstrip()
        )


def _as_data(case: Case) -> dict[str, Any]:
    fields = {one.name: getattr(case, one.name) for one in dataclasses.fields(case)}
    ours = case.record and {
        "worth": case.record.worth,
        "seed": case.record.seed,
        "seconds": case.record.seconds,
        "command": case.record.command,
    }
    return fields | {"files": dict(case.files), "ours": ours}


def _print_table(cases: list[Case]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    titles = ("case", "turbines", "km2", "wakes", "judge", "unit", "best published", "ours", "")
    for title in titles:
        left = title in ("case", "wakes", "judge", "unit")
        table.add_column(title, justify="left" if left else "right", no_wrap=title != "wakes")
    for case in cases:
        worth = None if case.record is None else case.record.worth
        gain = None if worth is None else case.gain(worth)
        table.add_row(
            case.name,
            "free" if case.turbines is None else str(case.turbines),
            f"{case.area_km2:.1f}",
            case.wakes,
            case.judge,
            case.unit,
            shown(case, case.published),
            shown(case, worth),
            "" if gain is None else f"{gain:+.3%}",
        )
    Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False).print(table)


def shown(case: Case, worth: float | None) -> str:
    """A worth with the digits that its unit deserves."""
    if worth is None:
        return ""
    return f"{worth:.9f}" if case.lower_is_better else f"{worth:,.2f}"


def _score(name: str, path: Path, json_: bool) -> None:
    from vindeby.cases import case_named, judged, read_layout

    case = case_named(name)
    x, y = read_layout(path)
    verdict = judged(case, x, y)
    gain = case.gain(verdict.worth)
    if json_:
        said = {"case": case.name, "file": str(path), "turbines": len(x), "worth": verdict.worth}
        echo_json(
            said
            | {"unit": case.unit, "feasible": verdict.feasible, "problems": verdict.problems, "gain": gain}
        )
    else:
        against = (
            "" if gain is None else f", {gain:+.4%} against the best published {shown(case, case.published)}"
        )
        ours = "" if case.record is None else f"; ours is {shown(case, case.record.worth)}"
        feasible = "feasible" if verdict.feasible else "not feasible"
        echo(f"{path}: {feasible}, {shown(case, verdict.worth)} {case.unit}{against}{ours}")
        for problem in verdict.problems:
            say(f"{path}: {problem}")
    if not verdict.feasible:
        raise typer.Exit(1)


def _check(folder: Path | None, json_: bool) -> None:
    rows = list(_verdicts(folder))
    if json_:
        echo_json(rows)
    for row in rows if not json_ else ():
        worth = "" if row["worth"] is None else f" {row['worth']:,.9g} {row['unit']}"
        echo(f"{row['case']}, {row['file']}:{worth} {'; '.join(row['problems']) or 'feasible'}")
    bad = [row for row in rows if row["ours"] and row["problems"]]
    if bad:
        say(f"{len(bad)} of {sum(row['ours'] for row in rows)} stored layouts could not be confirmed")
        raise typer.Exit(1)


def _verdicts(folder: Path | None) -> Iterator[dict[str, Any]]:
    """One row for each stored layout, and for each published one that the folder holds."""
    from vindeby.cases import all_cases, judged, read_layout

    for case in all_cases():
        layouts = [] if case.record is None else [("ours", case.record.worth, case.record.x, case.record.y)]
        found = {} if folder is None else {name: next(folder.rglob(name), None) for name in case.files}
        layouts += [(name, case.files[name], *read_layout(path)) for name, path in found.items() if path]
        for name, claimed, x, y in layouts:
            row: dict[str, Any] = {"case": case.name, "file": name, "ours": name == "ours", "unit": case.unit}
            try:
                verdict = judged(case, x, y)
            except InputError as error:  # a library is missing
                yield row | {"worth": None, "problems": [str(error)]}
                continue
            problems = list(verdict.problems)
            if name == "ours" and abs(verdict.worth - claimed) > _SAME * abs(claimed):
                problems.append(f"is recorded with {claimed!r}")
            yield row | {"worth": verdict.worth, "claimed": claimed, "problems": problems}
