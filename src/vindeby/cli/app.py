"""The command line as typer has it: help, usage errors, and every command with its options."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Annotated

import typer

from vindeby._version import __version__


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


def build(names: Sequence[str]) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    app.callback()(_root)
    for name in names:
        module = importlib.import_module(f"vindeby.cli.{name}")
        app.command(name)(module.command)
    return app
