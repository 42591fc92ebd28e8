"""A merge of a campaign's results: what every merge needs to know of the campaign, said once.

``run``, ``merge`` and the merges while a campaign runs differ in when and how they merge, never in what counts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from vindeby.campaign import Campaign
from vindeby.campaign.result_arrays import RESULT_ARRAYS, STUDY_ARRAYS
from vindeby.store.merge.merge import MergeOptions


def merge_options(
    campaign: Campaign | None, options: MergeOptions | None = None, *, invalid: Collection[str] = frozenset()
) -> MergeOptions:
    """The same options with the campaign's root attributes, units and fingerprints, and what is invalid.

    ``invalid`` are checksums of records that others may replace. Without a campaign only the units are known.
    """
    is_study = campaign is not None and any(step.call and step.call.cases for step in campaign.method)
    return replace(
        options or MergeOptions(),
        root={} if campaign is None else campaign.root_attributes(),
        array_attributes={**RESULT_ARRAYS, **(STUDY_ARRAYS if is_study else {})},
        asked={} if campaign is None else campaign.fingerprints(),
        invalid=invalid,
    )
