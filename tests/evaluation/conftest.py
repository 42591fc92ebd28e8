from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.stored import campaign, compute


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten farms, two types, two seeds; nobody writes to it."""
    return compute(campaign(10), tmp_path_factory.mktemp("evaluation") / "layouts.h5")
