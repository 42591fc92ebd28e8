"""``vindeby init PRESET [FILE]``: write a campaign file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.campaign import presets
from vindeby.errors import ArgumentError


def command(
    preset: Annotated[str, typer.Argument(help="Which preset.", metavar="PRESET")],
    file: Annotated[Path | None, typer.Argument(help="Where to write it; PRESET.yaml if not given.")] = None,
) -> None:
    """Write a campaign file to start from, commented; refuses to overwrite."""
    if preset not in presets.names():
        raise ArgumentError(f"init: there is no preset {preset!r}; {presets.remedy(preset)}")
    path = file if file is not None else Path(f"{preset}.yaml")
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(presets.text(preset))
    except FileExistsError:
        raise ArgumentError(
            f"{path}: exists and is left as it is; name another file, or remove this one"
        ) from None
    except OSError as error:
        raise ArgumentError(
            f"{path}: cannot be written: {error.strerror}; name a file in a folder of yours"
        ) from None
    typer.echo(f"wrote {path}; next: vindeby check {path}", err=True)
