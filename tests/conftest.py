"""What all tests share: markers by folder, and no skips where everything must be installed."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.kernel import is_allowed

TESTS = Path(__file__).parent

# Whole folders and files that carry a marker; single tests and modules carry theirs themselves.
MARKED = {
    "crash": "crash",
    "cluster": "cluster",
    "examples": "docs",
    "test_docs.py": "docs",
    "test_notebooks.py": "docs",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of a folder by what they need or cost; `make test` leaves those out, but for `core` tests."""
    for item in items:
        if item.path.is_relative_to(TESTS):
            marker = MARKED.get(item.path.relative_to(TESTS).parts[0])
            if marker is not None:
                item.add_marker(marker)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything must be installed (VINDEBY_NO_SKIP=1, as CI sets it).

    What the kernel of the machine refuses cannot be installed: a skip for that stays one.
    """
    report = yield
    if os.environ.get("VINDEBY_NO_SKIP") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return report
    if not (isinstance(report.longrepr, tuple) and is_allowed(report.longrepr[2])):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although nothing may be: {report.longrepr}"
    return report
