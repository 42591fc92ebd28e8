"""The wake model of a windIO system, in the words of ``analysis`` that reader and export share.

A file names a model and its parts. They are read as the nearest model that is known here; what differs is said.
"""

from typing import Any, NamedTuple

from vindeby.interop.windio.nodes import Node, Notes

_UNSAID = "nygaard-2022"

NAMES = {
    "jensen": "Jensen", "niayifar-2016": "Bastankhah2014", "bastankhah-2014": "Bastankhah2014",
    "bastankhah-2016": "Bastankhah2016", "nygaard-2022": "TurbOPark",
}  # fmt: skip
"""The windIO names of the models; a ``bastankhah-2014`` that grows with the turbulence is ``niayifar-2016``."""
COMPOSED = {"jensen": "top-hat", "bastankhah-2014": "gaussian"}
"""The models whose name in windIO also stands for a model that is composed of parts."""
GROWTH = {"niayifar-2016": ("a0", "a1"), "bastankhah-2016": ("ka", "kb"), "nygaard-2022": ("a", "")}
"""The windIO names of the two numbers of ``Growth``, if the model has them; all others have the constant ``k``."""

PARTS: dict[str, tuple[str, dict[Any, str]]] = {
    "induction": ("axial_induction_model", {"1D": "momentum", "Madsen": "madsen"}),
    "superposition": ("superposition_model.ws_superposition", {"Linear": "linear", "Squared": "squares"}),
    "rotor": ("rotor_averaging.wake_averaging", {"center": "centre", "grid": "overlap"}),
    "reference": ("wind_deficit_model.use_effective_ws", {True: "local", False: "free"}),
    "ceps": ("wind_deficit_model.ceps", {}),
}
"""The places of the parts of a wake model in the analysis, and windIO's words for them; none for a number."""
_FREE = {"superposition": "squares", "reference": "free"}
_LOCAL = {"induction": "momentum", "superposition": "linear", "reference": "local", "ceps": 0.2}
OWN: dict[str, dict[str, Any]] = {
    "jensen": {**_FREE, "induction": "madsen", "rotor": "overlap"},
    "bastankhah-2014": {**_LOCAL, "rotor": "centre"},
    "niayifar-2016": {**_LOCAL, "rotor": "overlap"},
    "bastankhah-2016": {**_FREE, "induction": "momentum", "rotor": "centre"},
    "nygaard-2022": {**_FREE, "induction": "momentum", "rotor": "overlap", "ceps": 0.25},
    "iea37": {**_FREE, "induction": "momentum", "rotor": "centre"},
}


class Growth(NamedTuple):
    """The growth of a wake's width per metre, k = ``factor`` I + ``constant``, with the turbulence intensity I."""

    factor: float
    constant: float

    def __str__(self) -> str:
        terms = [f"{self.factor:g} I"] * bool(self.factor) + [f"{self.constant:g}"] * bool(self.constant)
        return f"k = {' + '.join(terms) or 0}"


def read_wake(analysis: Node | None, notes: Notes) -> Any:
    """Return the section ``wake``; k_a and k_b are read by their sizes."""
    model = analysis and (analysis.get("wind_deficit_model") or analysis.get("wake_model"))
    name_node = model and model.get("name")
    if analysis is None or model is None or name_node is None:
        notes.chosen.append(f"wake model {_UNSAID}: the file names none")
        return _UNSAID
    name, found = name_node.text(), (_UNSAID, dict[str, Any]())
    chosen = {_word(known): key for key, known in NAMES.items()}.get(_word(name), _word(name))
    if chosen in OWN:
        found = _with_growth(chosen, model, notes)
    else:
        notes.doubtful.append(f"the wake model {name!r} is not known here; {_UNSAID} is taken instead")
    named, parameters = _with_parts(*found, analysis, notes)
    more = " with " * bool(parameters) + ", ".join(f"{part} {value}" for part, value in parameters.items())
    (notes.taken if chosen in OWN else notes.chosen).append(f"wake model: {name!r} is {named}{more}")
    for key in ("turbulence_model", "deflection_model"):
        asked, own = _name_of(analysis, key), "CrespoHernandez" if named == "niayifar-2016" else ""
        if asked not in ("", own):
            notes.ignored.append(f"{key} {asked}: {named} has {own or 'none of its own'}")
    wake: dict[str, Any] = {named: parameters}
    if _blockage(analysis, notes):
        wake["blockage"] = "self-similar-2020"
    return wake


def _word(name: object) -> str:
    return "".join(one for one in str(name).lower() if one.isalnum())


def _with_growth(key: str, model: Node, notes: Notes) -> tuple[str, dict[str, Any]]:
    node = model.get("wake_expansion_coefficient")
    if node is None:
        return key, {}
    is_pair = isinstance(node.value, dict)
    given = [node.get("k_a"), node.get("k_b")] if is_pair else [None, node]
    if key == "nygaard-2022":
        return key, _turbopark(given, notes) if is_pair else {}
    k_a, k_b = (0.0 if one is None or one.value == 0 else _not_negative(one) for one in given)
    readings = {"k = k_a + k_b I": Growth(k_b, k_a), "k = k_a I + k_b": Growth(k_a, k_b)}
    fitting = next((how for how, growth in readings.items() if _is_usual(growth)), "")
    if is_pair and not fitting:
        node.refuse(
            f"k_a {k_a:g} and k_b {k_b:g} fit neither {' nor '.join(readings)}: a factor of the turbulence intensity I "
            "is 0.1 to 1, a constant at most 0.1",
            "correct them, or give the wake model of the campaign",
        )
    growth = readings[fitting] if is_pair else Growth(0.0, k_b)
    if not any(growth):
        notes.doubtful.append("wake expansion 0: the model has that of its own constants")
        return key, {}
    why = f": k_a {k_a:g} and k_b {k_b:g} are read as {fitting}, by their sizes" if is_pair else ""
    notes.chosen.append(f"wake expansion {growth}{why}")
    key = "niayifar-2016" if growth.factor and key == "bastankhah-2014" else key
    names = GROWTH.get(key, ("", "k"))
    if any(number and not name for name, number in zip(names, growth, strict=True)):
        node.refuse(f"is {growth}, which {key} does not have", "correct it, or give the wake model")
    if key == "bastankhah-2016" and not growth.factor:
        notes.doubtful.append(f"{key} needs a factor of the turbulence intensity: its own is taken")
        return key, {"kb": growth.constant}
    for one in given:
        if one is not None:
            one.use()
    return key, {name: number for name, number in zip(names, growth, strict=True) if name}


def _turbopark(given: list[Node | None], notes: Notes) -> dict[str, Any]:
    """Return the A of TurbOPark, which has one number: k_a, or k_b if that is the only one."""
    for one in given:
        if one is not None and (a := one.value and _not_negative(one)):
            notes.chosen.append(f"wake expansion A = {a:g}, the factor of the turbulence in TurbOPark")
            return {"a": a}
    return {}


def _is_usual(growth: Growth) -> bool:
    """Return whether both numbers have a usual size, which they have in at most one reading of windIO."""
    return (growth.factor == 0.0 or 0.1 < growth.factor <= 1.0) and growth.constant <= 0.1


def _not_negative(node: Node) -> float:
    number = node.number()
    if number < 0.0:
        node.refuse("is negative", "correct it", number)
    return number


def _with_parts(
    key: str, parameters: dict[str, Any], analysis: Node, notes: Notes
) -> tuple[str, dict[str, Any]]:
    """Return the model with the parts that the file names, which may make it a composed one; note what differs."""
    others = dict[str, Any]()
    for part, own in OWN[key].items():
        path, words = PARTS[part]
        node: Node | None = analysis
        for step in path.split("."):
            node = node.get(step) if node is not None and isinstance(node.value, dict) else None
        if node is None:
            continue
        known = {_word(word): meaning for word, meaning in words.items()}
        given = known.get(_word(node.value)) if words else node.number()
        if given is not None:
            node.use()
        if key in COMPOSED and given is not None and given != own:
            others[part] = given
        elif given != own:
            has = next((word for word, meaning in words.items() if meaning == own), own)
            notes.ignored.append(f"{path.rpartition('.')[2]} {node.value}: {key} has {has}")
    if not others or (key == "jensen" and not others.keys() & _FREE.keys()):
        return key, parameters | others
    return COMPOSED[key], {**parameters, **OWN[key], **others}


def _name_of(analysis: Node, part: str) -> str:
    named = analysis.get(part, "name")
    if named is None or not isinstance(named.value, str) or named.text().lower() in ("", "none"):
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
