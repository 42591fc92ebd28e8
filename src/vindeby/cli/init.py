"""``vindeby init PRESET [FILE]``, ``vindeby init --from SYSTEM [FILE]``: write a campaign file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vindeby.campaign import presets
from vindeby.cli.options import preset_names
from vindeby.cli.output import echo, say, write_text
from vindeby.errors import ArgumentError
from vindeby.text import one_line

_SCHEMA = "vindeby.schema.json"
_EDITOR_LINE = f"# yaml-language-server: $schema={_SCHEMA}\n"
EPILOG = "\b\nPresets:\n" + "\n".join(
    f"  {name:{max(map(len, presets.names()))}}  {presets.description(name)}" for name in presets.names()
)


def command(
    preset: Annotated[
        str | None,
        typer.Argument(
            help="Which preset; they are listed below. Not with --from.",
            metavar="PRESET",
            autocompletion=preset_names,
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Argument(help="Where to write it; PRESET.yaml if not given.", metavar="FILE")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="SYSTEM", help="Write it from a windIO system file, campaign.yaml if no FILE."
        ),
    ] = None,
) -> None:
    """Write a campaign file to start from, commented; refuses to overwrite."""
    if from_ is not None:
        if file is not None:
            raise ArgumentError(f"init: --from takes one FILE; got {preset!r} and {str(file)!r}")
        _from_windio(from_, Path(preset) if preset is not None else Path("campaign.yaml"))
        return
    if preset is None:
        raise ArgumentError(f"init: name a preset, or a windIO file with --from; {presets.remedy('')}")
    if preset not in presets.names():
        raise ArgumentError(f"init: there is no preset {preset!r}; {presets.remedy(preset)}")
    path = file if file is not None else Path(f"{preset}.yaml")
    write_text(path, _EDITOR_LINE + presets.text(preset))
    _write_schema(path.parent)
    name = one_line(str(path))
    echo(f"wrote {name}, and {_SCHEMA} for editors; next: vindeby check {name}", err=True)


def _from_windio(system_file: Path, path: Path) -> None:
    from vindeby.interop.windio.campaign_text import campaign_files
    from vindeby.interop.windio.system import read_system
    from vindeby.store.disk.output_file import refuse_existing

    system = read_system(system_file)
    texts = campaign_files(system, path)
    for name in texts:
        refuse_existing(path.parent / name)
    for line in system.notes.lines():
        say(line)
    for name, text in texts.items():
        write_text(path.parent / name, _EDITOR_LINE + text if name == path.name else text)
    _write_schema(path.parent)
    written = " and ".join(one_line(str(path.parent / name)) for name in texts)
    first = "add what is missing, then" if system.notes.missing else "next"
    echo(
        f"wrote {written}, and {_SCHEMA} for editors; {first}: vindeby check {one_line(str(path))}", err=True
    )


def _write_schema(folder: Path) -> None:
    """The schema that the first line of the campaign file names; it is generated, so an older one is replaced."""
    from vindeby.campaign.json_schema import schema_text

    write_text(folder / _SCHEMA, schema_text(), replace=True)
