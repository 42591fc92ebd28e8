"""``validate --deep`` counts what it did not compute again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.worker_files import worker_file
from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell
from vindeby.runner import run


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))


def test_results_of_a_users_function_are_counted_as_not_computed_again(tmp_path: Path) -> None:
    run(calling("good", 5), tmp_path / "o.h5")
    done = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert done.returncode == 0
    assert done.stdout == "o.h5: valid: 20 records in 1 files, 20 not computed again (method call)\n"
    report = json.loads(vindeby(tmp_path, "validate", "o.h5", "--deep", "--json").stdout)
    assert report["not_computed_again"] == {"method call": 20}
    plain = vindeby(tmp_path, "validate", "o.h5")
    assert plain.stdout == "o.h5: valid: 20 records in 1 files\n"


def test_without_a_campaign_nothing_is_computed_again(tmp_path: Path) -> None:
    campaign = one_cell(calling("good", 3))
    worker_file(tmp_path / "o.h5", campaign, campaign.tasks(), aep=50.0)
    done = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert "3 records in 1 files, 3 not computed again (no campaign)\n" in done.stdout
