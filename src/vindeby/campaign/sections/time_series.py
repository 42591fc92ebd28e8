"""Wind given state by state: a time series, or a list of states with a probability each."""

from __future__ import annotations

from vindeby.campaign.sections.values import Section


class TimeSeries(Section):
    """Wind direction and speed step by step."""


class States(Section):
    """Wind states with a probability each."""
