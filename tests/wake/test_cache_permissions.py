"""Machine code on disk is a pickle: it is loaded only from where nobody else can have put it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.wake.test_compiled import run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("mode", "kept"), [(0o700, True), (0o755, True), (0o770, False), (0o777, False)])
def test_a_folder_that_others_may_write_to_is_not_used(mode: int, kept: bool, tmp_path: Path) -> None:
    folder = tmp_path / "vindeby"
    folder.mkdir()
    folder.chmod(mode)
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:2] == ["0", "1"]
    assert bool(list(folder.iterdir())) is kept


def test_a_file_that_others_may_write_to_is_not_loaded(tmp_path: Path) -> None:
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:2] == ["0", "1"]
    assert (tmp_path / "vindeby").stat().st_mode & 0o777 == 0o700
    [file] = (tmp_path / "vindeby").iterdir()
    file.chmod(0o666)
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:2] == ["0", "1"]
    assert file.stat().st_mode & 0o077 == 0  # it was replaced


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    run(NUMBA_CACHE_DIR=str(tmp_path))
    os.chown(tmp_path / "vindeby", 12345, 12345)
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:2] == ["0", "1"]


AS_NOBODY = """
import os
from pathlib import Path
from vindeby.wake.compiling.compiled import cache_folder, kernel

@kernel()
def first(x):
    return x + 1.0

@kernel()
def second(x):
    return x + 2.0

first(1.0)  # imports all that nobody else may be allowed to read
cache_folder().chmod(0o700)
os.setuid(65534)
cache_folder().stat()  # it is found, but may not be searched
print(second(1.0))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_may_not_be_searched_is_no_error() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # other users cannot search pytest's own folders
        Path(name).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY], env={**os.environ, "NUMBA_CACHE_DIR": name}, capture_output=True,
            text=True, check=False, timeout=240,
        )  # fmt: skip
    assert (done.stdout, done.stderr) == ("3.0\n", "")
