"""``vindeby adopt PATH... -o OUT.h5 --campaign CAMPAIGN``: the run of an older script becomes a run of vindeby."""

import json
from pathlib import Path

import typer

from vindeby.cli.options import CampaignOption, JsonOption, TakeOverOption, argument, option
from vindeby.cli.output import echo_text, say, say_missing
from vindeby.errors import ArgumentError
from vindeby.text import plural


def command(
    paths: list[Path] = argument(
        "PATH...", "The script's files, or folders of them; they are not changed.", ...
    ),
    output: Path = option("-o --output OUT.h5", "The database to make or complete.", ...),
    campaign: CampaignOption = None,
    recompute_aep: bool = option(
        "--recompute-aep",
        "Adopt good layouts whose stored AEP is not what the campaign gives, with AEP computed anew.",
        False,
    ),
    take_over: TakeOverOption = False,
    json_: JsonOption = False,
) -> None:
    """Check what a script left, take what is right into OUT.h5, and list the rest; `vindeby run` then completes it.

    Exit 1 when results are missing or something was left out.
    """
    from vindeby.interop.adopt import adopt
    from vindeby.results.sources import campaign_of
    from vindeby.store.disk.files import check_output
    from vindeby.store.disk.run_directory import RunDirectory

    loaded = campaign_of(RunDirectory(check_output(output)), campaign)
    if loaded is None:
        raise ArgumentError(
            "adopt needs the campaign that the script was to compute (farms, turbines, wind, seeds): add --campaign "
            "FILE; `vindeby init energy-island campaign.yaml` writes one to start from, and `vindeby init --help` "
            "lists others"
        )
    report = adopt(paths, output, loaded, recompute_aep=recompute_aep, take_over=take_over, say=say)
    echo_text(json.dumps(report.to_json(), indent=1) + "\n" if json_ else str(report))
    say_missing(report.missing, report.total, output, campaign or "CAMPAIGN")
    if report.unanswered:
        count = plural(report.unanswered, "record was", "records were")
        say(f"{count} left out, with nothing valid instead")
    if not report.complete:
        raise typer.Exit(1)
