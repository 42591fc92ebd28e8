"""``check`` says when the package of an engine is not installed."""

from __future__ import annotations

import sys

import pytest

from tests.campaign.examples import small
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey

WAKE = {"pywake": "py_wake.literature:Nygaard_2022"}


def test_an_engine_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Campaign.from_data({**small(), "wake": WAKE})
    assert survey(asked).warnings == ()
    monkeypatch.setitem(sys.modules, "py_wake", None)
    assert survey(asked).warnings == (
        "wake.pywake: PyWake is not installed here; install it with: pip install 'vindeby[pywake]'",
    )
    assert survey(Campaign.from_data(small())).warnings == ()
