"""``vindeby monitor OUT.h5``: how far a campaign is, while it runs, after a crash, or when it is done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.cli.options import JsonOption, SeedsOption, SetOption, given_campaign
from vindeby.cli.results import CampaignOption


def command(
    output: Annotated[
        Path, typer.Argument(metavar="OUT.h5", help="The database, or a folder of worker files.")
    ],
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and show changes as they come; q ends it.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="farm,turbine,seed", help="A table with these, instead of farm x turbine."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Count only this seed.")] = None,
    failures: Annotated[
        bool, typer.Option("--failures", help="Every failure, with its traceback and log.")
    ] = False,
    campaign: CampaignOption = None,
    set_: SetOption = None,
    seeds: SeedsOption = None,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="How often --watch looks.")
    ] = 1.0,
    json_: JsonOption = False,
) -> None:
    """Say how far a campaign is; reads only, and works whatever state it is in."""
    from vindeby.monitor.telling import tell

    tell(output, watch, by, seed, failures, given_campaign(campaign, set_, seeds), interval, json_)
