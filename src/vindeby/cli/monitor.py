"""``vindeby monitor OUT.h5``: the progress of a campaign, while it runs, after a crash, or when it is done.

It is run often, beside a campaign that needs the machine, so that it loads what reading a campaign needs (NumPy,
pydantic, shapely), but neither h5py nor Numba nor Matplotlib.
"""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from vindeby.cli.options import JsonOption, OutputOrFolderArgument, given_campaign, taking
from vindeby.cli.output import echo_json
from vindeby.errors import ArgumentError

_WIDTH_OF_A_FILE = 120
_SHORTEST_S = 0.1


@taking("given", given_campaign)
def command(
    output: OutputOrFolderArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running, and show changes as they come; q quits.")
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
    given: Any = None,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="How often --watch looks.")
    ] = 1.0,
    json_: JsonOption = False,
) -> None:
    """Show the progress of a campaign; only reads, and works in any state of the run."""
    from vindeby.monitor.view import failures_in_full, watch_campaign, whole
    from vindeby.results.observer import Observer

    dimensions = _dimensions(by)
    if watch and json_:
        raise ArgumentError("--watch and --json exclude each other; run `monitor --json` repeatedly")
    if not interval >= _SHORTEST_S:
        raise ArgumentError(f"--interval: {interval:g} is too short; give {_SHORTEST_S} seconds or more")
    observer = Observer(output, campaign=given, seed=seed)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False, emoji=False)
    if watch:
        watch_campaign(observer, console, interval, dimensions)
        return
    snapshot = observer.look()
    if json_:
        echo_json(snapshot.to_json(dimensions or ("farm", "turbine")))
    elif failures:
        console.print(failures_in_full(snapshot, observer.run.logs))
    else:
        console.print(whole(snapshot, observer.run.logs, dimensions))


def _dimensions(by: str | None) -> tuple[str, ...]:
    from vindeby.results.snapshot import DIMENSIONS

    if by is None:
        return ()
    chosen = tuple(name.strip() for name in by.split(","))
    unknown = [name for name in chosen if name not in DIMENSIONS]
    if unknown or len(set(chosen)) < len(chosen):
        raise ArgumentError(
            f"--by: {by!r} is not understood; give one or more of {', '.join(DIMENSIONS)}, each once"
        )
    return chosen
