"""Names of combinations are kept with every result and printed: what cannot be is refused before anything runs."""

from __future__ import annotations

import pytest

from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.stored_rows import AskedOfStored
from vindeby.campaign.reading.yaml_text import Document
from vindeby.errors import CampaignError


def _document(label: str | int) -> Document:
    table = [{"combination": label, "farm": "north"}]
    return Document({"name": "s", "method": {"stored": {}}, "vary": {"neighbours": {"table": table}}})


@pytest.mark.parametrize("label", ["a\nb", "a\x00b", "a\x1b[31m", "a\ud800", "a" * 121])
def test_a_label_that_cannot_be_printed_is_refused(label: str) -> None:
    with pytest.raises(CampaignError, match=r"table\[0\].combination: is not a name of a combination"):
        checked(AskedOfStored, _document(label))


@pytest.mark.parametrize("label", ["a b", 7, "æ, ø; å", "a" * 120])
def test_other_labels_are_taken(label: str | int) -> None:
    assert [*checked(AskedOfStored, _document(label)).entries()] == [str(label)]
