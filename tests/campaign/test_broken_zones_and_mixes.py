from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_zones_and_mixes import BROKEN_ZONES_AND_MIXES
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


@pytest.mark.parametrize("case", BROKEN_ZONES_AND_MIXES)
def test_a_broken_zone_or_mix_is_refused_with_the_words_that_help(case: str, tmp_path: Path) -> None:
    broken = BROKEN_ZONES_AND_MIXES[case]
    path = tmp_path / "broken.yaml"
    assert isinstance(broken.text, str)
    path.write_text(broken.text)

    with pytest.raises(CampaignError) as caught:
        Campaign.load(path)

    message = str(caught.value)
    missing = [word for word in broken.words if word not in message]
    assert not missing, message
    assert "broken.yaml:" in message
