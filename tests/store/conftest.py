"""Records and run directories for the tests of the store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.superblock import SIGNATURE


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "out.h5").create()


MISBEHAVING = """
import os
import h5py

class File(h5py.File):
    def __init__(self, name, *arguments, **named):
        does = os.path.basename(str(name))
        if does == "crash":
            os.abort()
        if does == "hang":
            os.read(os.pipe()[0], 1)
        if does == "memory":
            bytearray(1 << 36)
        super().__init__(name, *arguments, **named)

h5py.File = File
"""


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files ``crash``, ``hang`` and ``memory``, named by what a guarded child does on them."""
    folder = tmp_path / "misbehaving"
    folder.mkdir()
    for name in ("crash", "hang", "memory", "fine"):
        (folder / name).write_bytes(SIGNATURE)
    (folder / "sitecustomize.py").write_text(MISBEHAVING)
    search = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", search)
    return folder
