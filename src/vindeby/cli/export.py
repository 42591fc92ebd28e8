"""``vindeby export OUT.h5 --to FORMAT``: results for other tools."""

import json
from pathlib import Path
from typing import Annotated

import typer

from vindeby.cli.options import (
    CampaignOption,
    JsonOption,
    OutputArgument,
    WhereOption,
    given_campaign,
    one_of,
)
from vindeby.cli.output import echo, say
from vindeby.interop.export import FORMATS
from vindeby.text import listed, plural


def command(
    output: OutputArgument,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.", autocompletion=one_of(FORMATS)
        ),
    ],
    path: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help="Where to; if not given, OUT with the ending of the format. "
            "zarr, windio, floris and ro-crate make a folder.",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="KEY", help="Only these results; 'farm0_t5_*' is a pattern."),
    ] = None,
    farm: Annotated[
        list[str] | None, typer.Option("--farm", metavar="FARM", help="Only these farms, by name or number.")
    ] = None,
    type_: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only these types, by name or number.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="SEED", help="Only these seeds.")
    ] = None,
    best: Annotated[
        bool,
        typer.Option(
            "--best", help="Of each farm and type, only the best result, by the objective or by energy."
        ),
    ] = False,
    rows: Annotated[
        str,
        typer.Option("--rows", metavar="turbines|results", help="What a line of csv and parquet is."),
    ] = "turbines",
    crs: Annotated[
        str | None,
        typer.Option(
            "--crs",
            metavar="EPSG:CODE|local",
            help="What the campaign's metres mean; local: no place on Earth is known.",
        ),
    ] = None,
    where: WhereOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
    campaign: CampaignOption = None,
    json_: JsonOption = False,
) -> None:
    """Write valid results in a format that other tools read; missing ones are listed, and do not stop it."""
    from vindeby.interop.export.chosen import Selection
    from vindeby.interop.export.exporting import Options, export
    from vindeby.results.result_set import ResultSet

    results = ResultSet(output, campaign=given_campaign(campaign, None, None), where=where)
    selection = Selection(tuple(key or ()), tuple(farm or ()), tuple(type_ or ()), tuple(seed or ()), best)
    done = export(results, to, path, selection, Options(rows, crs, force))
    chosen = done.chosen
    for note in chosen.notes:
        say(note)
    say(f"{plural(len(chosen), 'result')} exported")
    if chosen.missing:
        named = listed(chosen.missing, None)
        say(f"{len(chosen.missing):,} of those asked for have no valid result: {named}")
    if json_:
        results_of = {"results": list(chosen.places), "missing": list(chosen.missing), "notes": chosen.notes}
        echo(json.dumps({"path": str(done.path), "format": done.format, **results_of}))
    else:
        echo(str(done.path))
