"""Campaign files with very many parts are read in good time, or refused with a count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import SMALL
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of
from vindeby.campaign.reading.yaml_text import MAX_KEYS, read
from vindeby.campaign.survey import survey
from vindeby.errors import CampaignError


def _with_boundary(ring: str) -> str:
    return SMALL.replace("[[0, 0], [4000, 0], [4000, 3000], [0, 3000]]", ring)


def _many_farms(count: int) -> str:
    farms = "".join(
        f"  - name: f{i}\n    boundary: [[{5000 * i}, 0], [{5000 * i + 4000}, 0], [{5000 * i}, 4000]]\n"
        for i in range(count)
    )
    return SMALL[: SMALL.index("farms:\n") + 7] + farms + SMALL[SMALL.index("turbines:\n") :]


@pytest.mark.parametrize("count", [8_000, 50_000])
def test_a_ring_that_crosses_itself_everywhere_is_refused_at_once(count: int) -> None:
    """All pairs of edges that meet would be 2.4 GB for 8,000 vertices."""
    ring = np.random.default_rng(1).uniform(0.0, 1e5, (count, 2)).round(1).tolist()
    with pytest.raises(CampaignError, match=r"crosses or touches itself.* is near vertex"):
        Campaign.loads(_with_boundary(str(ring)))


class _Counted(tuple[Any, ...]):
    """A tuple that counts how many of its entries were looked at one after the other."""

    __slots__ = ()
    seen = 0

    def __iter__(self) -> Iterator[Any]:
        for entry in super().__iter__():
            type(self).seen += 1
            yield entry


def test_a_survey_looks_at_every_farm_so_many_times_and_not_at_all_for_each() -> None:
    asked = Campaign.loads(_many_farms(300))
    asked = asked.model_copy(update={"farms": _Counted(asked.farms)})
    assert len(survey(asked).cells) == 600
    assert not neighbours_of(asked, 299)
    assert 300 <= _Counted.seen < 50 * 300


def test_a_mapping_of_too_many_keys_is_refused_where_it_becomes_too_long() -> None:
    text = "".join(f"key{i}: {i}\n" for i in range(MAX_KEYS + 1))
    with pytest.raises(
        CampaignError, match=rf"many\.yaml:{MAX_KEYS + 1}: a mapping of more than 20,000 keys"
    ):
        read(text, "many.yaml")
    assert len(read(text[: text.rindex("key")], "many.yaml").data) == MAX_KEYS


def test_the_first_of_many_problems_are_listed_and_the_others_counted() -> None:
    text = SMALL + "".join(f"key{i}: {i}\n" for i in range(3_000))
    with pytest.raises(CampaignError) as caught:
        Campaign.loads(text, "many.yaml")
    *listed, last = map(str, caught.value.problems)
    assert len(listed) == 100
    assert "key0: is not a known key" in listed[0]
    assert "key99: is not a known key" in listed[99]
    assert last.startswith("many.yaml: there are 2,900 more problems")


@pytest.mark.parametrize("number", ["0x" + "f" * 3_600, "0o" + "7" * 4_900, "9" * 400, "0x" + "f" * 300])
def test_a_number_of_hundreds_of_digits_is_refused_in_every_notation(number: str) -> None:
    with pytest.raises(CampaignError, match=rf"seeds: a number of {len(number)} digits"):
        Campaign.loads(SMALL.replace("seeds: 3", f"seeds: {number}"))
