"""``vindeby salvage PATH... -o OUT.h5``: foreign or damaged files into a database of what could be saved."""

from pathlib import Path
from typing import Any

import typer

from vindeby.cli.options import FormatOption, JsonOption, argument, given_campaign, option, taking
from vindeby.cli.output import echo, echo_json, echo_text, say, say_missing
from vindeby.errors import ArgumentError, DataError
from vindeby.text import plural


@taking("given", given_campaign)
def command(
    paths: list[Path] = argument("PATH...", "Files, or folders of files.", ...),
    output: Path = option("-o --output OUT.h5", "The new database.", ...),
    given: Any = None,
    file_format: FormatOption = None,
    recompute_aep: bool = option(
        "--recompute-aep", "Compute AEP where it is invalid and the layout is good.", False
    ),
    json_: JsonOption = False,
) -> None:
    """Save what can be saved; the originals are not changed. Exit 1 when something was lost or is missing."""
    from vindeby.assembly.energy import fill_in_energies
    from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES, RESULT_ARRAYS
    from vindeby.results.missing import missing_results
    from vindeby.results.sources import campaign_of
    from vindeby.store.disk.files import check_output
    from vindeby.store.disk.run_directory import RunDirectory
    from vindeby.store.format.root import stated
    from vindeby.store.salvage import salvage

    run = RunDirectory(check_output(output))
    loaded = campaign_of(run, given)
    if recompute_aep and loaded is None:
        raise ArgumentError(
            "--recompute-aep needs the campaign: its site, turbines and wake model; add --campaign FILE"
        )
    root = stated({} if loaded is None else loaded.root_attributes(), RESULT_ARRAYS)
    report = salvage(paths, run, naming=KEY_OF_ATTRIBUTES, root=root, file_format=file_format, progress=say)
    missing, filled = None, None
    if report.records and loaded is not None:
        text = loaded.dumps()
        run.freeze_campaign(text)
        if recompute_aep:
            filled = fill_in_energies(run, loaded, say)
        missing = missing_results(run, loaded)
    if json_:
        lacking = None if missing is None else [entry.to_json() for entry in missing]
        more = {} if filled is None else {"fixed": filled.to_json()}
        echo_json({**report.to_json(), "missing": lacking, **more})
    else:
        echo_text(str(report))
        if filled is not None:
            echo(f"  {filled}")
    if not report.records:
        raise DataError(
            f"{output}: not written; no result could be saved from {plural(len(report.files), 'file')}"
        )
    if missing and loaded is not None:
        say_missing(missing, loaded.total_configs, output)
    if missing or not report.complete:
        raise typer.Exit(1)
