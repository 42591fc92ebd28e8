from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.campaign.strategies import campaigns
from vindeby.campaign import Campaign

pytestmark = pytest.mark.slow

relaxed = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])


def shuffled(data: Any, order: random.Random) -> Any:
    """The same data with the keys of every mapping in another order."""
    if isinstance(data, dict):
        items = list(data.items())
        order.shuffle(items)
        return {key: shuffled(value, order) for key, value in items}
    return [shuffled(value, order) for value in data] if isinstance(data, list) else data


@given(campaigns())
@relaxed
def test_load_of_dump_is_the_same_campaign(data: dict[str, Any]) -> None:
    campaign = Campaign.from_data(data)
    again = Campaign.loads(campaign.dumps())
    assert again == campaign
    assert again.tasks() == campaign.tasks()


@given(campaigns(), st.randoms(use_true_random=False))
@relaxed
def test_tasks_do_not_depend_on_the_order_of_keys(data: dict[str, Any], order: random.Random) -> None:
    assert Campaign.from_data(shuffled(data, order)).tasks() == Campaign.from_data(data).tasks()


@given(campaigns())
@relaxed
def test_keys_and_fingerprints_are_unique_where_farms_and_types_differ(data: dict[str, Any]) -> None:
    tasks = Campaign.from_data(data).tasks()
    assert len({task.key for task in tasks}) == len(tasks)
    assert len(tasks) == Campaign.from_data(data).total_configs
    cells = {(task.farm_idx, task.type_idx) for task in tasks}
    for cell in cells:
        marks = [task.fingerprint for task in tasks if (task.farm_idx, task.type_idx) == cell]
        assert len(set(marks)) == len(marks)


@given(campaigns())
@relaxed
def test_a_campaign_cannot_be_changed_after_it_was_checked(data: dict[str, Any]) -> None:
    campaign = Campaign.from_data(data)
    for part in (campaign, campaign.farms[0], campaign.run):
        try:
            part.name = "other"  # type: ignore[union-attr,misc]
        except (TypeError, ValueError, AttributeError):
            continue
        raise AssertionError(f"{type(part).__name__} could be changed")
