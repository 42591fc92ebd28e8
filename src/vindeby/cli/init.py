"""``vindeby init PRESET [FILE]``, ``vindeby init --from SYSTEM [FILE]``: write a campaign file to start from."""

from pathlib import Path

from vindeby.campaign import presets
from vindeby.cli.options import argument, one_of, option
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
    allow_outside: bool = option(
        "--allow-outside", "With --from: follow includes out of the system's folder.", False
    ),
) -> None:
    """Write a campaign file to start from, commented; refuses to overwrite."""
    from vindeby.campaign.json_schema import schema_text

    to_add = "next"
    if from_ is not None:
        from vindeby.interop.windio.system import campaign_text, read_system

        if file is not None:
            raise ArgumentError(f"init: --from takes one FILE; got {preset!r} and {str(file)!r}")
        path, system = Path(preset or "campaign.yaml"), read_system(from_, allow_outside=allow_outside)
        text, notes = campaign_text(system, path), list(system.notes.lines())
        if system.notes.missing:
            to_add = "add what is missing, then"
    elif preset is None:
        raise ArgumentError(f"init: name a preset, or a windIO file with --from; {presets.remedy('')}")
    elif preset not in presets.known():
        raise ArgumentError(f"init: there is no preset {preset!r}; {presets.remedy(preset)}")
    else:
        path = file or Path(f"{preset.removeprefix(presets.CASE)}.yaml")
        text, notes = presets.text(preset), []
    for line in notes:
        say(line)
    write_text(path, _EDITOR_LINE + text)
    # The schema that the first line of the campaign file names; it is generated, so an older one is replaced.
    write_text(path.parent / _SCHEMA, schema_text(), replace=True)
    echo(f"wrote {path}, and {_SCHEMA} for editors; {to_add}: vindeby check {path}", err=True)
