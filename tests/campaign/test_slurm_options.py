from __future__ import annotations

from tests.campaign.examples import SMALL
from vindeby.campaign import Campaign


def test_options_of_jobs_survive_a_round_trip_and_leave_fingerprints_alone() -> None:
    plain = Campaign.loads(SMALL, "small.yaml")
    slurm = "{nodes: 4, time: '1-00:00:00', memory: 64G, directives: [--qos=low]}"
    text = f"{SMALL}  slurm: {slurm}\n"
    given = Campaign.loads(text, "small.yaml")
    assert Campaign.loads(given.dumps(), "again.yaml") == given
    assert given.fingerprints() == plain.fingerprints()
    assert (given.run.slurm.nodes, given.run.slurm.time) == (4, "1-00:00:00")
