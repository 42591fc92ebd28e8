"""``vindeby report OUT.h5``: one self-contained page about a campaign."""

from pathlib import Path
from typing import Annotated, Any

import typer

from vindeby.cli.options import OutputArgument, QuietOption, WhereOption, given_campaign, taking
from vindeby.cli.output import echo, say


@taking("given", given_campaign)
def command(
    output: OutputArgument,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="HTML", help="Where to; OUT.html if not given.")
    ] = None,
    where: WhereOption = None,
    given: Any = None,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML file with everything: summary, pictures, every layout, failures, provenance."""
    from vindeby.report import build_report
    from vindeby.results.observer import Observer
    from vindeby.results.result_set import ResultSet
    from vindeby.store.disk.output_file import write_file

    result_set = ResultSet(output, campaign=given, where=where)
    observer = Observer(output, campaign=given, results=result_set.results)
    text = build_report(result_set, observer, (lambda _: None) if quiet else say)
    path = to or result_set.path.with_suffix(".html")
    write_file(path, text.encode())
    echo(str(path))
