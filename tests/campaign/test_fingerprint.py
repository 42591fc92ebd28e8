from __future__ import annotations

import json
from typing import Any

import pytest

from tests.campaign.examples import SMALL, changed, small
from vindeby.campaign import Campaign, Task
from vindeby.campaign.tasks import digest


def tasks_of(data: dict[str, Any]) -> tuple[Task, ...]:
    return Campaign.from_data(data).tasks()


ORIGINAL = tasks_of(small())


def different(data: dict[str, Any]) -> set[str]:
    """The keys of the tasks whose fingerprint is another one than in the small campaign."""
    before = {task.key: task.fingerprint for task in ORIGINAL}
    return {task.key for task in tasks_of(data) if before[task.key] != task.fingerprint}


def keys(farms: str = "01", types: str = "01") -> set[str]:
    return {f"farm{farm}_t{type_}_s{seed}" for farm in farms for type_ in types for seed in range(3)}


@pytest.mark.parametrize(
    ("path", "value", "affected"),
    [
        ("farms.0.boundary.1", [4000.001, 0], keys(farms="0")),
        ("farms.1.boundary.polygons.0.0", [0.5, -9000], keys(farms="1")),
        ("farms.1.boundary.exclusions.0.circle.radius_m", 200.5, keys(farms="1")),
        ("farms.1.boundary.exclusions", [], keys(farms="1")),
        ("farms.0.capacity_mw", 25, keys(farms="0")),
        ("farms.0.n_turbines", 7, keys(farms="0")),
        ("turbines.0.generic.rated_power_mw", 5.5, keys(types="0")),
        ("turbines.0.generic.hub_height_m", 91, keys(types="0")),
        ("turbines.1.table.ct.4", 0.11, keys(types="1")),
        ("turbines.1.table.power_kw.1", 71, keys(types="1")),
        ("min_spacing", "3.5 D", keys()),
        ("site.weibull.sectors.0.a", 9.0000001, keys()),
        ("site.weibull.turbulence_intensity", 0.11, keys()),
        ("site.weibull.direction_step", 2, keys()),
        ("wake", "jensen", keys()),
        ("wake", {"nygaard-2022": {"a": 0.05}}, keys()),
        ("method.0.smart-start.grid_size", 19, keys()),
        ("method.0.smart-start.wind_speeds", [8], keys()),
        ("method.1", {"gradient": {"max_iterations": 501}}, keys()),
        ("method.1", "auto", keys()),
        ("method.1", {"gradient": {"wind": "all"}}, keys()),
        (
            "method",
            ["random-start", {"smart-start": {"grid_size": 18, "random_pct": 30}}, "gradient"],
            keys(),
        ),
        ("method", [{"smart-start": {"grid_size": 18, "random_pct": 30}}], keys()),
        ("method.0", {"lattice": None}, keys()),
    ],
)
def test_what_decides_a_result_changes_its_fingerprint_and_no_other(
    path: str, value: Any, affected: set[str]
) -> None:
    assert different(changed(path, value)) == affected


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", "other"),
        ("description", "words"),
        ("farms.0.name", "renamed"),
        ("turbines.0.name", "renamed"),
        ("run", {"workers": 7, "time_limit_s": 5, "retries": 0, "memory_limit_mb": 500, "max_failures": 3}),
        ("capacity_mw", 30.0),
        ("wake", {"nygaard-2022": {}}),
        ("wake", {"nygaard-2022": {"a": 0.04}}),
        ("min_spacing", {"diameters": 3}),
        ("farms.0.boundary", {"polygon": [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]}),
        ("farms.0.boundary", {"polygons": [[[0, 0], [4000, 0], [4000, 3000], [0, 3000]]]}),
        ("farms.0.boundary", [[0, -0.0], [4000, 0], [4000, 3000], [0, 3000], [0, 0]]),
        ("method.1", {"gradient": None}),
        ("method.1", {"gradient": {"wind": "coarse-to-fine"}}),
        ("site.weibull.direction_step", 1.0),
    ],
)
def test_what_does_not_decide_a_result_leaves_its_fingerprint(path: str, value: Any) -> None:
    assert different(changed(path, value)) == set()


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("wake", {"niayifar-2016": {"a1": 0.0}}),
        ("method.0", {"smart-start": {"random_pct": 0.0}}),
        ("turbines.1.table.ct.0", 0.0),
        ("site.weibull.sectors.0.direction", 0.0),
    ],
)
def test_minus_zero_is_zero(path: str, inner: Any) -> None:
    minus = json.loads(json.dumps(inner).replace("0.0", "-0.0"))
    assert tasks_of(changed(path, minus)) == tasks_of(changed(path, inner))


def test_capacity_and_count_that_mean_the_same_have_the_same_fingerprints() -> None:
    by_count = small()
    del by_count["capacity_mw"]
    by_count["n_turbines"] = 6
    assert different(by_count) == keys(types="1")  # 15 of 2 MW became 6; the type of 5 MW has 6 either way


def test_spacing_in_metres_and_in_diameters_are_the_same_where_they_are_equal() -> None:
    assert different(changed("min_spacing", "378 m")) == keys(types="1")


def test_more_seeds_add_tasks_and_leave_the_others() -> None:
    more = tasks_of(changed("seeds", 5))
    assert set(ORIGINAL) < set(more)


def test_comments_and_blank_lines_change_nothing() -> None:
    text = "# a comment\n\n" + SMALL.replace("seeds: 3", "seeds: 3   # three\n")
    assert Campaign.loads(text).tasks() == ORIGINAL


def test_fingerprints_stay_as_they_are() -> None:
    """They are kept in databases for years: a change of these digests makes every stored result stale."""
    assert [(task.key, task.fingerprint) for task in (ORIGINAL[0], ORIGINAL[-1])] == [
        ("farm0_t0_s0", "055527e7f341839f2a364126b1ac8923d5c2eeb9262451dda6c9acd97fb88109"),
        ("farm1_t1_s2", "a933eaab9e44254c6ab00abaef8e78ce5a6a8d86d8a9879fdf5899756e91f525"),
    ]
    wide = tasks_of(changed("method.1", {"gradient": {"widening": 16}}))  # once the default
    assert wide[0].fingerprint == "fd00a99d462a814f93e0c40557076fcd0ff1172acb32c410ecbc8fe528184866"


@pytest.mark.parametrize("step", ["annealing", "random-search"])
def test_moves_in_all_wind_states_have_other_fingerprints(step: str) -> None:
    few = tasks_of(changed("method.1", step))
    assert few == tasks_of(changed("method.1", {step: {"wind": "coarse-to-fine"}}))
    assert few[0].fingerprint != tasks_of(changed("method.1", {step: {"wind": "all"}}))[0].fingerprint


def test_tasks_come_farm_by_farm_type_by_type_seed_by_seed() -> None:
    assert [task.key for task in ORIGINAL] == [
        f"farm{farm}_t{type_}_s{seed}" for farm in range(2) for type_ in range(2) for seed in range(3)
    ]


def test_a_cells_quick_fingerprint_is_the_digest_of_cell_and_seed() -> None:
    for cell in Campaign.from_data(small()).cells():
        for seed in (0, 7, 2**32 - 1):
            assert cell.fingerprint(seed) == digest({"cell": cell.identity, "seed": seed})
