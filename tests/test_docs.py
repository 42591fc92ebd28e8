"""Everything a page shows is run: the commands with their output, the Python, the campaign files.

In a ``console`` block a line after ``$ `` is a command; the lines below it, up to the next command, are what it prints
(``...`` on a line of its own stands for any lines, inside a line for any characters). The blocks of a page run one
after the other in one folder. ``python`` blocks share a namespace. A block below a line such as ```` `curve.csv`: ````
is that file, put into the folder. Any other ``yaml`` block that starts with ``name:`` is a campaign.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import vindeby
from vindeby.campaign import Campaign

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
NOT_RUN = ("make ", "git ", "pip ", "python3 -m venv", "cd ", "sbatch ", "srun ")


class Block(NamedTuple):
    """A fenced block of a page."""

    file: str
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    form = r"^(?:`([\w.-]+)`:\n\n)?```(\w+)\n(.*?)^```$"
    found = re.finditer(form, text, flags=re.MULTILINE | re.DOTALL)
    return [
        Block(match[1] or "", match[2], match[3], text.count("\n", 0, match.start(2)) + 1) for match in found
    ]


def pattern(lines: list[str]) -> str:
    """A regular expression for the output that a page shows."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*?".join(re.escape(part.rstrip()) for part in line.split("...")) + r"[ \t]*\n")
    return "".join(parts)


def run_console(block: Block, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    for command, *output in (part.splitlines() for part in shown):
        if command.startswith(NOT_RUN):
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=os.environ | {"PATH": path, "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        assert re.fullmatch(pattern(output), done.stdout), (
            f"`{command}` printed:\n{done.stdout}\nnot:\n" + "\n".join(output)
        )


@pytest.mark.timeout(3600)  # a page may run a campaign, and on a new machine the engine is compiled first
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_is_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
        elif block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), namespace)
        elif block.language == "yaml" and block.text.startswith("name:"):
            Campaign.loads(block.text, f"{page.name}:{block.line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.core
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.core
def test_the_modules_that_a_page_names_exist(page: Path) -> None:
    named = {name.removeprefix("src/") for name in re.findall(r"`([a-z_0-9/]+\.py)`", page.read_text())}
    # The package is looked for where it is installed: a test of the built wheel has no src/ beside it.
    folders = [
        Path(vindeby.__file__).parent,
        *(ROOT / name for name in ("tests", "benchmarks", "scripts", "examples")),
    ]
    there = [path.as_posix() for folder in folders for path in folder.rglob("*.py")]
    assert {name for name in named if not any(path.endswith(f"/{name}") for path in there)} == set()


@pytest.mark.core
def test_the_page_of_the_design_names_the_packages_of_each_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "design.md").read_text()
    named: dict[str, set[str]] = {}
    for packages, extra in re.findall(r"^\| ([^|]+) \| `(\w+)` \|", page, flags=re.MULTILINE):
        named.setdefault(extra, set()).update(packages.split(", "))
    assert named.keys() == extras.keys() - {"dev", "bench"}
    for extra, packages in named.items():
        assert packages == {wanted.partition(">")[0] for wanted in extras[extra]}, extra


@pytest.mark.core
def test_the_campaign_file_reference_names_every_key() -> None:
    pages = ("campaign-file.md", "layouts-and-comparing.md")  # the second has start, vary and stored
    text = "".join((ROOT / "docs" / page).read_text() for page in pages)
    assert [key for key in _keys(Campaign.model_json_schema()) if f"`{key}`" not in text] == []


def _keys(schema: dict[str, Any]) -> set[str]:
    found = set(schema.get("properties", {}))
    for part in schema.get("$defs", {}).values():
        found |= _keys(part)
    return found


@pytest.mark.core
def test_the_page_of_the_python_api_lists_every_public_name() -> None:
    text = (ROOT / "docs/python.md").read_text()
    listed = set(re.findall(r"`(\w+)`", text[: text.index("## Run a campaign")]))
    assert set(vindeby.__all__) - {"__version__"} <= listed


def test_the_changelog_has_the_version() -> None:
    assert f"\n## {__import__('vindeby').__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.core
def test_the_readme_installs_the_command_before_it_calls_it_and_names_every_extra() -> None:
    text = (ROOT / "README.md").read_text()
    install = text[text.index("## Install") : text.index("## A campaign")]
    assert "$ pip install .\n" in install
    assert "\n$ vindeby " not in text[: text.index("## Install")]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for_users = extras.keys() - {"dev", "bench"}
    assert {name for name in for_users if f"`{name}`" not in install} == set()
    (given,) = re.findall(r"pip install '\.\[(.*?)\]'", install)
    assert set(given.split(",")) <= for_users
