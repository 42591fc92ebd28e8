"""A windIO turbine: a power curve, power coefficients, or rated figures; thrust always as a curve."""

from decimal import Decimal
from typing import Any

from vindeby import units
from vindeby.interop.windio.nodes import Node, Notes

_NAME_LENGTH = 120
_TALLEST_M, _FASTEST = 1000.0, 200.0


def read_turbine(node: Node, notes: Notes) -> dict[str, Any]:
    """One turbine type as a campaign file has it."""
    performance = node.need("performance", "give hub_height, rotor_diameter and performance")
    common = {
        "rotor_diameter_m": node.need("rotor_diameter", "give it in metres").positive(_TALLEST_M),
        "hub_height_m": node.need("hub_height", "give it in metres").positive(_TALLEST_M),
    }
    name_node = node.get("name")
    name = printable_name(name_node.text() if name_node is not None else "turbine")
    rated = performance.get("rated_power")
    if rated is not None:
        common["rated_power_mw"] = rated.positive() / units.MW
    power = _one_power(performance)
    if power == "rated_power":
        message, form = _cubic(performance, common, name, notes)
    else:
        message, form = _tabulated(power, performance, common, name, notes)
    speeds, ct, _ = _curve(performance, "Ct", notes)
    inner = next(iter(form.values()))
    inner |= {"ct": ct} if speeds == inner.get("wind_speed") else {"ct_wind_speed": speeds, "ct": ct}
    size = f"rotor {common['rotor_diameter_m']:g} m, hub {common['hub_height_m']:g} m"
    notes.taken.append(f"turbine {name!r}: {message}, {size}")
    return {"name": name, **form}


def printable_name(text: str) -> str:
    """A name as a campaign allows it."""
    kept = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(kept.split())[:_NAME_LENGTH].strip() or "unnamed"


def _one_power(performance: Node) -> str:
    """Return the most exact description of the power; the others are then listed as ignored."""
    for key in ("power_curve", "Cp_curve"):
        if performance.has(key):
            return key
    if performance.has("rated_power") and performance.has("rated_wind_speed"):
        return "rated_power"
    return performance.refuse(
        "does not say how much power the turbine gives",
        "give power_curve, Cp_curve, or rated_power and rated_wind_speed",
    )


def curve(node: Node, speeds: str, values: str) -> tuple[list[float], list[float]]:
    """Wind speeds, which increase, and as many values of a curve that stand under these keys."""
    axis_node, given_node = (node.need(key, f"give {speeds} and {values}") for key in (speeds, values))
    axis, given = axis_node.numbers(), given_node.numbers()
    if len(axis) < 2:
        axis_node.refuse("must be a list of two numbers or more", "give the wind speeds of the curve")
    for index, (entry, speed) in enumerate(zip(axis_node.entries(), axis, strict=True)):
        if not 0.0 <= speed <= _FASTEST:
            entry.refuse(f"is not between 0 and {_FASTEST:g}", "give wind speeds in m/s", speed)
        if index and speed <= axis[index - 1]:
            entry.refuse(
                f"must increase, but the entry before is {axis[index - 1]:g}", "sort the curve", speed
            )
    if len(given) != len(axis):
        given_node.refuse(f"has {len(given)} numbers and {speeds} has {len(axis)}", "give one for each")
    return axis, given


def _curve(performance: Node, what: str, notes: Notes) -> tuple[list[float], list[float], Node]:
    values, speeds = f"{what}_values", f"{what}_wind_speeds"
    node = performance.need(f"{what}_curve", f"give {{{speeds}, {values}}}")
    axis, given = curve(node, speeds, values)
    if min(given) < 0.0:
        notes.doubtful.append(
            f"{node.where}.{values}: {min(given):g} is below 0 and is taken as 0 (own consumption is not modelled)"
        )
        given = [max(value, 0.0) for value in given]
    return axis, given, node


def _tabulated(
    key: str, performance: Node, common: dict[str, float], name: str, notes: Notes
) -> tuple[str, dict[str, Any]]:
    what, rotor = key.removesuffix("_curve"), common["rotor_diameter_m"]
    speeds, values, node = _curve(performance, what, notes)
    if what == "power":
        power_w, column = values, {"power_kw": [_in_kw(power) for power in values]}
        remedy = "give power in W, as windIO has it, and rotor_diameter in metres"
    else:
        power_w, column = [], {"cp": values}
        power_w += [cp * units.wind_power_w(rotor, speed) for cp, speed in zip(values, speeds, strict=True)]
        remedy = "give Cp as a fraction"
        notes.chosen.append(
            f"turbine {name!r}: power from Cp with an air density of 1.225 kg/m3, linear in between"
        )
    if why := units.impossible_power(rotor, zip(speeds, power_w, strict=True)):
        node.refuse(f"{what}_values: {why}", remedy)
    _note_power_outside(name, speeds, power_w, notes)
    largest_mw, rated = max(power_w) / units.MW, common.get("rated_power_mw")
    if rated is None:
        notes.chosen.append(
            f"turbine {name!r}: rated_power is not given; the largest power of the curve, {largest_mw:g} MW, is taken"
        )
    elif abs(rated - largest_mw) > 0.2 * largest_mw:
        performance.need("rated_power").refuse(
            f"is far from the largest power of the curve, {largest_mw:.6g} MW", "give it in W", rated * 1e6
        )
    return f"{what} curve, {len(speeds)} points", {"table": {**common, "wind_speed": speeds, **column}}


def _cubic(
    performance: Node, common: dict[str, float], name: str, notes: Notes
) -> tuple[str, dict[str, Any]]:
    cut_in = performance.need("cutin_wind_speed", "give it, since there is no power curve").positive()
    cut_out = performance.need("cutout_wind_speed", "give it, since there is no power curve").positive()
    rated_node = performance.need("rated_wind_speed")
    rated = rated_node.positive()
    if not cut_in < rated < cut_out:
        rated_node.refuse(
            f"is not between cutin_wind_speed {cut_in:g} and cutout_wind_speed {cut_out:g}",
            "correct it",
            rated,
        )
    notes.chosen.append(
        f"turbine {name!r}: there is no power curve; power rises with the cube of (u - cut-in) / (rated - cut-in), as "
        "in the IEA Task 37 case studies"
    )
    speeds = {"cut_in": cut_in, "rated_speed": rated, "cut_out": cut_out}
    return "rated power and wind speed", {"cubic": {**common, **speeds}}


def _in_kw(power_w: float) -> float:
    """Convert by decimals, so that 1014237.244 W are 1014.237244 kW and not 1014.2372439999999 kW."""
    return float(Decimal(repr(power_w)).scaleb(-3))


def _note_power_outside(name: str, speeds: list[float], power_w: list[float], notes: Notes) -> None:
    ends = {"below": (speeds[0], power_w[0]), "above": (speeds[-1], power_w[-1])}
    held = [f"{_in_kw(power):g} kW {side} {speed:g} m/s" for side, (speed, power) in ends.items() if power]
    if held:
        notes.chosen.append(
            f"turbine {name!r}: the first and last powers of the curve hold outside it, as in PyWake "
            f"({' and '.join(held)}); `outside: zero` gives none there, as in FLORIS"
        )
