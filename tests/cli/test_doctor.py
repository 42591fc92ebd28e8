"""What a machine offers, as ``vindeby doctor`` tells it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vindeby.cli import doctor
from vindeby.cli.app import build


def test_the_command_tells_everything_in_words_and_as_data(tmp_path: Path) -> None:
    words = CliRunner().invoke(build(), ["doctor", str(tmp_path)])
    data = json.loads(CliRunner().invoke(build(), ["doctor", str(tmp_path), "--json"]).stdout)
    names = ["cores", "memory", "gpu", "slurm", "disk", "cache"]
    assert list(data) == names
    assert [line.split()[0] for line in words.stdout.splitlines() if not line.startswith(" ")] == names
    assert data["cores"]["usable"] == len(os.sched_getaffinity(0))
    assert data["disk"]["folder"] == str(tmp_path)
    assert abs(data["disk"]["free"] - shutil.disk_usage(tmp_path).free) < 1e9
    assert words.exit_code == (1 if any(one["trouble"] for one in data.values()) else 0)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_trouble(tmp_path: Path) -> None:
    found = CliRunner().invoke(build(), ["doctor", str(tmp_path / "nowhere")])
    assert found.exit_code == 1
    assert "! cannot be written to: No such file or directory; choose another folder" in found.stdout


def test_little_space_is_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=200_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert doctor.disk(tmp_path).trouble == "only 200 MB are free"


def test_little_memory_per_worker_is_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vindeby.runner.processes.usable_cores", lambda: 16)
    monkeypatch.setattr("vindeby.runner.processes.total_memory", lambda: int(4e9))
    monkeypatch.setattr("vindeby.runner.running.total_memory", lambda: int(4e9))
    assert "use fewer of them: --workers 6" in doctor.memory().trouble


def tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_what_the_tools_of_a_cluster_say_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    tool(tmp_path, "sbatch", "exit 0")
    tool(tmp_path, "sinfo", "echo 'main*|12|2-00:00:00'")
    tool(tmp_path, "nvidia-smi", "echo 'NVIDIA H200, 143771 MiB'")
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    assert doctor.slurm().summary == (
        "partitions main* (12 nodes, at most 2-00:00:00); this process belongs to job 77"
    )
    assert doctor.gpu().data["cards"] == ["NVIDIA H200, 143771 MiB"]
    tool(tmp_path, "sinfo", "exit 1")
    tool(tmp_path, "nvidia-smi", "exit 9")
    assert "gives no answer" in doctor.slurm().trouble
    assert doctor.gpu().summary == "none (campaigns run on processors)"


def test_a_cache_that_cannot_be_used_is_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vindeby.wake.compiling.compiled.cache_folder", lambda: None)
    assert "set NUMBA_CACHE_DIR" in doctor.cache().trouble
    (tmp_path / "code").write_bytes(bytes(3_000_000))
    monkeypatch.setattr("vindeby.wake.compiling.compiled.cache_folder", lambda: tmp_path)
    assert doctor.cache().summary == f"{tmp_path}: 3 MB of machine code"
