"""Runs ``costs_of_others`` in a process of its own: costmodels loads JAX, after which no process may fork."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.oracle
@pytest.mark.slow
def test_costs_and_depths_are_those_of_others() -> None:
    path = Path(__file__).with_name("costs_of_others.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", path.parents[2], path],
        capture_output=True,
        text=True,
        cwd=path.parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b4 passed in", done.stdout), done.stdout
