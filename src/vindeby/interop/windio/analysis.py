"""The wake model that a windIO system names, as the nearest one that is known here; what differs is said."""

from typing import Any

from vindeby.interop.windio.nodes import Node, Notes

_UNSAID = "nygaard-2022"
_SUMS = {
    "bastankhah-2014": "Linear", "niayifar-2016": "Linear", "jensen": "Squared", "nygaard-2022": "Squared",
    "bastankhah-2016": "Squared", "iea37": "Squared",
}  # fmt: skip
_INDUCTION = {"1d": "momentum", "madsen": "madsen"}
_NO = ("", "none")


def read_wake(system: Node, notes: Notes) -> Any:
    """The section ``wake``: from ``attributes.analysis`` or, as windIO 1 had it, ``attributes.analyses``."""
    analysis = system.get("attributes", "analysis") or system.get("attributes", "analyses")
    model = analysis and (analysis.get("wind_deficit_model") or analysis.get("wake_model"))
    name_node = model and model.get("name")
    if analysis is None or model is None or name_node is None:
        notes.chosen.append(f"wake model {_UNSAID}: the file names none")
        return _UNSAID
    name = name_node.text()
    found = _model(name, model, analysis, notes)
    if found is None:
        notes.doubtful.append(f"the wake model {name!r} is not known here; {_UNSAID} is taken instead")
    chosen, parameters = found or (_UNSAID, {})
    message = f"{name!r} is {chosen}" + (f" with {_shown(parameters)}" if parameters else "")
    (notes.taken if found else notes.chosen).append(f"wake model: {message}")
    _note_differences(chosen, model, analysis, notes)
    wake: dict[str, Any] = {chosen: parameters}
    if _blockage(analysis, notes):
        wake["blockage"] = "self-similar-2020"
    return wake


def _word(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalnum())


def _model(name: str, model: Node, analysis: Node, notes: Notes) -> tuple[str, dict[str, Any]] | None:
    """The model of the file as one that is known here, with its parameters; None where it is not known."""
    k_a, k_b = _expansion(model)
    match _word(name):
        case "jensen":
            parameters: dict[str, Any] = _constant_only(name, k_a, k_b, notes)
            induction = analysis.get("axial_induction_model")
            if induction is not None and (known := _INDUCTION.get(_word(str(induction.value)))):
                induction.use()
                parameters["induction"] = known
            return "jensen", parameters
        case "bastankhah2014" if k_b is not None and (slope := _above_0(k_a)):
            return "niayifar-2016", {"a0": slope, "a1": _growth(k_b)}
        case "bastankhah2014":
            return "bastankhah-2014", _constant_only(name, k_a, k_b, notes)
        case "bastankhah2016":
            ka = {"ka": slope} if (slope := _above_0(k_a)) else {}
            return "bastankhah-2016", ka | ({} if k_b is None else {"kb": _growth(k_b)})
        case "turbopark":
            return "nygaard-2022", {"a": slope} if (slope := _above_0(k_a)) else {}
        case "iea37":
            return "iea37", _constant_only(name, k_a, k_b, notes)
    return None


def _expansion(model: Node) -> tuple[Node | None, Node | None]:
    """k_a and k_b of a width that grows by k_a I + k_b, I the turbulence intensity; a bare number is k_b."""
    node = model.get("wake_expansion_coefficient")
    if node is None:
        return None, None
    if not isinstance(node.value, dict):
        return None, node
    return node.get("k_a"), node.get("k_b")


def _growth(node: Node) -> float:
    number = node.number()
    if number < 0.0:
        node.refuse("is negative", "correct it", number)
    return number


def _above_0(node: Node | None) -> float | None:
    """The number; None for 0, which no model here takes, so that its own holds and this one is listed as ignored."""
    return None if node is None or node.value == 0 else _growth(node)


def _constant_only(name: str, k_a: Node | None, k_b: Node | None, notes: Notes) -> dict[str, Any]:
    slope, constant = None if k_a is None else _growth(k_a), _above_0(k_b)
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
    summed = analysis.get("superposition_model", "ws_superposition")
    if summed is not None and summed.text().lower() != _SUMS[chosen].lower():
        notes.ignored.append(f"ws_superposition {summed.text()}: {chosen} has {_SUMS[chosen]}")
    ceps, usual = model.get("ceps"), {"nygaard-2022": 0.25}.get(chosen, 0.2)
    if ceps is not None and ceps.number() != usual:
        notes.ignored.append(f"ceps {ceps.number():g}: {chosen} has {usual:g}")
    for key in ("turbulence_model", "deflection_model"):
        named, own = _name_of(analysis, key), "CrespoHernandez" if chosen == "niayifar-2016" else ""
        if named not in ("", own):
            notes.ignored.append(f"{key} {named}: {chosen} has {own or 'none of its own'}")


def _name_of(analysis: Node, part: str) -> str:
    """The name of a part of the analysis; none for one that says that there is none."""
    named = analysis.get(part, "name")
    if named is None or not isinstance(named.value, str) or named.text().lower() in _NO:
        return ""
    return named.text()


def _blockage(analysis: Node, notes: Notes) -> bool:
    named = _name_of(analysis, "blockage_model")
    known = _word(named) == "selfsimilaritydeficit2020"
    if known:
        notes.taken.append("blockage: self-similar-2020")
    elif named:
        notes.ignored.append(f"blockage_model {named}: only SelfSimilarityDeficit2020 is known here")
    return known


def _shown(parameters: dict[str, Any]) -> str:
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in parameters.items()
    )
