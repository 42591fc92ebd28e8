"""A file with holes, of terabytes by its size and of kilobytes on the disk, is salvaged for what it holds."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.store.examples import NAMING, foreign_file
from vindeby.store.foreign.guard import ReadLimits
from vindeby.store.foreign.superblock import probe
from vindeby.store.salvage import salvage

pytestmark = pytest.mark.slow

APPARENT = 64 << 30
FEW_S = 60.0


def make_sparse(path: Path) -> None:
    os.truncate(path, APPARENT)
    if probe(path).stored > APPARENT // 1000:
        pytest.skip("this file system keeps no holes")


def is_there(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


def test_a_sparse_file_is_salvaged_in_seconds_and_takes_no_space(tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    foreign_file(folder / "whole.h5", range(20))
    foreign_file(folder / "cut.h5", range(30, 50))
    os.truncate(folder / "cut.h5", (folder / "cut.h5").stat().st_size * 3 // 4)
    (folder / "empty.h5").touch()
    for path in folder.iterdir():
        make_sparse(path)
    before, start = is_there(tmp_path), time.monotonic()
    most = 0

    def look(_: str) -> None:
        nonlocal most
        most = max(most, is_there(tmp_path))

    limits = ReadLimits(least_seconds=FEW_S / 2)
    report = salvage([folder], tmp_path / "out.h5", naming=NAMING, limits=limits, progress=look)
    assert time.monotonic() - start < 3 * FEW_S
    assert max(most, is_there(tmp_path)) - before < 10 << 20
    by_name = {Path(saved.path).name: saved for saved in report.files}
    assert by_name["whole.h5"].found == 20
    assert not by_name["whole.h5"].findings
    assert by_name["cut.h5"].found > 5
    assert by_name["empty.h5"].findings
