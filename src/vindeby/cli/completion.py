"""Completion in the shell: installing it, and what the words of a campaign complete to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from typer._completion_shared import Shells, get_completion_script, install

from vindeby.campaign import presets
from vindeby.cli.output import echo, echo_text

_PROGRAM, _VARIABLE = "vindeby", "_VINDEBY_COMPLETE"
_CAMPAIGN_FILES = (".yaml", ".yml")


def show_or_install(words: Sequence[str]) -> bool:
    """Do ``--show-completion SHELL`` and ``--install-completion SHELL``; without SHELL, typer finds out which it is."""
    if len(words) != 2 or words[1] not in [shell.value for shell in Shells]:
        return False
    option, shell = words
    if option == "--show-completion":
        echo_text(get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=shell) + "\n")
    elif option == "--install-completion":
        _, path = install(shell=shell, prog_name=_PROGRAM, complete_var=_VARIABLE)
        echo(f"{shell} completion is installed in {path}; it takes effect in a new terminal")
    else:
        return False
    return True


def preset_names(incomplete: str) -> list[str]:
    """The presets that begin so."""
    return [name for name in presets.names() if name.startswith(incomplete)]


def campaigns(incomplete: str) -> list[str]:
    """The presets and the campaign files that begin so; folders too, to go on from."""
    folder, _, begun = incomplete.rpartition("/")
    start = Path(folder or ("/" if incomplete.startswith("/") else "."))
    found = []
    try:
        for entry in sorted(start.iterdir()):
            if entry.name.startswith(begun) and (begun.startswith(".") or not entry.name.startswith(".")):
                name = incomplete[: len(incomplete) - len(begun)] + entry.name
                if entry.suffix in _CAMPAIGN_FILES:
                    found.append(name)
                elif entry.is_dir():
                    found.append(f"{name}/")
    except OSError:
        pass
    return [*preset_names(incomplete), *found]
