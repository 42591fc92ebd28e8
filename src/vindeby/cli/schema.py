"""``vindeby schema``: the campaign file as a JSON schema, for editors that complete and check it."""

from vindeby.cli.output import echo_text


def command() -> None:
    """Print the campaign file as a JSON schema; what it refuses is wrong, `vindeby check` checks everything."""
    from vindeby.campaign.json_schema import schema_text

    echo_text(schema_text())
