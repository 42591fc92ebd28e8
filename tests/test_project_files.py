"""The files at the top of the project that tools other than Python read."""

import importlib.util
import subprocess
import tomllib
from pathlib import Path
from typing import Any

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


def test_the_conda_recipe_is_of_this_version_and_has_the_same_requirements() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert recipe["context"]["version"] == vindeby.__version__
    asked = {"__unix", f"python {project['requires-python']}"}
    for requirement in project["dependencies"]:
        name, _, version = requirement.partition(">=")
        asked.add(f"{'matplotlib-base' if name == 'matplotlib' else name} >={version}")
    assert set(recipe["requirements"]["run"]) == asked
    [entry_point] = recipe["build"]["python"]["entry_points"]
    assert entry_point == f"vindeby = {project['scripts']['vindeby']}"
    assert recipe["about"]["summary"] == project["description"]


def test_the_oldest_versions_are_refused_on_a_python_without_their_wheels(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.13.1\n')
    python.chmod(0o755)
    words = ["make", "--silent", "test-oldest", f"OLDEST_PYTHON={python}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert f"needs Python 3.11 or 3.12 for the oldest wheels; {python} is Python 3.13.1" in done.stderr


def release_check() -> Any:
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "scripts" / "release_check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def released(
    root: Path, cited: str = "1.2.0", changelog: str = "1.2.0 (2027-03-01)", recipe: str = "1.2.0"
) -> list[str]:
    (root / "src" / "vindeby").mkdir(parents=True, exist_ok=True)
    (root / "packaging").mkdir(exist_ok=True)
    (root / "src/vindeby/_version.py").write_text('"""The version."""\n\n__version__ = "1.2.0"\n')
    (root / "CITATION.cff").write_text(f"version: {cited}\n")
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## {changelog}\n\n## 1.1.0 (2027-01-01)\n")
    (root / "packaging/recipe.yaml").write_text(f'context: {{version: "{recipe}"}}\n')
    (root / "pyproject.toml").write_text('[project]\nname = "vindeby"\n')
    found: list[str] = release_check().wrong_versions(root)
    return found


def test_a_release_has_one_version_everywhere_and_a_date(tmp_path: Path) -> None:
    assert released(tmp_path) == []
    assert released(tmp_path, cited="1.1.0") == ["CITATION.cff is of version 1.1.0, not 1.2.0"]
    assert "begins with '1.2.0 (unreleased)'" in released(tmp_path, changelog="1.2.0 (unreleased)")[0]
    assert released(tmp_path, recipe="1.0.0") == ["packaging/recipe.yaml is of version 1.0.0, not 1.2.0"]


def test_a_release_has_nothing_uncommitted(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert release_check().uncommitted(tmp_path) == []
    (tmp_path / "new.py").write_text("")
    assert release_check().uncommitted(tmp_path) == ["not committed: ?? new.py"]
