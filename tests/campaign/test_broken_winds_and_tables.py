from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_winds_and_tables import BROKEN_WINDS_AND_TABLES
from tests.campaign.test_broken_files import check


@pytest.mark.parametrize("case", BROKEN_WINDS_AND_TABLES)
def test_a_broken_wind_or_table_gets_status_2_and_the_words_that_help(case: str, tmp_path: Path) -> None:
    broken = BROKEN_WINDS_AND_TABLES[case]
    path = tmp_path / "broken.yaml"
    assert isinstance(broken.text, str)
    path.write_text(broken.text)

    done = check(path)

    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("vindeby: broken.yaml:"), done.stderr
    missing = [word for word in broken.words if word not in done.stderr]
    assert not missing, done.stderr
