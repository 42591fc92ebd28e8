from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_slurm import BROKEN_SLURM
from tests.campaign.examples import SMALL
from tests.campaign.test_broken_files import check
from vindeby.campaign import Campaign


@pytest.mark.parametrize("case", BROKEN_SLURM)
def test_broken_options_of_jobs_get_status_2_and_the_words_that_help(case: str, tmp_path: Path) -> None:
    broken = BROKEN_SLURM[case]
    path = tmp_path / "broken.yaml"
    assert isinstance(broken.text, str)
    path.write_text(broken.text)

    done = check(path)

    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("vindeby: broken.yaml:"), done.stderr
    missing = [word for word in broken.words if word not in done.stderr]
    assert not missing, done.stderr


def test_options_of_jobs_survive_a_round_trip_and_leave_fingerprints_alone() -> None:
    plain = Campaign.loads(SMALL, "small.yaml")
    slurm = "{nodes: 4, time: '1-00:00:00', memory: 64 GB, directives: [--qos=low]}"
    text = f"{SMALL}  slurm: {slurm}\n"
    given = Campaign.loads(text, "small.yaml")
    assert Campaign.loads(given.dumps(), "again.yaml") == given
    assert given.fingerprints() == plain.fingerprints()
    assert (given.run.slurm.nodes, given.run.slurm.time) == (4, "1-00:00:00")
