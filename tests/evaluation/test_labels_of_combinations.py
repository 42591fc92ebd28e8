"""Names of combinations are kept with every result and printed: what cannot be is refused before anything runs."""

from __future__ import annotations

import pytest

from vindeby.errors import CampaignError
from vindeby.evaluation.study import Study


@pytest.mark.parametrize("label", ["a\nb", "a\x00b", "a\x1b[31m", "a\ud800", "a" * 1001])
def test_a_label_that_cannot_be_printed_is_refused(label: str) -> None:
    table = [{"combination": label, "farm": "north"}]
    with pytest.raises(CampaignError, match=r"table\[0\].combination: is not a name of a combination"):
        Study.load({"name": "study", "neighbours": {"table": table}})


@pytest.mark.parametrize("label", ["a b", 7, "æ, ø; å", "a" * 1000])
def test_other_labels_are_taken(label: str | int) -> None:
    table = [{"combination": label, "farm": "north"}]
    study, _ = Study.load({"name": "study", "neighbours": {"table": table}})
    assert study.neighbours is not None
    assert study.neighbours.table is not None
    assert study.neighbours.table[0].combination == str(label)
