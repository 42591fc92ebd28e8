"""The arguments and options that several commands share, what a shell completes them to, and the campaign they name."""

from __future__ import annotations

import functools
import glob
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vindeby.campaign import presets

if TYPE_CHECKING:
    from vindeby.campaign import Campaign

_CAMPAIGN_FILES = (".yaml", ".yml")


def option(names: str, text: str, default: Any = None, **more: Any) -> Any:
    """Return an option of a command, such as ``-o --output FILE``, with the name of its value and its help.

    With ``...`` for its default, it has to be given.
    """
    words = names.split()
    flags = [word for word in words if word.startswith("-")]
    metavar = None if flags == words else words[-1]
    return typer.Option(default, *flags, metavar=metavar, help=text, **more)


def argument(name: str, text: str, default: Any = None, **more: Any) -> Any:
    """Return an argument of a command; it is required if its default is ``...``."""
    return typer.Argument(default, metavar=name, help=text, **more)


def whole_number(text: str) -> int:
    """Return the number of an option; a usage error names what was typed, which typer's own does not."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


def one_of(names: Collection[str]) -> Callable[[str], list[str]]:
    """Return the function by which a shell completes the beginning of a name to one of ``names``."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def campaigns(incomplete: str) -> list[str]:
    """Return the presets, cases, campaign files and folders whose names begin like ``incomplete``."""
    begun = sorted(glob.glob(glob.escape(incomplete) + "*"))  # noqa: PTH207 - as it was typed
    folders = [f"{name}/" for name in begun if Path(name).is_dir()]
    return [
        *one_of(presets.known())(incomplete),
        *folders,
        *(name for name in begun if name.endswith(_CAMPAIGN_FILES)),
    ]


def shared(names: str, text: str, **more: Any) -> Any:
    """Return an option, or an argument by its name alone, that several commands share; each states its default."""
    return (option if names.startswith("-") else argument)(names, text, ..., **more)


CampaignArgument = Annotated[
    str,
    shared("CAMPAIGN", "A campaign file, a preset's name or case:NAME.", autocompletion=campaigns),
]
CampaignOption = Annotated[
    str | None,
    shared(
        "--campaign CAMPAIGN",
        "The campaign file or preset; without it, the one kept with the results.",
        autocompletion=campaigns,
    ),
]
OutputArgument = Annotated[Path, shared("OUT.h5", "The database.")]
OutputOrFolderArgument = Annotated[Path, shared("OUT.h5", "The database, or a folder of worker files.")]
OutputOption = Annotated[Path, shared("-o --output OUT.h5", "The database to make or complete.")]
SetOption = Annotated[
    list[str] | None,
    shared("--set FIELD=VALUE", "Override a field, e.g. method.smart-start.grid_size=12."),
]
SeedsOption = Annotated[
    str | None, shared("--seeds N|LIST", "Override the seeds: a number, or a list such as 0,7,12.")
]
WhereOption = Annotated[
    str | None, shared("--where EXPRESSION", "Only results that this is true for: 'aep > 5200'.")
]
FormatOption = Annotated[
    str | None, shared("--format classic|table", "A group per result, or columns for very many.")
]
TakeOverOption = Annotated[
    bool, shared("--take-over", "Take the lock from the process that holds it, e.g. on a lost machine.")
]
RetryFailedOption = Annotated[bool, shared("--retry-failed", "Try again what failed in an earlier run.")]
JsonOption = Annotated[bool, shared("--json", "Print JSON, for scripts.")]
QuietOption = Annotated[bool, shared("-q --quiet", "Say nothing but errors.")]
IntervalOption = Annotated[float, shared("--interval SECONDS", "Between lines when not in a terminal.")]


def taking(name: str, make: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that replaces the parameter ``name`` by the options of ``make``, and passes its result."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        options = inspect.signature(make, eval_str=True).parameters
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            parameters += options.values() if parameter.name == name else [parameter]

        @functools.wraps(command)
        def with_options(**given: Any) -> Any:
            made = make(**{option: given.pop(option) for option in options})
            return command(**given, **{name: made})

        vars(with_options)["__signature__"] = inspect.Signature(parameters)
        return with_options

    return decorate


def loader(campaign: CampaignArgument, set_: SetOption = None, seeds: SeedsOption = None) -> Any:
    """Return a function that loads a campaign and applies the overrides of the command line.

    It takes a function that is called with each note about what was taken or ignored from files of other formats.
    """

    def load(on_note: Callable[[str], None]) -> Campaign:
        from vindeby.campaign import Campaign  # loads pydantic and shapely, which not every command needs
        from vindeby.campaign.reading import source

        document = source.load(campaign)
        for note in document.notes:
            on_note(note)
        overrides = list(set_ or [])
        if seeds is not None:
            overrides.append(f"seeds=[{seeds}]" if "," in seeds else f"seeds={seeds}")
        return Campaign.from_document(document, overrides)

    return load


def how_to_run(
    workers: int | None = option(
        "-j --workers N", "Worker processes; one per core if not given.", parser=whole_number
    ),
    device: str | None = option(
        "--device cpu|auto|cuda",
        "What computes energies and gradients of searches; by default run.device of the file.",
    ),
    part: str | None = option("--part I/N", "Only this share of the tasks, for job arrays; no merge."),
    retry_failed: RetryFailedOption = False,
    on_bad: str = option("--on-bad abort|skip|rerun", "What to do when a file with results is bad.", "abort"),
    take_over: TakeOverOption = False,
) -> dict[str, Any]:
    """Return the arguments of ``vindeby.run`` that all commands share that run tasks."""
    return locals()
