"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from tests.kernel import is_allowed


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
