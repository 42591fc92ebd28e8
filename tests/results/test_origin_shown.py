"""Results of unverified origin are counted wherever results are counted."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from tests.store.examples import NAMING, foreign_file, publish, record
from vindeby.cli.app import build
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import merge
from vindeby.store.salvage import salvage


def test_monitor_validate_and_report_show_what_is_of_unverified_origin(tmp_path: Path) -> None:
    foreign_file(tmp_path / "worker.h5", range(3))
    output = tmp_path / "out.h5"
    salvage([tmp_path / "worker.h5"], output, naming=NAMING)
    publish(RunDirectory(output), [record(10), record(11)])
    merge(output)
    commands = build()
    said = "3 of unverified origin (salvaged)"

    def answer(*words: str) -> str:
        return CliRunner().invoke(commands, list(words)).stdout

    assert said in " ".join(answer("monitor", str(output)).split())
    assert json.loads(answer("monitor", str(output), "--json"))["origins"] == {"salvaged": 3}
    assert f"note: 5 results, {said}" in answer("validate", str(output))
    assert '"salvaged": 3' in answer("validate", str(output), "--json")
    page = tmp_path / "report.html"
    answer("report", str(output), "-o", str(page))
    assert "<b>3</b>of unverified origin: salvaged" in page.read_text()
