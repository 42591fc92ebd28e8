"""``vindeby query OUT.h5 EXPRESSION``: the results that a condition is true for."""

from typing import Annotated, Any

import typer

from vindeby.cli.options import JsonOption, OutputArgument, given_campaign, taking
from vindeby.cli.output import echo, echo_json, say

_SHOWN = ("key", "farm", "type", "seed", "turbines", "aep")


@taking("given", given_campaign)
def command(
    output: OutputArgument,
    expression: Annotated[
        str, typer.Argument(metavar="EXPRESSION", help="For example \"aep > 5200 and type == 't1'\".")
    ],
    given: Any = None,
    json_: JsonOption = False,
) -> None:
    """List the valid results that a condition is true for, the best first."""
    import numpy as np

    from vindeby.results.query import Labels, Query
    from vindeby.results.result_set import ResultSet

    names = Query(expression).names
    results = ResultSet(output, campaign=given, where=expression)
    columns = {}
    for name, column in results.columns(names).items():
        if name in (*_SHOWN, *names):
            columns[name] = (column.forms[0] if isinstance(column, Labels) else np.asarray(column)).tolist()
    order = np.argsort(-results.worths(), kind="stable").tolist()
    rows = [{name: column[row] for name, column in columns.items()} for row in order]
    if json_:
        echo_json([{name: None if value != value else value for name, value in row.items()} for row in rows])
    elif rows:
        table = [list(columns), *([_in_words(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for line in table:
            echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    say(f"{len(rows):,} of {len(results.results.rows):,} results")


def _in_words(value: object) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else str(value)
