"""A test that hangs is the one that fails, with the settings of this project and in workers of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.campaigns import ROOT

HANGING = """
import threading

import pytest

def test_before():
    pass

@pytest.mark.timeout(2)
def test_hangs():
    threading.Event().wait()

def test_after():
    pass
"""


@pytest.mark.slow
def test_a_test_that_hits_its_time_limit_fails_itself_and_the_next_one_passes(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-n", "1", "-c", str(ROOT / "pyproject.toml"),
         "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "test_hanging.py::test_hangs - Failed: Timeout" in done.stdout
    assert "crashed" not in done.stdout
