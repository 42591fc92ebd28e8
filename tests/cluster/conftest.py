from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import slurm as real_slurm
from tests.runner.campaigns import ROOT


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real_slurm.Slurm]:
    with real_slurm.running(tmp_path_factory.mktemp("slurm")) as running:
        yield running
