"""The wake model of a campaign as the ``wake`` part of a FLORIS 4 input, where FLORIS has it."""

from __future__ import annotations

from typing import Any

from vindeby.campaign.sections.wake_model import WakeModel

# The values that FLORIS 4 has in its own example inputs.
_CRESPO_HERNANDEZ = {"initial": 0.1, "constant": 0.5, "ai": 0.8, "downstream": -0.32}
_GAUSS = {"alpha": 0.58, "beta": 0.077, "ka": 0.38, "kb": 0.004}
_CURL = {"c_s1": 0.0563691592, "c_s2": 0.13290157, "a_f": 3.11, "b_f": -0.68, "c_f": 2.41, "alpha_mod": 1.0}


_SAME = ("bastankhah-2016", "cumulative-curl")
"""FLORIS computes these as they are here, where it takes the wind at the middle of a rotor."""


def grid_points(model: WakeModel) -> int:
    """How many points FLORIS takes across a rotor."""
    return 1 if model.chosen[0] in _SAME else 3


def wakes(model: WakeModel) -> tuple[dict[str, Any], list[str]]:
    """The part of the input, and what a reader must know: FLORIS' wakes are not the campaign's to the last digit."""
    velocity, parameters, turbulence = _velocity(model)
    key = model.chosen[0]
    notes = []
    if velocity is None:
        velocity, parameters, turbulence = "gauss", _GAUSS, "crespo_hernandez"
        notes.append(
            f"FLORIS has no wake model like {key}: the input uses its own gauss, with its own parameters, so that wake "
            "losses differ"
        )
    elif key not in _SAME:
        notes.append(
            f"the input uses FLORIS' model {velocity} for {key}; wake losses are not exactly the same"
        )
    if model.blockage is not None:
        notes.append("FLORIS has no blockage: that of the campaign is left out")
    return {
        "model_strings": {
            "combination_model": "sosfs",
            "deflection_model": "none",
            "turbulence_model": turbulence,
            "velocity_model": velocity,
        },
        "enable_secondary_steering": False,
        "enable_yaw_added_recovery": False,
        "enable_transverse_velocities": False,
        "enable_active_wake_mixing": False,
        "wake_deflection_parameters": {},
        "wake_velocity_parameters": {velocity: parameters},
        "wake_turbulence_parameters": {"crespo_hernandez": _CRESPO_HERNANDEZ},
    }, notes


def _velocity(model: WakeModel) -> tuple[str | None, dict[str, Any], str]:
    """The name of FLORIS' model, its parameters, and its turbulence model; no name where there is none."""
    key, given = model.chosen
    match key:
        case "jensen":
            return "jensen", {"we": given.k}, "none"
        case "nygaard-2022":
            return "turboparkgauss", {"A": given.a, "include_mirror_wake": True}, "none"
        case "bastankhah-2016":
            parameters = {name: getattr(given, name) for name in ("alpha", "beta", "ka", "kb")}
            return "gauss", parameters, "none"
        case "cumulative-curl":
            turbulence = "none" if given.turbulence == "none" else "crespo_hernandez"
            return "cc", {"a_s": given.ka, "b_s": given.kb, **_CURL}, turbulence
    return None, {}, "none"
