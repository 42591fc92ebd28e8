from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_local_wind import BROKEN_LOCAL_WIND
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


@pytest.mark.parametrize("case", BROKEN_LOCAL_WIND)
def test_wrong_local_wind_is_refused_with_the_words_that_help(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = BROKEN_LOCAL_WIND[case]
    assert isinstance(broken.text, str)
    monkeypatch.chdir(tmp_path)
    Path("broken.yaml").write_text(broken.text)

    with pytest.raises(CampaignError) as caught:
        Campaign.load("broken.yaml")

    (line,) = str(caught.value).splitlines()
    assert line.startswith("broken.yaml:"), line
    assert not [word for word in broken.words if word not in line], line
