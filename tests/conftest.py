"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything must be installed (VINDEBY_NO_SKIP=1, as CI sets it)."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("VINDEBY_NO_SKIP") == "1":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although nothing may be: {report.longrepr}"
    return report
