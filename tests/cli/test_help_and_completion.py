"""Help pages in words, and completion in the shell that loads nothing heavy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.command import vindeby
from vindeby.campaign import presets
from vindeby.cli import COMMANDS
from vindeby.cli.app import build
from vindeby.cli.options import campaigns

pytestmark = pytest.mark.slow

HEAVY = ("h5py", "matplotlib", "numba", "numpy", "shapely", "starlette", "yaml", "vindeby.runner")


def complete(folder: Path, *words: str) -> tuple[list[str], list[str]]:
    """What bash would be offered for the last of these words; and which heavy modules were loaded for it."""
    code = (
        "import sys\nfrom vindeby.cli import main\ntry:\n    main()\nfinally:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    asked = {"COMP_WORDS": " ".join(["vindeby", *words]), "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | asked | {"_VINDEBY_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
    )
    return done.stdout.split(), eval(done.stderr.splitlines()[-1])


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["m"], ["monitor", "missing", "merge"]),
        (["--show"], ["--show-completion"]),
        (["init", "iea37-cs1-1"], ["iea37-cs1-16"]),
        (["run", "e"], ["energy-island", "energy-island-quick", "east.yaml"]),
        (["run", "--ret"], ["--retry-failed"]),
        (["merge", "--camp"], ["--campaign"]),
        (["show", "--picture", "en"], ["energy"]),
    ],
    ids=" ".join,
)
def test_words_are_completed_without_loading_anything_heavy(
    words: list[str], offered: list[str], tmp_path: Path
) -> None:
    (tmp_path / "east.yaml").touch()
    (tmp_path / "else.txt").touch()
    assert complete(tmp_path, *words) == (offered, [])


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_of_every_command_are_completed_without_loading_anything_heavy(
    command: str, tmp_path: Path
) -> None:
    offered, heavy = complete(tmp_path, command, "-")
    assert "--help" in offered
    assert heavy == []


def test_the_script_for_a_shell_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = vindeby(tmp_path, "--show-completion", "bash")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "_VINDEBY_COMPLETE=complete_bash" in shown.stdout
    subprocess.run(["bash", "-n"], input=shown.stdout, text=True, check=True)


def test_campaign_files_and_folders_are_offered_beside_presets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.yaml").touch()
    (tmp_path / "sub" / ".hidden.yaml").touch()
    assert campaigns("su") == ["sub/"]
    assert campaigns("sub/") == ["sub/a.yaml"]
    assert campaigns(f"{tmp_path}/sub/a") == [f"{tmp_path}/sub/a.yaml"]
    assert campaigns("nowhere/") == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_usage_is_in_words(command: str) -> None:
    short = CliRunner().invoke(build(), [command, "-h"]).stdout
    assert short == CliRunner().invoke(build(), [command, "--help"]).stdout
    assert short.startswith("Usage: ")
    assert not re.search(r"[{}]|<\w", short), short


def test_the_first_help_page_lists_commands_and_exit_codes() -> None:
    text = CliRunner().invoke(build(), ["-h"]).stdout
    assert all(f"  {name} " in text for name in COMMANDS)
    assert all(f"\n    {status} " in text for status in (0, 1, 2, 130))
    assert "..." not in text.partition("Commands:")[2]


def test_the_help_of_init_lists_every_preset_in_one_line() -> None:
    lines = CliRunner().invoke(build(), ["init", "--help"]).stdout.splitlines()
    for name in presets.names():
        [line] = [line for line in lines if line.split()[:1] == [name]]
        assert len(line.split()) > 4


def test_the_names_of_pictures_are_those_that_can_be_drawn() -> None:
    from vindeby.cli.show import PICTURE_NAMES
    from vindeby.plots import PICTURES

    assert tuple(PICTURES) == PICTURE_NAMES
