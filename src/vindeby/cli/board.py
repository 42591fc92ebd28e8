"""``vindeby board OUT.h5``: the campaign in the browser, live."""

from vindeby.cli.options import CampaignOption, OutputArgument, option
from vindeby.cli.output import echo
from vindeby.errors import ArgumentError


def command(
    output: OutputArgument,
    port: int = option("--port N", "The port; 0 takes a free one.", 8765, min=0, max=65535),
    host: str = option(
        "--host ADDRESS", "The address to listen on; if others can reach it, a token is needed.", "127.0.0.1"
    ),
    token: str | None = option("--token TOKEN", "The token to ask for; random if not given."),
    campaign: CampaignOption = None,
) -> None:
    """Show a campaign in the browser while it runs; reads only. Ctrl-C ends it."""
    from vindeby.results.result_set import ResultSet

    if token is not None and (len(token) < 8 or not token.isascii() or not token.isprintable()):
        raise ArgumentError("--token: must have 8 characters or more, all of them printable ASCII")
    try:
        from vindeby.board.app import serve_board  # needs what only the board needs
    except ModuleNotFoundError as error:
        raise ArgumentError(f"board: {error.name} is not installed; pip install 'vindeby[board]'") from None

    results = ResultSet(output, campaign=campaign, lenient=True)
    serve_board(results, host=host, port=port, token=token, say=lambda address: echo(f"board: {address}"))
