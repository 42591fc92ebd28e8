"""A windIO turbine: a power curve, power coefficients, or rated figures; thrust always as a curve.

The checks of the campaign say which numbers are possible.
"""

from decimal import Decimal
from typing import Any

from vindeby import units
from vindeby.interop.windio.nodes import Node, Notes

_NAME_LENGTH = 120
_TALLEST_M, _FASTEST = 1000.0, 200.0


def read_turbine(node: Node, notes: Notes) -> dict[str, Any]:
    """Return one turbine type as a campaign file has it."""
    performance = node.need("performance", "give hub_height, rotor_diameter and performance")
    common = {
        "rotor_diameter_m": node.need("rotor_diameter", "give it in metres").positive(_TALLEST_M),
        "hub_height_m": node.need("hub_height", "give it in metres").positive(_TALLEST_M),
    }
    name_node = node.get("name")
    name = printable_name(name_node.text() if name_node is not None else "turbine")
    rated = performance.get("rated_power")
    if rated is not None:
        common["rated_power_mw"] = rated.number() / units.MW
    inner: dict[str, Any]
    if performance.has("power_curve"):
        speeds, power_w = _curve(performance, "power", notes)
        power_kw = [_in_kw(power) for power in power_w]
        inner, form = {**common, "wind_speed": speeds, "power_kw": power_kw}, "table"
        about = _chosen_for_a_curve(speeds, power_w, "rated_power_mw" in common)
    elif performance.has("Cp_curve"):
        speeds, cp = _curve(performance, "Cp", notes)
        inner, form = {**common, "wind_speed": speeds, "cp": cp}, "table"
        power_w = [
            share * units.wind_power_w(common["rotor_diameter_m"], speed)
            for share, speed in zip(cp, speeds, strict=True)
        ]
        about = ["power from Cp with an air density of 1.225 kg/m3, linear in between"]
        about += _chosen_for_a_curve(speeds, power_w, "rated_power_mw" in common)
    elif rated is not None and performance.has("rated_wind_speed"):
        inner, form = {**common, **_wind_speeds(performance)}, "cubic"
        about = ["there is no power curve; power is cubic between cut-in and rated speed, as in IEA Task 37"]
    else:
        remedy = "give power_curve, Cp_curve, or rated_power and rated_wind_speed"
        performance.refuse("does not say how much power the turbine gives", remedy)
    notes.chosen += [f"turbine {name!r}: {one}" for one in about]
    speeds, ct = _curve(performance, "Ct", notes)
    inner |= {"ct": ct} if speeds == inner.get("wind_speed") else {"ct_wind_speed": speeds, "ct": ct}
    points = (
        f"curve of {len(inner['wind_speed'])} points" if form == "table" else "rated power and wind speed"
    )
    size = f"rotor {common['rotor_diameter_m']:g} m, hub {common['hub_height_m']:g} m"
    notes.taken.append(f"turbine {name!r}: {points}, {size}")
    return {"name": name, form: inner}


def printable_name(text: str) -> str:
    """Return a name as a campaign allows it."""
    kept = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(kept.split())[:_NAME_LENGTH].strip() or "unnamed"


def curve(node: Node, speeds: str, values: str) -> tuple[list[float], list[float]]:
    """Return the wind speeds and the values of a curve that stand under these keys."""
    axis_node, given_node = (node.need(key, f"give {speeds} and {values}") for key in (speeds, values))
    axis, given = axis_node.numbers(), given_node.numbers()
    for entry, speed, before in zip(axis_node.entries(), axis, [-1.0, *axis], strict=False):
        if not (before < speed and 0.0 <= speed <= _FASTEST):
            entry.refuse(
                f"must be increasing wind speeds from 0 to {_FASTEST:g} m/s", "sort the curve", speed
            )
    if len(given) != len(axis):
        given_node.refuse(f"has {len(given)} numbers and {speeds} has {len(axis)}", "give one for each")
    return axis, given


def _curve(performance: Node, what: str, notes: Notes) -> tuple[list[float], list[float]]:
    values, speeds = f"{what}_values", f"{what}_wind_speeds"
    node = performance.need(f"{what}_curve", f"give {{{speeds}, {values}}}")
    axis, given = curve(node, speeds, values)
    if min(given) < 0.0:
        notes.doubtful.append(
            f"{node.where}.{values}: {min(given):g} is below 0 and is taken as 0 (own consumption is not modelled)"
        )
        given = [max(value, 0.0) for value in given]
    return axis, given


def _wind_speeds(performance: Node) -> dict[str, float]:
    names = {"cut_in": "cutin_wind_speed", "rated_speed": "rated_wind_speed", "cut_out": "cutout_wind_speed"}
    remedy = "give it, since there is no power curve"
    return {name: performance.need(key, remedy).number() for name, key in names.items()}


def _in_kw(power_w: float) -> float:
    """Convert by decimals, so that 1014237.244 W are 1014.237244 kW and not 1014.2372439999999 kW."""
    return float(Decimal(repr(power_w)).scaleb(-3))


def _chosen_for_a_curve(speeds: list[float], power_w: list[float], is_rated: bool) -> list[str]:
    """Describe the rated power that is taken, and the power outside the curve."""
    lines = []
    if not is_rated:
        largest_mw = max(power_w) / units.MW
        lines.append(f"rated_power is not given; the largest power of the curve, {largest_mw:g} MW, is taken")
    ends = {"below": (speeds[0], power_w[0]), "above": (speeds[-1], power_w[-1])}
    held = [f"{_in_kw(power):g} kW {side} {speed:g} m/s" for side, (speed, power) in ends.items() if power]
    if held:
        lines.append(
            f"the first and last powers of the curve hold outside it, as in PyWake ({' and '.join(held)}); "
            "`outside: zero` gives none there, as in FLORIS"
        )
    return lines
