"""``vindeby export OUT.h5 --to FORMAT``: results for other tools."""

import json
from pathlib import Path

from vindeby.cli.options import (
    CampaignOption,
    JsonOption,
    OutputArgument,
    WhereOption,
    one_of,
    option,
)
from vindeby.cli.output import echo, say
from vindeby.interop.export import FORMATS
from vindeby.text import plural


def command(
    output: OutputArgument,
    to: str = option("--to FORMAT", f"One of {', '.join(FORMATS)}.", ..., autocompletion=one_of(FORMATS)),
    path: Path | None = option(
        "-o --output PATH",
        "Where to; if not given, OUT with the ending of the format. zarr, windio and floris make a folder.",
    ),
    where: WhereOption = None,
    best: bool = option(
        "--best", "Of each farm and type, only the best result, by the objective or by energy.", False
    ),
    crs: str | None = option("--crs EPSG:CODE", "The coordinate system of the campaign's metres."),
    force: bool = option("--force", "Replace an earlier export.", False),
    campaign: CampaignOption = None,
    json_: JsonOption = False,
) -> None:
    """Write valid results in a format that other tools read; missing ones do not stop it."""
    from vindeby.interop.export.exporting import ExportOptions, export
    from vindeby.results.result_set import ResultSet

    results = ResultSet(output, campaign=campaign, where=where)
    done = export(results, to, path, ExportOptions(best, crs, force))
    chosen = done.chosen
    for note in chosen.notes:
        say(note)
    say(f"{plural(len(chosen), 'result')} exported")
    expected = 0 if chosen.campaign is None else chosen.campaign.total_configs
    if chosen.whole and len(chosen) < expected:
        say(f"{expected - len(chosen):,} of {expected:,} are missing; `vindeby missing {output}` lists them")
    if json_:
        results_of = {"results": list(chosen.places), "notes": chosen.notes}
        echo(json.dumps({"path": str(done.path), "format": done.format, **results_of}))
    else:
        echo(str(done.path))
