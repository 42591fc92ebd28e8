"""What ``vindeby monitor`` does, without the command line around it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console

from vindeby.errors import ArgumentError
from vindeby.monitor.view import failures_in_full, whole
from vindeby.results.campaign_lookup import GivenCampaign
from vindeby.results.observer import Observer
from vindeby.results.snapshot import DIMENSIONS

_WIDTH_OF_A_FILE = 120
_SHORTEST_S = 0.1


def tell(
    output: Path,
    watch: bool = False,
    by: str | None = None,
    seed: int | None = None,
    failures: bool = False,
    campaign: GivenCampaign = None,
    interval: float = 1.0,
    json_: bool = False,
) -> None:
    """Print how far a campaign is, or show it until the user has seen enough."""
    dimensions = _dimensions(by)
    if watch and json_:
        raise ArgumentError("--watch and --json exclude each other; run `monitor --json` again and again")
    if not interval >= _SHORTEST_S:
        raise ArgumentError(f"--interval: {interval:g} is too short; give {_SHORTEST_S} seconds or more")
    observer = Observer(output, campaign=campaign, seed=seed)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False, emoji=False)
    if watch:
        from vindeby.monitor.watch import watch_campaign  # only here: it takes over the terminal

        watch_campaign(observer, console, interval, dimensions)
        return
    snapshot = observer.look()
    if json_:
        sys.stdout.write(json.dumps(snapshot.to_json(dimensions or ("farm", "turbine")), indent=1) + "\n")
    elif failures:
        console.print(failures_in_full(snapshot, observer.run.logs))
    else:
        console.print(whole(snapshot, observer.run.logs, dimensions))


def _dimensions(by: str | None) -> tuple[str, ...]:
    if by is None:
        return ()
    chosen = tuple(name.strip() for name in by.split(","))
    unknown = [name for name in chosen if name not in DIMENSIONS]
    if unknown or len(set(chosen)) < len(chosen):
        raise ArgumentError(
            f"--by: {by!r} is not understood; give one or more of {', '.join(DIMENSIONS)}, each once"
        )
    return chosen
