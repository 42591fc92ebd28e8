"""The wake model of a campaign in the words of windIO's ``analysis``, as far as it has words for it."""

from __future__ import annotations

from typing import Any

from vindeby.campaign.sections.wake_model import WakeModel

_SQUARES = {"superposition_model": {"ws_superposition": "Squared"}}
_LINEAR = {"superposition_model": {"ws_superposition": "Linear"}}
_INDUCTION = {"madsen": "Madsen", "momentum": "1D"}


def analysis(model: WakeModel) -> tuple[dict[str, Any] | None, list[str]]:
    """The words, or None where windIO has none for this model; and what they leave out."""
    found, notes = _wakes(model)
    if found is None:
        return None, notes
    if model.blockage is not None:
        found["blockage_model"] = {"name": "SelfSimilarityDeficit2020"}
    return found, notes


def _wakes(model: WakeModel) -> tuple[dict[str, Any] | None, list[str]]:
    key, given = model.chosen
    match key:
        case "nygaard-2022":
            words = {**_deficit("TurbOPark", slope=given.a, ceps=0.25, use_effective_ws=False), **_SQUARES}
            return {**words, "axial_induction_model": "1D"}, [
                "windIO has no words for the mirrored wakes and the rotor average of nygaard-2022"
            ]
        case "jensen":
            words = {**_deficit("Jensen", constant=given.k, use_effective_ws=False), **_SQUARES}
            return {**words, "axial_induction_model": _INDUCTION[given.induction]}, []
        case "bastankhah-2014":
            return {
                **_deficit("Bastankhah2014", constant=given.k, ceps=0.2, use_effective_ws=True),
                **_LINEAR,
            }, []
        case "niayifar-2016":
            words = {
                **_deficit("Bastankhah2014", given.a0, given.a1, ceps=0.2, use_effective_ws=True),
                **_LINEAR,
            }
            return {**words, "turbulence_model": {"name": "CrespoHernandez"}}, []
        case "bastankhah-2016":
            words = _deficit("Bastankhah2016", given.ka, given.kb, use_effective_ws=False)
            words["wind_deficit_model"]["wake_expansion_coefficient"]["free_stream_ti"] = True
            return {**words, **_SQUARES}, []
    return None, [f"windIO has no words for the wake model {key}: the file does not name one"]


def _deficit(name: str, slope: float = 0.0, constant: float | None = None, **more: Any) -> dict[str, Any]:
    """The deficit model; its width grows by k_a times the turbulence intensity plus k_b.

    windIO's schema calls k_b the factor of the turbulence, but the files and the programs that compute with them have
    it the other way round (WIFA, and the reference plants).
    """
    expansion = {"k_a": slope} if constant is None else {"k_a": slope, "k_b": constant}
    return {"wind_deficit_model": {"name": name, "wake_expansion_coefficient": expansion, **more}}
