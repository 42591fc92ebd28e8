"""``run --part`` of a changed campaign, then ``merge``: the merge knows what the campaign now asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell, results
from vindeby.store.read.database import Database
from vindeby.store.states import fingerprints


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.slow
def test_parts_that_replace_stale_results_have_them_replaced_by_a_merge(tmp_path: Path) -> None:
    before, after = (one_cell(calling("versatile", 4, {"kilobytes": size})) for size in (0, 1))
    (tmp_path / "c.yaml").write_text(before.dumps())
    assert vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5", "--quiet").returncode == 0
    (tmp_path / "c.yaml").write_text(after.dumps())
    words = ("run", "c.yaml", "-o", "out.h5", "--part", "1/1", "--replace-stale", "--quiet")
    assert vindeby(tmp_path, *words).returncode == 0
    merged = vindeby(tmp_path, "merge", "out.h5")
    assert (merged.returncode, "conflict" in merged.stdout) == (0, False), merged.stdout
    with Database(tmp_path / "out.h5") as database:
        assert fingerprints(database) == {task.key: task.fingerprint for task in after.tasks()}
    assert all(record.bulk.size == 129 for record in results(tmp_path / "out.h5").values())
    assert not list((tmp_path / "out.h5.run" / "shards").rglob("*.shard"))
    again = vindeby(tmp_path, "merge", "out.h5")
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True)
