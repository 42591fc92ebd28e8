"""``vindeby init PRESET [FILE]``, ``vindeby init --from SYSTEM [FILE]``: write a campaign file to start from."""

from pathlib import Path
from typing import Any

from vindeby.campaign import presets
from vindeby.cli.options import argument, one_of, option, taking, windio_options
from vindeby.cli.output import echo, say, write_text
from vindeby.errors import ArgumentError

_SCHEMA = "vindeby.schema.json"
_EDITOR_LINE = f"# yaml-language-server: $schema={_SCHEMA}\n"
EPILOG = (
    "\b\nPresets:\n"
    + "\n".join(
        f"  {name:{max(map(len, presets.names()))}}  {presets.description(name)}" for name in presets.names()
    )
    + "\n  case:NAME, an open case: vindeby cases lists them"
)


@taking("windio", windio_options)
def command(
    preset: str | None = argument(
        "PRESET",
        "Which preset; they are listed below. Not with --from.",
        autocompletion=one_of(presets.known()),
        show_default=False,
    ),
    file: Path | None = argument("FILE", "Where to write it; PRESET.yaml if not given."),
    from_: Path | None = option(
        "--from SYSTEM", "Write it from a windIO system file, campaign.yaml if no FILE."
    ),
    windio: Any = None,
) -> None:
    """Write a campaign file to start from, commented; refuses to overwrite."""
    from vindeby.campaign.json_schema import schema_text

    to_add = "next"
    if from_ is not None:
        from vindeby.interop.windio.system import campaign_files, read_system
        from vindeby.store.disk.output_file import refuse_existing

        if file is not None:
            raise ArgumentError(f"init: --from takes one FILE; got {preset!r} and {str(file)!r}")
        path, system = Path(preset or "campaign.yaml"), read_system(from_, options=windio)
        texts, notes = campaign_files(system, path), list(system.notes.lines())
        for name in texts:
            refuse_existing(path.parent / name)
        if system.notes.missing:
            to_add = "add what is missing, then"
    elif preset is None:
        raise ArgumentError(f"init: name a preset, or a windIO file with --from; {presets.remedy('')}")
    elif preset not in presets.known():
        raise ArgumentError(f"init: there is no preset {preset!r}; {presets.remedy(preset)}")
    else:
        path = file or Path(f"{preset.removeprefix(presets.CASE)}.yaml")
        texts, notes = {path.name: presets.text(preset)}, []
    for line in notes:
        say(line)
    for name, text in texts.items():
        write_text(path.parent / name, _EDITOR_LINE + text if name == path.name else text)
    # The schema that the first line of the campaign file names; it is generated, so an older one is replaced.
    write_text(path.parent / _SCHEMA, schema_text(), replace=True)
    written = " and ".join(str(path.parent / name) for name in texts)
    echo(f"wrote {written}, and {_SCHEMA} for editors; {to_add}: vindeby check {path}", err=True)
