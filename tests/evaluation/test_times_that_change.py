"""Dates of neighbours mean steps of the series: other times make other results, and are not taken for the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.evaluation.studies import series
from vindeby.evaluation.running import study_campaign


def _study(first_year: int) -> dict[str, Any]:
    wind = series(20, times=True)
    wind["time_series"]["times"] = [f"{first_year}-01-{day:02}" for day in range(1, 21)]
    rows = [
        {"combination": "always", "farm": "farm b", "type": "small"},
        {"combination": "later", "farm": "farm b", "type": "small", "from": "2020-01-11"},
    ]
    return {
        "name": "study",
        "layouts": {"farms": "farm a", "types": "small"},
        "site": wind,
        "neighbours": {"table": rows},
    }


def test_only_cases_with_dates_depend_on_the_times_of_the_series(source: Path) -> None:
    before = study_campaign(source, _study(2020)).fingerprints()
    after = study_campaign(source, _study(2019)).fingerprints()
    assert before.keys() == after.keys() == {"farm0_t0_s0", "farm0_t0_s1"}
    assert before["farm0_t0_s0"] == after["farm0_t0_s0"]
    assert before["farm0_t0_s1"] != after["farm0_t0_s1"]
