"""What ``validate`` says of results of farms with zones and mixes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.campaign.zoned import ZONED
from vindeby.assembly.physics import CampaignCheck
from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.runner.methods.method_protocol import checked_record
from vindeby.runner.methods.search import SearchMethod
from vindeby.store.format.record import Record

pytestmark = pytest.mark.slow

CAMPAIGN = Campaign.loads(ZONED)


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    """One result of each cell, as a worker makes it."""
    method, found = SearchMethod(CAMPAIGN), {}
    for cell in CAMPAIGN.cells():
        task = next(cell.tasks(CAMPAIGN.seeds))
        result = method.prepare(cell)(task)
        found[task.key] = checked_record(
            CAMPAIGN, cell, task, result, 1.0, CampaignCheck(CAMPAIGN, deep=True)
        )
    return found


def _changed(record: Record, **arrays: object) -> Record:
    return Record(record.key, record.fingerprint, {**record.arrays, **arrays}, record.attributes)  # type: ignore[dict-item]


def _said(record: Record, *, deep: bool = False) -> str:
    return "; ".join(CampaignCheck(CAMPAIGN, deep=deep)(record))


def test_records_carry_zones_types_the_largest_diameter_and_the_label(records: dict[str, Record]) -> None:
    assert records["farm0_t1_s0"].arrays["zone"].tolist() == [0] * 5 + [1] * 3
    assert "types" not in records["farm0_t1_s0"].arrays
    mixed = records["farm2_t0_s0"]
    assert "zone" not in mixed.arrays
    assert sorted(mixed.arrays["types"].tolist()) == [0, 0, 1, 1, 1, 1]
    assert mixed.attributes["diameter"] == 126.0
    assert mixed.attributes["turbine"] == "three+five"
    in_turn = records["farm1_t0_s0"].arrays
    assert sorted(in_turn["types"][:3].tolist()) == [0, 1, 1]
    assert in_turn["types"][3:].tolist() == [0, 0, 0]


def test_good_records_pass_the_deep_check(records: dict[str, Record]) -> None:
    assert [_said(record, deep=True) for record in records.values()] == [""] * 4


def test_a_turbine_in_the_zone_beside_its_own_is_found(records: dict[str, Record]) -> None:
    record = records["farm0_t0_s0"]
    layout = record.arrays["layout"].copy()
    layout[:, [0, 5]] = layout[:, [5, 0]]
    said = _said(_changed(record, layout=layout))
    assert "1 turbine stands outside zone 'west', turbine 0 by" in said
    assert "1 turbine stands outside zone 'east', turbine 5 by" in said


SPOILT: dict[str, tuple[Callable[[Record], Record], str]] = {
    "zones in another order": (
        lambda r: _changed(r, zone=r.arrays["zone"][::-1].copy()),
        "zone is not 3 + 3 turbines",
    ),
    "types of another count": (
        lambda r: _changed(r, types=np.zeros(6, np.int64)),
        "has 6 turbines of type 'three', but the mix asks for 4",
    ),
    "types that are not there": (lambda r: _changed(r, types=np.full(6, 7)), "one of the farm's types"),
    "too few types": (lambda r: _changed(r, types=np.zeros(3, np.int64)), "one of the farm's types"),
    "an energy above the rated power": (
        lambda r: _changed(r, aep=np.array(8.766 * (4 * 3.0 + 2 * 5.0) * 1.0001)),
        "at rated power all year it would be 192.852000 GWh",
    ),
    "an energy above that without wakes": (
        lambda r: _changed(r, aep=np.array(8.766 * (4 * 3.0 + 2 * 5.0) * 0.99)),
        "without any wakes",
    ),
}


@pytest.mark.parametrize("case", SPOILT)
def test_a_spoilt_record_of_a_mix_is_found(case: str, records: dict[str, Record]) -> None:
    spoil, words = SPOILT[case]
    assert words in _said(spoil(records["farm1_t0_s0"]))


def test_swapped_types_are_found_by_the_deep_check_alone(records: dict[str, Record]) -> None:
    record = records["farm2_t0_s0"]
    types = record.arrays["types"].copy()
    one, other = int(np.argmin(types)), int(np.argmax(types))
    types[[one, other]] = types[[other, one]]
    assert _said(_changed(record, types=types)) == ""
    assert "but the layout gives" in _said(_changed(record, types=types), deep=True)


def test_the_spacing_of_a_pair_is_the_mean_of_its_two(records: dict[str, Record]) -> None:
    record = records["farm2_t0_s0"]
    order = np.argsort(record.arrays["types"], kind="stable")
    types, apart = record.arrays["types"][order], 0.5 * 3 * (90.0 + 126.0)

    def said(gap: float) -> str:
        x = np.array([0.0, 2000.0, 2000.0 + gap, 4000.0, 4000.0, 0.0])
        y = np.array([0.0, 0.0, 0.0, 0.0, 3000.0, 3000.0])
        return _said(_changed(record, layout=np.stack([x, y]), types=types))

    assert "apart" not in said(apart)
    assert "turbines 1 and 2 are 323 m apart, but must be 324 m" in said(apart - 1.0)


def test_zones_are_searched_together_or_in_turn() -> None:
    pipeline = pipeline_of(CAMPAIGN)
    cells: tuple[Cell, ...] = CAMPAIGN.cells()
    assert method_of(CAMPAIGN, cells[0], pipeline) is pipeline
    in_turn = method_of(CAMPAIGN, cells[2], pipeline)
    assert (type(in_turn).__name__, getattr(in_turn, "rounds", None)) == ("InTurn", 2)
    assert problem_of(CAMPAIGN, cells[2]).mix == [[1, 2], [3, 0]]
    assert problem_of(CAMPAIGN, cells[3]).mix == [2, 4]
