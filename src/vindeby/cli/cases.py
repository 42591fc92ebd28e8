"""``vindeby cases``: the open cases and their records; ``--check`` judges these, ``--score`` a layout of yours."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vindeby.cli.options import JsonOption, argument, option
from vindeby.cli.output import echo, echo_json, echo_table, say
from vindeby.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from vindeby.cases import Case

_SAME = 1e-9
"""The relative difference up to which a stored worth agrees with the judge's."""
_TITLES = ("case", "turbines", "km2", "wakes", "judge", "unit", "best published", "ours", "")


def command(
    layout: Path | None = argument("FILE", "With --score: a table with x and y, in metres."),
    check: bool = option("--check", "Judge every stored layout again.", False),
    score: str | None = option("--score CASE", "Judge the layout in FILE as one of CASE."),
    json_: JsonOption = False,
) -> None:
    """List the open cases with the best published and our layouts; run one with: vindeby run case:NAME."""
    from vindeby.cases import all_cases, case_named, read_layout

    if (score is None) != (layout is None) or (check and score is not None):
        raise ArgumentError(
            "cases: --score CASE and FILE go together, without --check, e.g. --score iea37-cs3 layout.csv"
        )
    if score is not None and layout is not None:
        case = case_named(score)
        _report([_judged(case, str(layout), *read_layout(layout))], json_)
    elif check:
        _report(list(_stored()), json_)
    elif json_:
        echo_json([_as_data(case) for case in all_cases()])
    else:
        _print(all_cases())


def _as_data(case: Case) -> dict[str, Any]:
    ours = case.record and dataclasses.asdict(case.record)
    return dataclasses.asdict(case) | {
        "ours": ours and {k: v for k, v in ours.items() if k not in ("x", "y")}
    }


def _print(cases: list[Case]) -> None:
    """Print a table, and the sources of each case."""
    rows = [_TITLES]
    for case in cases:
        worth = None if case.record is None else case.record.worth
        figures = (case.shown(case.published), case.shown(worth), case.gain_text(worth))
        count = str(case.turbines or "free")
        rows.append((case.name, count, f"{case.area_km2:.1f}", case.wakes, case.judge, case.unit, *figures))
    echo_table(rows)
    for case in cases:
        about = f"{case.title}. {case.source}. Best published: {case.published_by}. {case.note}"
        echo(f"{case.name}: {about}".rstrip())


def _judged(case: Case, file: str, x: Any, y: Any) -> dict[str, Any]:
    from vindeby.cases import judged

    verdict = judged(case, x, y)
    row = {"case": case.name, "file": file, "turbines": len(x), "worth": verdict.worth, "unit": case.unit}
    ours = None if case.record is None else case.record.worth
    row |= {"shown": case.shown(verdict.worth), "gain": case.gain(verdict.worth), "ours": ours}
    return row | {"problems": list(verdict.problems)}


def _stored() -> Iterator[dict[str, Any]]:
    from vindeby.cases import all_cases

    for case in all_cases():
        if (record := case.record) is None:
            continue
        try:
            row = _judged(case, "stored", record.x, record.y)
        except InputError as error:  # a library is missing
            row = {
                "case": case.name,
                "file": "stored",
                "worth": None,
                "unit": case.unit,
                "problems": [str(error)],
            }
        else:
            if abs(row["worth"] - record.worth) > _SAME * abs(record.worth):
                row["problems"].append(f"is recorded with {record.worth!r}")
        yield row


def _report(rows: list[dict[str, Any]], json_: bool) -> None:
    """Print the verdicts; exits with 1 if a layout breaks a rule."""
    if json_:
        echo_json(rows)
    for row in [] if json_ else rows:
        if row["worth"] is not None:
            gain = "" if row["gain"] is None else f", {row['gain']:+.4%} against the best published"
            feasible = "not feasible" if row["problems"] else "feasible"
            echo(f"{row['case']}, {row['file']}: {feasible}, {row['shown']} {row['unit']}{gain}")
        for problem in row["problems"]:
            say(f"{row['case']}, {row['file']}: {problem}")
    if any(row["problems"] for row in rows):
        raise typer.Exit(1)
