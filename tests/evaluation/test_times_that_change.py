"""Dates of neighbours mean steps of the series: other times make other results, and are not taken for the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.evaluation.stored import asked_of, series


def _given(first_year: int) -> dict[str, Any]:
    wind = series(20, times=True)
    wind["time_series"]["times"] = [f"{first_year}-01-{day:02}" for day in range(1, 21)]
    rows = [
        {"combination": "always", "farm": "farm b", "type": "small"},
        {"combination": "later", "farm": "farm b", "type": "small", "from": "2020-01-11"},
    ]
    return {"farms": "farm a", "types": "small", "site": wind, "neighbours": {"table": rows}}


def test_only_combinations_with_dates_depend_on_the_times_of_the_series(source: Path) -> None:
    before, after = asked_of(source, **_given(2020)), asked_of(source, **_given(2019))
    always, later = (f"farm0_t0_s0_{one.tag}" for one in before.combinations)
    assert before.fingerprints().keys() == after.fingerprints().keys() == {always, later}
    assert before.fingerprints()[always] == after.fingerprints()[always]
    assert before.fingerprints()[later] != after.fingerprints()[later]
