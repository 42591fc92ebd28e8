"""The command line as typer has it: help, completion, usage errors, and every command with its options."""

import errno
import importlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from vindeby._version import __version__
from vindeby.cli import COMMANDS
from vindeby.cli.output import echo, echo_text
from vindeby.errors import InputError, VindebyError
from vindeby.store.disk.files import storage_error

_EXIT_STATUS = """\b
Exit status:
  0    everything asked for is there and valid
  1    results are missing, invalid or damaged, or the disk refused
  2    the input is wrong: campaign file, option or argument
  130  stopped by you; rerun the same command to resume
"""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vindeby {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Wind-farm layout optimisation campaigns: every farm x every turbine type x every seed, and nothing lost."""


class _Command(TyperCommand):
    """A command whose arguments are shown as words: ``OUT.h5``, not ``{OUT.h5}`` or ``OUT.h5 <path>``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words that follow the command's name in its usage line."""
        return [self.options_metavar or "", *(_word(param) for param in _arguments(self, ctx))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of arguments and options of the help page."""
        arguments = [(_name(param), param.get_help_record(ctx)[1]) for param in _arguments(self, ctx)]
        options = [
            param.get_help_record(ctx) for param in self.get_params(ctx) if param.param_type_name == "option"
        ]
        for title, rows in (("Arguments", arguments), ("Options", [row for row in options if row])):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _arguments(command: TyperCommand, ctx: Any) -> list[Any]:
    return [param for param in command.get_params(ctx) if param.param_type_name == "argument"]


def _name(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _word(param: Any) -> str:
    return _name(param) if param.required else f"[{_name(param)}]"


class _Commands(TyperGroup):
    """The commands by their names and help lines; a command's module is loaded when the command is run."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load and return the command that the words name."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if command is None else _loaded(str(command.name)), rest


def _loaded(name: str) -> Any:
    module = importlib.import_module(f"vindeby.cli.{name}")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, cls=_Command, epilog=getattr(module, "EPILOG", None))(module.command)
    return typer.main.get_command(alone)


def build() -> typer.Typer:
    """Return the command line."""
    app = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=_EXIT_STATUS,
    )
    app.callback()(_root)
    return app


def run_app(words: Sequence[str]) -> None:
    """Run a command line; exits where the command does."""
    try:
        status = build()(list(words), prog_name="vindeby", standalone_mode=False)
    except typer.Abort:
        echo("Aborted.", err=True)
        sys.exit(1)
    except Exception as error:
        # Usage errors quote what was typed, which a shell may have taken from the names of files.
        show = getattr(error, "show", None)
        if show is None:
            raise
        shown = io.StringIO()
        show(file=shown)
        echo_text(shown.getvalue(), err=True)
        sys.exit(getattr(error, "exit_code", 2))
    if isinstance(status, int) and status:
        sys.exit(status)


_INPUT = {
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ELOOP: "name the file that the symbolic links should lead to",
    errno.ENOTDIR: "a part of this path is not a folder",
    errno.EACCES: "ask for permission, or name a file of yours",
    errno.EPERM: "ask for permission, or name a file of yours",
}
"""The remedies for errors of the system that a wrong path causes, not the disk."""
_SHOWN = 200


def as_vindeby_error(error: OSError) -> VindebyError:
    """Return an error of the operating system that no command expected as a VindebyError with a remedy."""
    if error.errno in _INPUT and error.filename is not None:
        name = str(error.filename)
        shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
        return InputError(f"{shown}: {error.strerror}; {_INPUT[error.errno]}")
    return storage_error(error, Path(error.filename or Path.cwd() / "the current folder"))
