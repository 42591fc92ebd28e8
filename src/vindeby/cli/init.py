"""``vindeby init PRESET [FILE]``: write a campaign file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.campaign import presets
from vindeby.cli.completion import preset_names
from vindeby.cli.output import echo
from vindeby.errors import ArgumentError
from vindeby.printable import one_line

EPILOG = "\b\nPresets:\n" + "\n".join(
    f"  {name:{max(map(len, presets.names()))}}  {presets.description(name)}" for name in presets.names()
)


def command(
    preset: Annotated[
        str,
        typer.Argument(
            help="Which preset; they are listed below.", metavar="PRESET", autocompletion=preset_names
        ),
    ],
    file: Annotated[
        Path | None, typer.Argument(help="Where to write it; PRESET.yaml if not given.", metavar="FILE")
    ] = None,
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
    name = one_line(str(path))
    echo(f"wrote {name}; next: vindeby check {name}", err=True)
