"""``vindeby missing OUT.h5``: the configurations that have no valid result, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vindeby.cli.options import JsonOption, OutputOrFolderArgument, given_campaign, required_campaign, taking
from vindeby.cli.output import count, echo_text, say
from vindeby.errors import ArgumentError

if TYPE_CHECKING:
    from vindeby.results.sources import Folder


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
    from vindeby.assembly.done import Judge, judged, not_done
    from vindeby.results.observer import begun_tasks
    from vindeby.results.sources import Folder, open_source
    from vindeby.store.disk.events import Odd, read_failures
    from vindeby.store.missing import as_csv, as_json, as_text, find_missing
    from vindeby.store.read.database import Database

    formats = {"text": as_text, "csv": as_csv, "json": as_json}
    chosen = "json" if json_ else format
    if chosen not in formats:
        raise ArgumentError(f"--format: {format!r} is not known; use text, csv or json")
    source = open_source(output)
    asked = required_campaign(source.run, given, source.campaign_text)
    expected = asked.fingerprints()
    invalid: dict[str, str] = {}
    if isinstance(source, Database):
        invalid = not_done(source, judged(source, asked))
    elif isinstance(source, Folder):
        invalid = {one.key: one.why for one in Judge(asked).look_at(source.segments())}
        _say_files(source)
    odd: Odd = {}
    failed = {key: str(task) for key, task in read_failures(source.run, odd).items()}
    for path, [why] in odd.items():
        say(f"{path}: {why}")
    missing = find_missing(source, expected, failed, begun_tasks(source.run), invalid)
    echo_text(formats[chosen](missing))
    if missing:
        say(f"{len(missing)} of {len(expected)} results are missing")
        raise typer.Exit(1)
    say(f"all {len(expected)} results are there")


def _say_files(folder: Folder) -> None:
    """What each worker file is; the list of keys alone would not say why they are missing."""
    for path, records in folder.counts().items():
        what = [count(records, "record")] if records else []
        say(f"{path}: " + "; ".join([*what, *map(str, folder.findings.get(path, []))]))
