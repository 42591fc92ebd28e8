from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_neighbours import BROKEN_NEIGHBOURS
from tests.campaign.test_broken_files import check
from tests.results.examples import campaign, finished
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("farm: north, type: five, seed: 7", r"neighbours\.seed: .* farm0_t0_s7: is not a task"),
        ("type: five", r"neighbours\.farm: .*the farm is missing; it has: north, south"),
        ("farm: west, type: five", "there is no farm 'west'; it has: north, south"),
        ("farm: north", r"neighbours\.type: .*the type is missing; it has: five, tabulated"),
        ("farm: north, type: five, turbines: []", "is given beside a database, which knows its turbines"),
    ],
)
def test_a_result_that_a_database_does_not_have_is_refused(asked: str, words: str, tmp_path: Path) -> None:
    finished(tmp_path / "west.h5", campaign(seeds=1))
    text = BROKEN_NEIGHBOURS["a database that is not there"].text
    (tmp_path / "broken.yaml").write_text(text.replace("farm: north", asked))
    with pytest.raises(CampaignError, match=words):
        Campaign.load(tmp_path / "broken.yaml")


def test_the_command_exits_with_2_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN_NEIGHBOURS["a database that is not there"].text)
    done = check(tmp_path / "broken.yaml")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith("vindeby: broken.yaml:39: neighbours.database: ")
