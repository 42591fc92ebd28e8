"""``vindeby query OUT.h5 EXPRESSION``: the results that a condition is true for."""

from pathlib import Path
from typing import Any

from vindeby.cli.options import (
    CampaignOption,
    JsonOption,
    OutputArgument,
    argument,
    one_of,
    option,
)
from vindeby.cli.output import echo_json, echo_text, say
from vindeby.errors import ArgumentError
from vindeby.results.written import FORMS
from vindeby.text import one_line, plural


def command(
    output: OutputArgument,
    expression: str | None = argument(
        "EXPRESSION", "For example \"aep > 5200 and type == 't1'\"; every result if not given."
    ),
    by: str | None = option("--by COLUMNS", "A line for each value of these columns, such as farm,type."),
    to: str = option(
        f"--to {'|'.join(FORMS)}", "How to write the list.", "text", autocompletion=one_of(FORMS)
    ),
    path: Path | None = option("-o --output FILE", "Where to; the terminal if not given."),
    campaign: CampaignOption = None,
    json_: JsonOption = False,
) -> None:
    """List the valid results that a condition is true for, the best first; of two objectives by the one it names."""
    from vindeby.results.groups import summaries
    from vindeby.results.query import Query
    from vindeby.results.result_set import ResultSet
    from vindeby.store.disk.output_file import write_file

    if to not in FORMS:
        raise ArgumentError(f"--to: {to!r} is not known; use one of {', '.join(FORMS)}")
    names = Query(expression).names if expression is not None else []
    results = ResultSet(output, campaign=campaign, where=expression or "aep == aep")
    rows = _rows(results, names) if by is None else summaries(results, [one.strip() for one in by.split(",")])
    if json_:
        echo_json([{name: None if value != value else value for name, value in row.items()} for row in rows])
    elif path is not None:
        write_file(path, (FORMS[to](rows) if rows else "").encode())
    elif rows:
        echo_text(FORMS[to]([{name: _one_line(value) for name, value in row.items()} for row in rows]))
    many = len(rows) if by is None else len(results.rows)
    others = len(results.stale_rows)
    left = f"; {plural(others, 'stale result')} left out" if others else ""
    say(f"{many:,} of {plural(len(results.answers), 'result')}{left}")


def _one_line(value: object) -> object:
    return one_line(value) if isinstance(value, str) else value


def _rows(results: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return the results, best first, with the columns always shown and the named columns."""
    import numpy as np

    from vindeby.assembly.starts import GAIN
    from vindeby.campaign.starts import has_starts

    second = results.objectives[1:]
    first = ["key", "farm", "type", *results.axes.axes, "seed", "turbines", "aep"]
    if not second and not np.isnan(results.rows["objective"]).all():
        first.append("objective")
    gain = [GAIN] if results.campaign is not None and has_starts(results.campaign) else []
    columns = results.columns(first) | results.derived() | results.columns(names)
    columns |= {name: results.attribute(name) for name in (*second, *gain)}
    values = {name: np.asarray(column).tolist() for name, column in columns.items()}
    order = np.argsort(-results.worths(*set(second).intersection(names)), kind="stable").tolist()
    return [{name: column[row] for name, column in values.items()} for row in order]
