"""Records and run directories for the tests of the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from vindeby.store.disk.run_directory import RunDirectory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "out.h5").create()
