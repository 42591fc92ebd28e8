"""The wake model that a windIO system names, as the nearest one that is known here; what differs is said."""

from __future__ import annotations

from typing import Any

from vindeby.interop.windio.nodes import Node
from vindeby.interop.windio.notes import Notes

_UNSAID = "nygaard-2022"
_SUMS = {
    "bastankhah-2014": "Linear", "niayifar-2016": "Linear", "jensen": "Squared", "nygaard-2022": "Squared",
    "bastankhah-2016": "Squared", "iea37": "Squared",
}  # fmt: skip
_INDUCTION = {"1d": "momentum", "madsen": "madsen"}
_NO = ("", "none")


def read_wake(system: Node, notes: Notes) -> Any:
    """The section ``wake``: from ``attributes.analysis`` or, as windIO 1 had it, ``attributes.analyses``."""
    attributes = system.get("attributes")
    analysis = None
    if attributes is not None:
        analysis = attributes.get("analysis") or attributes.get("analyses")
    model = None
    if analysis is not None:
        model = analysis.get("wind_deficit_model") or analysis.get("wake_model")
    name_node = None if model is None else model.get("name")
    if analysis is None or model is None or name_node is None:
        notes.chosen.append(f"wake model {_UNSAID}: the file names none")
        return _UNSAID
    name = name_node.text()
    chosen, parameters = _model(name, model, analysis, notes)
    told = f"{name!r} is {chosen}" + (f" with {_shown(parameters)}" if parameters else "")
    (notes.taken if _known(name) else notes.chosen).append(f"wake model: {told}")
    _note_differences(chosen, model, analysis, notes)
    wake: dict[str, Any] = {chosen: parameters}
    if _blockage(analysis, notes):
        wake["blockage"] = "self-similar-2020"
    return wake


def _word(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalnum())


def _known(name: str) -> bool:
    return _word(name) in ("jensen", "bastankhah2014", "bastankhah2016", "turbopark", "iea37")


def _model(name: str, model: Node, analysis: Node, notes: Notes) -> tuple[str, dict[str, Any]]:
    slope, constant = _expansion(model)
    match _word(name):
        case "jensen":
            parameters: dict[str, Any] = _constant_only(name, slope, constant, notes)
            induction = analysis.get("axial_induction_model")
            if induction is not None and (known := _INDUCTION.get(_word(induction.text()))):
                parameters["induction"] = known
            return "jensen", parameters
        case "bastankhah2014" if slope and constant is not None:
            return "niayifar-2016", {"a0": slope, "a1": constant}
        case "bastankhah2014":
            return "bastankhah-2014", _constant_only(name, slope, constant, notes)
        case "bastankhah2016":
            ka = {} if slope is None or slope <= 0.0 else {"ka": slope}
            return "bastankhah-2016", ka | ({} if constant is None else {"kb": constant})
        case "turbopark":
            return "nygaard-2022", {} if not slope else {"a": slope}
        case "iea37":
            return "iea37", _constant_only(name, slope, constant, notes)
    notes.doubtful.append(f"the wake model {name!r} is not known here; {_UNSAID} is taken instead")
    return _UNSAID, {}


def _expansion(model: Node) -> tuple[float | None, float | None]:
    """k_a and k_b of a width that grows by k_a I + k_b, I the turbulence intensity."""
    node = model.get("wake_expansion_coefficient")
    if node is None:
        return None, None
    if not isinstance(node.value, dict):
        return None, node.positive()
    slope, constant = node.get("k_a"), node.get("k_b")
    for one in (slope, constant):
        if one is not None and one.number() < 0.0:
            one.refuse("is negative", "correct it", one.number())
    return None if slope is None else slope.number(), None if constant is None else constant.number()


def _constant_only(name: str, slope: float | None, constant: float | None, notes: Notes) -> dict[str, Any]:
    if slope and not constant:
        notes.doubtful.append(
            f"wake model {name!r}: k_a {slope:g} is taken as the expansion k: there is no k_b"
        )
        return {"k": slope}
    if slope:
        notes.ignored.append(
            f"k_a {slope:g} of wake model {name!r}: its expansion here is k_b, whatever the turbulence"
        )
    return {"k": constant} if constant else {}


def _note_differences(chosen: str, model: Node, analysis: Node, notes: Notes) -> None:
    """What the file asks for that the model here does otherwise."""
    superposition = analysis.get("superposition_model")
    summed = None if superposition is None else superposition.get("ws_superposition")
    if summed is not None and summed.text().lower() != _SUMS[chosen].lower():
        notes.ignored.append(f"ws_superposition {summed.text()}: {chosen} has {_SUMS[chosen]}")
    ceps, usual = model.get("ceps"), {"nygaard-2022": 0.25}.get(chosen, 0.2)
    if ceps is not None and ceps.number() != usual:
        notes.ignored.append(f"ceps {ceps.number():g}: {chosen} has {usual:g}")
    for key in ("turbulence_model", "deflection_model"):
        part = analysis.get(key)
        named = None if part is None else part.get("name")
        if named is not None and isinstance(named.value, str) and named.value.lower() not in _NO:
            own = "CrespoHernandez" if chosen == "niayifar-2016" else ""
            if named.value != own:
                notes.ignored.append(f"{key} {named.value}: {chosen} has {own or 'none of its own'}")


def _blockage(analysis: Node, notes: Notes) -> bool:
    part = analysis.get("blockage_model")
    named = None if part is None else part.get("name")
    if named is None or not isinstance(named.value, str) or named.value.lower() in _NO:
        return False
    if _word(named.value) == "selfsimilaritydeficit2020":
        notes.taken.append("blockage: self-similar-2020")
        return True
    notes.ignored.append(f"blockage_model {named.value}: only SelfSimilarityDeficit2020 is known here")
    return False


def _shown(parameters: dict[str, Any]) -> str:
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in parameters.items()
    )
