"""The key of a task: written and read in one place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES, parse_key, task_key

NUMBERS = st.integers(0, 2**32 - 1)


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["", "0123abcd"]))
def test_a_key_says_farm_type_seed_and_combination(farm: int, type_: int, seed: int, tag: str) -> None:
    assert parse_key(task_key(farm, type_, seed, tag)) == (farm, type_, seed, tag)
    key = task_key(farm, type_, seed)
    assert KEY_OF_ATTRIBUTES.format(farm_idx=farm, type_idx=type_, ss_seed=seed) == key


@pytest.mark.parametrize(
    "name",
    [
        "",
        "alpha",
        "farm0_t0",
        "farm0_t0_s",
        "farm0_t0_s-1",
        "farm0_t0_s1 ",
        "farm0_t0_s1\n",
        "xfarm0_t0_s1",
        "farm\N{SUPERSCRIPT TWO}_t0_s1",
        "farm\N{ARABIC-INDIC DIGIT ONE}_t0_s1",
        "farm" + "9" * 30 + "_t0_s1",
        "farm0_t0_s" + "1" * 5000,
    ],
)
def test_another_name_is_no_key(name: str) -> None:
    assert parse_key(name) is None


def test_fingerprints_are_those_of_the_tasks_in_their_order() -> None:
    campaign = Campaign.load("energy-island-quick")
    tasks = campaign.tasks()
    assert list(campaign.fingerprints().items()) == [(task.key, task.fingerprint) for task in tasks]
