"""Whether the working tree can be released: versions agree, nothing is uncommitted, what is built works.

    python scripts/release_check.py

Builds source archive and wheel from a clean clone, compares the wheel with the sources, installs it into an environment
of its own and uses it (``smoke_test.py``). Exits with 1, and everything that is wrong, if it cannot. The command
`make release-check` runs it and the tests.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def wrong_versions(root: Path) -> list[str]:
    """What disagrees with the version of the package, one line each."""
    text = (root / "src/vindeby/_version.py").read_text()
    version = text.partition('__version__ = "')[2].partition('"')[0]
    found = []
    if (cited := str(yaml.safe_load((root / "CITATION.cff").read_text())["version"])) != version:
        found.append(f"CITATION.cff is of version {cited}, not {version}")
    heading = re.search(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    first = heading[1] if heading else "nothing"
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", first):
        found.append(f"CHANGELOG.md begins with '{first}', not with '{version} (YEAR-MONTH-DAY)'")
    recipe = yaml.safe_load((root / "packaging/recipe.yaml").read_text())["context"]["version"]
    if recipe != version:
        found.append(f"packaging/recipe.yaml is of version {recipe}, not {version}")
    named = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    if "version" in named:
        found.append("pyproject.toml has a version of its own; it is taken from src/vindeby/_version.py")
    return found


def uncommitted(root: Path) -> list[str]:
    """What is not committed, one line each."""
    status = _run("git", "-C", str(root), "status", "--porcelain")
    return [f"not committed: {line}" for line in status.splitlines()]


def not_built(root: Path) -> list[str]:
    """What is wrong with the archives of a clean clone, one line each."""
    with tempfile.TemporaryDirectory() as folder:
        clone, dist, environment = (Path(folder) / name for name in ("clone", "dist", "venv"))
        try:
            _run("git", "clone", "--quiet", str(root), str(clone))
            _run(
                sys.executable, "-m", "build", "--outdir", str(dist), str(clone)
            )  # the wheel from the source archive
            [wheel] = dist.glob("*.whl")
            [_] = dist.glob("*.tar.gz")
            _run(sys.executable, str(clone / "scripts/check_wheel.py"), str(wheel))
            venv.create(environment, with_pip=True)
            python = str(environment / "bin/python")
            _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
            _run(python, str(clone / "scripts/smoke_test.py"))
        except subprocess.CalledProcessError as error:
            return [f"failed: {' '.join(error.cmd)}\n{error.stdout}{error.stderr}"]
    return []


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    problems = [*wrong_versions(ROOT), *uncommitted(ROOT), *not_built(ROOT)]
    print("\n".join(problems) or "ready for a release, if the tests pass")
    sys.exit(bool(problems))
