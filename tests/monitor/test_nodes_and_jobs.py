"""Where workers run is shown when it is not this machine."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path

import pytest

from tests.command import vindeby
from tests.results.examples import campaign, publish
from vindeby.results.result_set import ResultSet

WORKER = {"slot": 0, "pid": 7, "task": "farm1_t1_s0", "seconds": 2.0, "silent_s": 0.5, "memory": 5e7}


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ({"node": "c017", "job": "4711_3"}, ["c017", "4711_3"]),
        ({"node": "c017"}, ["c017"]),
        ({"node": platform.node()}, []),
        ({}, []),
    ],
    ids=str,
)
def test_monitor_tells_node_and_job(place: dict[str, str], shown: list[str], tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(), lambda task: task.farm_idx == 0)
    # Three commands follow, and a coordinator that has been silent for 15 s has no workers.
    state = {"time": time.time() + 600.0, "workers": [{**WORKER, **place}]}
    (run.events / "elsewhere-1-a.now.json").write_text(json.dumps(state))
    (worker,) = ResultSet(tmp_path / "o.h5").look().workers
    assert (worker.node, worker.job) == (place.get("node", ""), place.get("job", ""))
    printed = vindeby(tmp_path, "monitor", "o.h5").stdout
    assert ("node" in printed) == bool(shown)
    assert all(text in printed for text in shown)
    listed = json.loads(vindeby(tmp_path, "monitor", "o.h5", "--json").stdout)["workers"]
    assert [(one["node"], one["job"]) for one in listed] == [(worker.node, worker.job)]
