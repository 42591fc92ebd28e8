"""``vindeby merge OUT.h5``: shards into the database, verified, with an audit record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vindeby.cli.options import (
    CampaignOption,
    FormatOption,
    JsonOption,
    OutputArgument,
    TakeOverOption,
    argument,
    option,
)
from vindeby.cli.output import echo, echo_json, echo_text, say, say_missing
from vindeby.text import plural

if TYPE_CHECKING:
    from vindeby.store.merge.audit import MergeReport


def command(
    output: OutputArgument,
    files: list[Path] | None = argument("FILE...", "Further files to take results from."),
    campaign: CampaignOption = None,
    file_format: FormatOption = None,
    on_bad: str = option("--on-bad abort|skip", "What to do when a file is bad.", "abort"),
    wait: float = option("--wait SECONDS", "How long to wait for another merge to end.", 0.0),
    take_over: TakeOverOption = False,
    json_: JsonOption = False,
) -> None:
    """Merge finished results into OUT.h5, verify it, then delete the shards that are in it."""
    from vindeby.assembly.done import BeforeMerge
    from vindeby.assembly.merging import merge_options, refuse_another_campaign
    from vindeby.results.missing import missing_results
    from vindeby.results.sources import campaign_of
    from vindeby.store.disk.files import check_output
    from vindeby.store.disk.run_directory import RunDirectory
    from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge

    run = RunDirectory(check_output(output))
    loaded = campaign_of(run, campaign)
    if loaded is not None:
        refuse_another_campaign(run, loaded)
    before = BeforeMerge(run, loaded)
    options = MergeOptions(
        file_format=file_format,
        on_bad=on_bad,
        extra=tuple(files or ()),
        wait_s=wait,
        take_over=take_over,
        progress=say,
    )
    try:
        report = merge(run, merge_options(loaded, options, invalid=before.invalid))
    except BadFilesError as error:
        if json_:
            echo_json(error.report.to_json())
        raise
    _print(report, json_)
    if not files:
        before.carry_over(report.digest)
    missing = missing_results(run, loaded) if report.bad_files and loaded is not None else []
    if loaded is not None:
        say_missing(missing, loaded.total_configs, run.output)
    if report.conflicts or missing or (report.bad_files and loaded is None):
        raise typer.Exit(1)


def _print(report: MergeReport, as_json: bool) -> None:
    if as_json:
        echo_json(report.to_json())
        return
    echo(
        f"{report.output}: {plural(report.records, 'record')}, {report.file_format} format; {report.outcome}"
    )
    for note in report.notes:
        echo(f"  {note}")
    for entry in report.files:
        if entry.bad or entry.conflicts:
            echo_text(f"  {entry}\n")
    for conflict in report.conflicts:
        echo(f"  conflict: {conflict}")
