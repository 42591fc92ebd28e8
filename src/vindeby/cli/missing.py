"""``vindeby missing OUT.h5``: the configurations that have no valid result, and why."""

from typing import Annotated, Any

import typer

from vindeby.cli.options import JsonOption, OutputOrFolderArgument, given_campaign, taking
from vindeby.cli.output import echo_text, say
from vindeby.errors import ArgumentError
from vindeby.text import plural


@taking("given", given_campaign)
def command(
    output: OutputOrFolderArgument,
    given: Any = None,
    format: Annotated[
        str, typer.Option("--format", metavar="text|csv|json", help="How to print the list.")
    ] = "text",
    json_: JsonOption = False,
) -> None:
    """List the configurations that have no valid result, with the reason; exit 1 when there are any."""
    from vindeby.assembly.done import judged, not_done
    from vindeby.results.observer import history_of
    from vindeby.results.sources import campaign_of, open_source
    from vindeby.store.missing import as_csv, as_json, as_text, find_missing

    formats = {"text": as_text, "csv": as_csv, "json": as_json}
    chosen = "json" if json_ else format
    if chosen not in formats:
        raise ArgumentError(f"--format: {format!r} is not known; use text, csv or json")
    source = open_source(output)
    asked = campaign_of(source.run, given, source.campaign_text)
    if asked is None:
        raise ArgumentError(
            f"{source.path}: no campaign is kept with these results; name it with --campaign FILE"
        )
    expected = asked.fingerprints()
    invalid = not_done(source, judged(source, asked))
    if source.path.is_dir():  # the list of keys alone would not say why they are missing
        for path, records in source.counts().items():
            what = [plural(records, "record")] if records else []
            say(f"{path}: " + "; ".join([*what, *map(str, source.findings.get(path, []))]))
    history = history_of(source.run)
    failed = {key: str(task) for key, task in history.failed_tasks.items()}
    for path, [why] in history.odd.items():
        say(f"{path}: {why}")
    missing = find_missing(source, expected, failed, history.begun, invalid)
    echo_text(formats[chosen](missing))
    if missing:
        say(f"{len(missing)} of {len(expected)} results are missing")
        raise typer.Exit(1)
    say(f"all {len(expected)} results are there")
