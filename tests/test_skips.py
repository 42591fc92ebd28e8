"""Where nothing may be skipped (VINDEBY_NO_SKIP=1), only what the kernel refuses is; a missing package is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.kernel import is_allowed, is_refusal
from tests.runner.campaigns import ROOT

SKIPPING = """
import pytest
from tests.kernel import skip_for

def test_kernel():
    skip_for("FUSE", "Operation not permitted")

def test_package():
    pytest.skip("fusepy is not installed")

@pytest.mark.skipif(True, reason="no Chromium")
def test_mark():
    pass
"""


def test_only_what_the_kernel_refuses_may_be_skipped(tmp_path: Path) -> None:
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider",
         "-p", "no:xdist", "--rootdir", str(tmp_path), "-c", os.devnull, str(tmp_path)],
        cwd=ROOT, env=os.environ | {"VINDEBY_NO_SKIP": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed, 1 skipped, 1 error in" in done.stdout, done.stdout + done.stderr


def test_a_wrong_call_is_not_taken_for_a_refusal() -> None:
    assert is_refusal("mount: /x: permission denied.\nmount failed: Operation not permitted")
    assert not is_refusal('Error: argument "veht" is wrong: unknown device')
    assert not is_allowed("Skipped: the device is missing")
