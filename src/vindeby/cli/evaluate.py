"""``vindeby evaluate OUT.h5 --with FILE -o OTHER.h5``: stored layouts in other wind, wakes or among neighbours."""

from pathlib import Path
from typing import Any

from vindeby.cli.options import IntervalOption, QuietOption, SetOption, argument, how_to_run, option, taking


@taking("how", how_to_run)
def command(
    database: Path = argument("OUT.h5", "The database with the layouts.", ...),
    campaign: Path = option("--with CAMPAIGN.yaml", "What is evaluated, and how.", ...),
    output: Path = option("-o --output OTHER.h5", "The database to make or complete.", ...),
    how: Any = None,
    replace_stale: bool = option(
        "--replace-stale",
        "Compute again what answers an older version of the campaign, or older layouts.",
        False,
    ),
    set_: SetOption = None,
    quiet: QuietOption = False,
    interval: IntervalOption = 10.0,
) -> None:
    """Evaluate stored layouts as a campaign file says; rerun the same command to resume after any crash."""
    from vindeby.cli.run_view import end_with, watching
    from vindeby.runner.running import evaluate

    with watching(quiet=quiet, interval_s=interval) as shown:
        summary = evaluate(
            database, campaign, output, overrides=set_ or (), replace_stale=replace_stale, **how, **shown
        )
    end_with(summary, quiet=quiet)
