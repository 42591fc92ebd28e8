from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_sites import BROKEN_SITES, BrokenSite
from tests.campaign.test_broken_files import check
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


def written(broken: BrokenSite, folder: Path) -> Path:
    path = folder / "broken.yaml"
    path.write_text(broken.text)
    for name, text in broken.tables.items():
        (folder / f"{name}.csv").write_text(text)
    return path


@pytest.mark.parametrize("case", BROKEN_SITES)
def test_a_broken_site_or_curve_is_refused_once_and_in_words_that_help(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = BROKEN_SITES[case]
    path = written(broken, tmp_path)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CampaignError) as raised:
        Campaign.load(path.name)

    told = "\n".join(raised.value.args)
    assert len(raised.value.args) == 1, told
    assert told.startswith(("broken.yaml:", *(f"{name}.csv:" for name in broken.tables))), told
    missing = [word for word in broken.words if word not in told]
    assert not missing, told
    assert "secret" not in told


def test_there_are_fifty_kinds_of_mistakes() -> None:
    assert len(BROKEN_SITES) >= 50


@pytest.mark.parametrize("case", ["file with a gap", "states far from 1"])
def test_the_command_says_it_with_status_2_and_no_traceback(case: str, tmp_path: Path) -> None:
    done = check(written(BROKEN_SITES[case], tmp_path))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in BROKEN_SITES[case].words), done.stderr
