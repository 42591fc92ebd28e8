"""Compiled code is kept on disk, and no state of that disk is an error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.extending import register_jitable

import vindeby
from vindeby.wake.compiling import compiled
from vindeby.wake.compiling.compiled import kernel, scalar

pytestmark = pytest.mark.slow

SCRIPT = """
import numpy as np
from vindeby.wake.models import overlap
from vindeby.wake.compiling.compiled import cache_folder
overlap.overlap_table()
dispatcher = overlap._fill
print(sum(dispatcher.stats.cache_hits.values()), sum(dispatcher.stats.cache_misses.values()), cache_folder())
"""


def run(**environment: str) -> list[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", SCRIPT],
        env={**kept, **environment}, capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_a_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    hits, misses, folder = run(NUMBA_CACHE_DIR=str(tmp_path / "made" / "by" / "us"))
    assert (hits, misses) == ("0", "1")
    files = list(Path(folder).iterdir())
    assert [f.suffix for f in files] == [".nbc"]
    assert run(NUMBA_CACHE_DIR=str(tmp_path / "made" / "by" / "us"))[:2] == ["1", "0"]
    files[0].write_bytes(files[0].read_bytes()[:100])
    assert run(NUMBA_CACHE_DIR=str(tmp_path / "made" / "by" / "us"))[:2] == ["0", "1"]


def test_without_a_folder_it_compiles_and_says_nothing(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    assert run(XDG_CACHE_HOME=str(in_the_way))[:2] == ["0", "1"]
    assert in_the_way.read_text() == "not a folder"


@pytest.mark.skipif(
    os.geteuid() == 0 and not Path("/proc").exists(), reason="needs a file system that refuses writes"
)
def test_a_read_only_folder_is_no_error() -> None:
    assert run(XDG_CACHE_HOME="/proc")[:2] == ["0", "1"]


def test_several_processes_may_compile_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    jobs = [
        subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    printed = [job.communicate(timeout=240)[0].split() for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0, 0]
    assert [folder for _, _, folder in printed] == [str(tmp_path / "vindeby")] * 3
    assert sorted(misses for _, misses, _ in printed) == [
        "0",
        "0",
        "1",
    ]  # one compiled, the others waited for it
    assert not [f.name for f in (tmp_path / "vindeby").iterdir() if f.suffix != ".nbc"]
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:2] == ["1", "0"]


def test_only_a_change_of_what_a_loop_is_made_of_has_it_compiled_again(tmp_path: Path) -> None:
    package = tmp_path / "vindeby"
    shutil.copytree(Path(vindeby.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def misses() -> str:
        paths = {
            "NUMBA_CACHE_DIR": str(tmp_path),
            "PYTHONPATH": str(tmp_path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return run(**paths)[1]

    def change(file: str, old: str, new: str) -> None:
        text = (package / file).read_text()
        assert text.count(old) == 1
        (package / file).write_text(text.replace(old, new))

    assert [misses(), misses()] == ["1", "0"]
    change("wake/models/top_hat.py", "from math", "# another comment\nfrom math")
    change("wake/models/overlap.py", "@cache\ndef", "ANOTHER = 1\n\n\n@cache\ndef")
    assert misses() == "0"
    change("wake/models/overlap.py", "PER_SIGMA = 32.0", "PER_SIGMA = 31.0")
    assert misses() == "1"
    change("wake/compiling/compiled.py", '"error_model": "numpy"', '"error_model": "python"')
    assert misses() == "1"


def test_a_loop_that_cannot_be_described_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)
    tmp_path.chmod(0o700)
    for registered in (False, True):
        assert _doubling(registered=registered)(2.0) == 4.0
    assert [file.name.partition("-")[0] for file in tmp_path.iterdir()] == ["loop"]


def _doubling(*, registered: bool) -> Any:
    decorate: Any = register_jitable if registered else scalar

    @decorate  # type: ignore[untyped-decorator]
    def double(number: float) -> float:
        return 2.0 * number

    @kernel()
    def loop(number: float) -> float:
        return float(double(number))

    return loop


def test_models_compiled_by_different_processes_do_not_take_each_others_code(tmp_path: Path) -> None:
    script = """
import sys
from vindeby.wake import Turbine, UniformSite, WindFarm
turbine = Turbine.tabulated("t", 100, 90, [4, 12, 25], [0, 2e6, 2e6], [0.8, 0.7, 0.1])
for model in sys.argv[1:]:
    farm = WindFarm(UniformSite((1.0,), 9.0), turbine, model, directions=[270.0])
    print(repr(farm.aep([0, 500, 1000], [0, 10, 20])))
"""

    def energies(*models: str) -> list[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", script, *models]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=280
        )
        return done.stdout.split()

    alone = [*energies("iea37"), *energies("jensen")]
    assert alone[0] != alone[1]
    assert energies("iea37", "jensen") == alone
    assert energies("jensen", "iea37") == alone[::-1]
