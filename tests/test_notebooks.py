"""The tutorials in docs/: each runs from the first cell to the last, in its own folder, and ends with a picture."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOKS = sorted(DOCS.glob("*.ipynb"))
_MOST_BYTES = 300_000


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel python3 is the interpreter that runs the tests, whatever else is installed."""
    home = tmp_path / "jupyter" / "kernels" / "python3"
    home.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (home / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "tests", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")  # without it, Jupyter warns
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


def outputs(notebook: Any) -> list[list[Any]]:
    return [list(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("kernels")
def test_a_tutorial_runs_from_the_first_cell_to_the_last(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    folder = tmp_path / "work"
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # of Jupyter's own libraries; in the kernel nothing is ignored
        client = NotebookClient(
            notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        )
        client.execute()  # raises on the first error
    assert any("image/png" in output.get("data", {}) for output in outputs(notebook)[-1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_is_kept_with_its_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    kept = outputs(notebook)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert [output for cell in kept for output in cell if output.output_type in ("error", "stream")] == []
    assert any("image/png" in output.get("data", {}) for output in kept[-1])
    assert path.stat().st_size < _MOST_BYTES
    assert str(Path.home()) not in path.read_text()
