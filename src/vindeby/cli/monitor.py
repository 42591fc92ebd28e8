"""``vindeby monitor OUT.h5``: the progress of a campaign, while it runs, after a crash, or when it is done.

It is run often, beside a campaign that needs the machine, so that it loads what reading a campaign needs (NumPy,
pydantic, shapely), but neither h5py nor Numba nor Matplotlib.
"""

import sys

from rich.console import Console

from vindeby.cli.options import CampaignOption, JsonOption, OutputOrFolderArgument, option
from vindeby.cli.output import echo_json
from vindeby.errors import ArgumentError

_WIDTH_OF_A_FILE = 120


def command(
    output: OutputOrFolderArgument,
    watch: bool = option("--watch", "Keep running, and show changes as they come; Ctrl-C ends it.", False),
    by: str | None = option("--by farm,turbine,seed,AXIS", "A table with these, instead of farm x turbine."),
    failures: bool = option("--failures", "Every failure, with its traceback and log.", False),
    campaign: CampaignOption = None,
    json_: JsonOption = False,
) -> None:
    """Show the progress of a campaign; only reads, and works in any state of the run."""
    from vindeby.monitor.view import failures_in_full, watch_campaign, whole
    from vindeby.results.result_set import ResultSet

    dimensions = () if by is None else tuple(name.strip() for name in by.split(","))
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False, emoji=False)
    if watch and (json_ or not console.is_terminal):
        raise ArgumentError("--watch needs a terminal, and no --json; run `monitor --json` repeatedly")
    results = ResultSet(output, campaign=campaign, lenient=True)
    look, logs = results.look, results.run.logs
    if watch:
        watch_campaign(look, logs, console, dimensions)
        return
    snapshot = look()
    if json_:
        echo_json(snapshot.to_json(dimensions or ("farm", "turbine")))
    elif failures:
        console.print(failures_in_full(snapshot, logs))
    else:
        console.print(whole(snapshot, logs, dimensions))
