"""Campaigns of a function that has nothing to do with wind: ``method: {call: {function: ..., returns: [...]}}``.

Such a campaign says which arrays its function returns, and may leave out everything about wind. What it leaves out is
put in when it is read, so that every part of vindeby finds a complete campaign; nothing of it reaches a result. These
values are part of fingerprints: they must never change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign

_AMOUNTS = ("n_turbines", "capacity_mw", "mix")


def put_in_what_is_left_out(data: Any) -> Any:
    """The data of a campaign, complete where its function says what it returns; any other data as it is."""
    if not isinstance(data, dict) or not _says_what_it_returns(data.get("method")):
        return data
    left_out: dict[str, Any] = {
        "farms": [{"name": "all", "boundary": [[0, 0], [1000, 0], [1000, 1000], [0, 1000]]}],
        "turbines": [
            {"name": "none", "generic": {"rated_power_mw": 1, "rotor_diameter_m": 50, "hub_height_m": 50}}
        ],
        "min_spacing": "1 D",
        "site": {
            "weibull": {
                "turbulence_intensity": 0.1,
                "sectors": [{"direction": 0, "a": 9, "k": 2, "frequency": 1}],
            }
        },
        "wake": "jensen",
    }
    if not any(name in data for name in _AMOUNTS):
        left_out["n_turbines"] = 1
    return {**left_out, **data}


def returned_arrays(campaign: Campaign) -> tuple[str, ...] | None:
    """The arrays that a result has instead of a layout and an energy; None for a campaign about wind."""
    for step in campaign.method:
        if step.call is not None and step.call.returns is not None:
            return step.call.returns
    return None


def _says_what_it_returns(method: Any) -> bool:
    steps = method if isinstance(method, list | tuple) else [method]
    calls = [step.get("call") for step in steps if isinstance(step, dict)]
    return any(isinstance(call, dict) and call.get("returns") is not None for call in calls)
