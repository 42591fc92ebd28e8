from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import vindeby
from tests.results.examples import campaign, finished

HEAVY = {
    "h5py",
    "matplotlib",
    "numba",
    "starlette",
    "vindeby.wake",
}
"""What reading a campaign needs is not among them."""


@pytest.mark.parametrize("options", [[], ["--json"], ["--by", "farm,seed"], ["--failures"]])
def test_monitor_loads_nothing_heavy(options: list[str], tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign())
    code = (
        "import atexit, sys\nfrom vindeby.cli import main\n"
        "atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "monitor", str(tmp_path / "o.h5"), *options],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.split())
    assert "numpy" in loaded
    assert HEAVY & loaded == set()
    assert done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["o.h5", "--nothing"], "No such option: --nothing"),
        (["o.h5", "--watch"], "--watch needs a terminal"),
    ],
)
def test_mistakes_have_status_2_and_words(words: list[str], message: str, tmp_path: Path) -> None:
    done = vindeby(tmp_path, "monitor", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
