"""``vindeby salvage PATH... -o OUT.h5``: foreign or damaged files into a database of what could be saved."""

from pathlib import Path

import typer

from vindeby.cli.options import CampaignOption, FormatOption, JsonOption, argument, option
from vindeby.cli.output import echo, echo_json, echo_text, say, say_missing
from vindeby.errors import DataError
from vindeby.text import plural


def command(
    paths: list[Path] = argument("PATH...", "Files, or folders of files.", ...),
    output: Path = option("-o --output OUT.h5", "The new database.", ...),
    campaign: CampaignOption = None,
    file_format: FormatOption = None,
    json_: JsonOption = False,
) -> None:
    """Save what can be saved; the originals are not changed. Exit 1 when something was lost or is missing."""
    from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES
    from vindeby.results.missing import missing_results
    from vindeby.results.sources import campaign_of
    from vindeby.store.disk.files import check_output
    from vindeby.store.disk.run_directory import RunDirectory
    from vindeby.store.salvage import salvage

    run = RunDirectory(check_output(output))
    loaded = campaign_of(run, campaign)
    root = {} if loaded is None else loaded.root_attributes()
    report = salvage(paths, run, naming=KEY_OF_ATTRIBUTES, root=root, file_format=file_format, progress=say)
    missing = None
    if report.records and loaded is not None:
        run.freeze_campaign(loaded.dumps())
        missing = missing_results(run, loaded)
    if json_:
        lacking = None if missing is None else [entry.to_json() for entry in missing]
        echo_json({**report.to_json(), "missing": lacking})
    else:
        saved = plural(report.records, "record")
        echo(f"{report.output}: {saved} saved from {plural(len(report.files), 'file')}")
        for line in (*report.files, *(f"conflict: {one}" for one in report.conflicts)):
            echo_text(f"  {line}\n")
    if not report.records:
        raise DataError(
            f"{output}: not written; no result could be saved from {plural(len(report.files), 'file')}"
        )
    if missing and loaded is not None:
        say_missing(missing, loaded.total_configs, output)
    if missing or not report.complete:
        raise typer.Exit(1)
