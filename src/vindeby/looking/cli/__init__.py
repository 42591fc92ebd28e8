"""The command ``vindeby``: one file a command, and one place where errors become messages and exit statuses.

Each module named in ``COMMANDS`` has a typer function ``command``. Only the module of the command that was asked
for is loaded, so that ``vindeby check`` does not wait for what only ``vindeby merge`` needs.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from vindeby._version import __version__
from vindeby.errors import VindebyError

COMMANDS = (
    "init",
    "check",
    "run",
    "monitor",
    "missing",
    "merge",
    "validate",
    "salvage",
    "show",
    "report",
    "board",
)
"""In the order in which a campaign uses them, which is the order of the help page."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vindeby {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version and exit."),
    ] = False,
) -> None:
    """Wind-farm layout optimisation campaigns: every farm x every turbine type x every seed, and nothing lost."""


def build(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    app.callback()(_root)
    for name in names:
        module = importlib.import_module(f"vindeby.looking.cli.{name}")
        app.command(name)(module.command)
    return app


def main() -> None:
    """Run the command line; turn what vindeby raises on purpose into a message and an exit status."""
    asked = sys.argv[1:2]
    try:
        build(asked if asked and asked[0] in COMMANDS else COMMANDS)()
    except VindebyError as error:
        sys.stderr.write("".join(f"vindeby: {line}\n" for line in str(error).splitlines()))
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader of stdout went away (`vindeby check c.yaml | head`): nothing is left to say, and nowhere to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
