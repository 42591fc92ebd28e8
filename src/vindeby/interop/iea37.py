"""Files of the IEA Task 37 case studies of layout optimisation (YAML): a turbine and a wind rose.

They are written like a schema: a number stands under ``default`` or ``maximum``, with its unit, and parts under
``properties`` or not. The power curve is not in the file: the case studies define it as a cubic, and the thrust
coefficient as 8/9, which is what the form ``cubic`` of a campaign is.
"""

from pathlib import Path

import numpy as np

from vindeby import units
from vindeby.campaign.reading.readers import FileContent
from vindeby.interop.common import Options
from vindeby.interop.windio.nodes import Node, open_root
from vindeby.interop.windio.turbine import printable_name

_TURBULENCE = ("ti", "turbulence_intensity", "turbulence_intenstiy")
"""The last of them is how the files of case studies 3 and 4 spell it."""


def read_turbine(path: Path, _: Options) -> FileContent:
    """The turbine as an entry of a campaign."""
    root = open_root(path, is_named=False).need("definitions", "is it a turbine of IEA Task 37?")
    turbine, rotor, mode = (_part(root, name) for name in ("wind_turbine", "rotor", "operating_mode"))
    rated, called, diameter = turbine.need("rated_power"), turbine.need("id"), rotor.get("diameter")
    if not rated.has("maximum"):
        rated = _part(root, "wind_turbine_lookup").need("power")
    name = called.need("description") if called.has("description") else called
    cubic = {
        "rated_power_mw": _number(rated, "W", "maximum") / units.MW,
        "rotor_diameter_m": _number(diameter, "m")
        if diameter is not None and diameter.has("default")
        else 2.0 * _number(rotor.need("radius"), "m"),
        "hub_height_m": _number(_part(root, "hub").need("height"), "m"),
        "cut_in": _number(mode.need("cut_in_wind_speed"), "m/s"),
        "rated_speed": _number(mode.need("rated_wind_speed"), "m/s"),
        "cut_out": _number(mode.need("cut_out_wind_speed"), "m/s"),
    }
    note = "power is cubic between cut-in and rated speed and the thrust coefficient is 8/9, as in the case studies"
    data = {"name": f"IEA37 {printable_name(name.text())}", "cubic": cubic}
    return FileContent(data, "iea37-turbine", (note,))


def read_rose(path: Path, _: Options) -> FileContent:
    """The rose as a table of probabilities: one wind speed for all directions, or the frequencies of many."""
    root = open_root(path, is_named=False).need("definitions", "is it a wind rose of IEA Task 37?")
    inflow = _part(root, "wind_inflow")
    direction, speed = inflow.need("direction"), inflow.need("speed")
    bins = direction.need("bins").numbers()
    if speed.has("bins"):
        speeds, shares = speed.need("bins").numbers(), speed.need("frequency").array()
        frequency = direction.need("frequency").array()
    else:
        speeds, shares = [_number(speed, "m/s")], np.ones((len(bins), 1))
        frequency = inflow.need("probability").need("default").array()
    if frequency.shape != (len(bins),) or shares.shape != (len(bins), len(speeds)):
        inflow.refuse("has frequencies of another number than its bins", "give one for each bin")
    key = next((name for name in _TURBULENCE if inflow.has(name)), _TURBULENCE[0])
    table = {
        "turbulence_intensity": _number(inflow.need(key)),
        "wind_directions": bins,
        "wind_speeds": speeds,
        "probability": (frequency[:, None] * shares).tolist(),
    }
    return FileContent({"table": table}, "iea37-rose")


def _part(node: Node, name: str) -> Node:
    found = node.need(name)
    return found.get("properties") or found


def _number(node: Node, unit: str | None = None, key: str = "default") -> float:
    said = node.get("units")
    if unit is not None and said is not None and said.value != unit:
        said.refuse("is another unit than it should be", f"give it in {unit}", said.value)
    return node.need(key).positive()
