"""Which method a campaign asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vindeby.campaign import Campaign
from vindeby.errors import InputError
from vindeby.runner.methods.call import CallMethod, find_function
from vindeby.runner.methods.method_protocol import Method


def method_for(campaign: Campaign, progress: Callable[..., None]) -> Method:
    """The campaign's method, ready to prepare farms and types; InputError when it cannot be used."""
    calls = [step.call for step in campaign.method if step.call is not None]
    if calls and len(campaign.method) > 1:
        raise InputError(
            "method: a call cannot be one of several steps; let the function do them all, or leave it out"
        )
    if calls:
        found: Any = find_function(calls[0].function)
        if isinstance(found, type) and hasattr(
            found, "prepare"
        ):  # a Method of its own, such as that of evaluate
            method: Method = found(campaign)
            return method
        return CallMethod(campaign, calls[0])
    from vindeby.runner.methods.search import SearchMethod  # a campaign of calls does not wait for Numba

    return SearchMethod(campaign, progress)
