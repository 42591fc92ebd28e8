"""``vindeby doctor [FOLDER]``: what this machine offers a campaign, and what is in the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vindeby.cli.options import JsonOption
from vindeby.cli.output import echo

if TYPE_CHECKING:
    from vindeby.cli.machine import Finding


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where results would be written.")
    ] = Path(),
    json_: JsonOption = False,
) -> None:
    """Say what this machine offers a campaign: cores, memory, GPU, SLURM, disk, caches; status 1 when one is bad."""
    from vindeby.cli import machine

    asked: dict[str, Callable[[], Finding]] = {
        "versions": machine.versions,
        "extras": machine.extras,
        "cores": machine.cores,
        "memory": machine.memory,
        "gpu": machine.gpu,
        "slurm": machine.slurm,
        "disk": lambda: machine.disk(folder),
        "cache": machine.cache,
    }
    found = {name: ask() for name, ask in asked.items()}
    if json_:
        told = {name: {"told": one.told, "trouble": one.trouble, **one.data} for name, one in found.items()}
        typer.echo(json.dumps(told, indent=1))
    else:
        for name, one in found.items():
            echo(f"{name:<9} {one.told}")
            if one.trouble:
                echo(f"{'':<9} ! {one.trouble}")
    if any(one.trouble for one in found.values()):
        raise typer.Exit(1)
