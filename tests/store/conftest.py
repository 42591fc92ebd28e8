"""Records and run directories for the tests of the store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vindeby.store.disk.run_directory import RunDirectory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "out.h5").create()


MISBEHAVING = """
import os
import h5py

class File(h5py.File):
    def __init__(self, name, *arguments, **named):
        if name == "crash":
            os.abort()
        if name == "hang":
            os.read(os.pipe()[0], 1)
        if name == "memory":
            bytearray(1 << 36)
        super().__init__(name, *arguments, **named)

h5py.File = File
"""


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guarded child misbehaves when it opens a file of the name ``crash``, ``hang`` or ``memory``."""
    folder = tmp_path / "misbehaving"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(MISBEHAVING)
    search = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", search)
