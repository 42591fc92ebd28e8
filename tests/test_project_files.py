"""The files at the top of the project that tools other than Python read."""

from pathlib import Path

import pytest
import yaml

import vindeby

ROOT = Path(__file__).parents[1]


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["title"].split(":")[0], cited["version"]) == ("vindeby", vindeby.__version__)


def test_hooks_run_what_the_make_target_lint_runs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    recipe = (ROOT / "Makefile").read_text().split("\nlint:")[1].split("\n\n")[0]
    for hook in hooks:
        assert hook["entry"].removeprefix(".venv/bin/") in recipe, hook["id"]


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md"])
def test_what_visitors_look_for_is_there(name: str) -> None:
    assert (ROOT / name).read_text().strip()
