"""``vindeby schema``: the campaign file as a JSON schema, for editors that complete and check it."""

from pathlib import Path

from vindeby.cli.options import option
from vindeby.cli.output import echo, echo_text, write_text


def command(
    output: Path | None = option("-o --output FILE", "Where to write it; stdout if not given."),
) -> None:
    """Print the campaign file as a JSON schema; what it refuses is wrong, `vindeby check` checks everything."""
    from vindeby.campaign.json_schema import schema_text

    text = schema_text()
    if output is None:
        echo_text(text)
        return
    write_text(output, text, replace=True)
    echo(f"{output}: to use it in an editor, begin the campaign file with:")
    echo(f"# yaml-language-server: $schema={output}")
