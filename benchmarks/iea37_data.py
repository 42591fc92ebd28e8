"""The layout cases of IEA Wind Task 37 as problems, from the campaign files of the open cases."""

from __future__ import annotations

from vindeby.assembly.search import problem_of
from vindeby.campaign import Campaign
from vindeby.layout import LayoutProblem

CASES = ("cs1-16", "cs1-36", "cs1-64", "cs3", "cs4")


def problem(name: str) -> LayoutProblem:
    """A case as a layout problem."""
    campaign = Campaign.load(f"case:iea37-{name}")
    return problem_of(campaign, campaign.cells()[0])
