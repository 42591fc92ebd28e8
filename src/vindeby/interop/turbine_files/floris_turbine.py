"""Turbines of FLORIS 4 (YAML): power in kW and thrust coefficients over wind speed.

As in FLORIS, power is 0 outside the table, and the thrust coefficient is kept from 0.0001 to 0.9999. What FLORIS needs
for yaw, tilt, wake mixing and derating is not read, and that is said.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NoReturn

from vindeby.campaign.reading.yaml_text import Document, not_used, unused
from vindeby.campaign.reading.yaml_text import read as read_yaml
from vindeby.interop.file_reading import FileContent, Options, as_float, read_text, refuse
from vindeby.interop.turbine_files.curve_ends import limited, with_value_outside

_LEAST_CT, _MOST_CT = 0.0001, 0.9999
_USED = ("turbine_type", "hub_height", "rotor_diameter", "power_thrust_table")
_CURVES = ("wind_speed", "power", "thrust_coefficient")
_VERSION_3 = ("generator_efficiency", "pP", "pT", "ref_density_cp_ct")
_PLAIN_OPERATION = ("cosine-loss", "simple", "mixed", "simple-derating", "awc")
"""Models of operation that give the curve itself where nothing is yawed, derated or mixed."""
_USUAL_DENSITY = 1.225


def read(path: Path, options: Options) -> FileContent:
    """The turbine as an entry of a campaign, without the name unless the file has one."""
    del options  # there are none: the table of formats refuses any
    document = read_yaml(read_text(path), str(path))
    turbine = _FlorisFile(path, document)
    data = turbine.entry()
    return FileContent(data, "floris-turbine", tuple(turbine.notes))


class _FlorisFile:
    def __init__(self, path: Path, document: Document) -> None:
        self.path, self.document, self.notes = path, document, list[str]()
        if not isinstance(document.data, dict):
            refuse(path, "is not a mapping", "is it a turbine file of FLORIS?")
        self.data: dict[str, Any] = document.data
        self._refuse_other_kinds()
        self.table: dict[str, Any] = self.data["power_thrust_table"]

    def _refuse_other_kinds(self) -> None:
        if any(key in self.data for key in _VERSION_3):
            refuse(
                self.path,
                "is a turbine of FLORIS 3",
                "convert it: floris.turbine_library has convert_turbine_v3_to_v4",
            )
        if not isinstance(self.data.get("power_thrust_table"), dict):
            refuse(self.path, "has no power_thrust_table", "is it a turbine file of FLORIS 4?")
        if self.data.get("multi_dimensional_cp_ct") is True:
            refuse(
                self.path,
                "has curves that depend on more than wind speed (multi_dimensional_cp_ct)",
                "write a file with the curves of one condition",
            )

    def entry(self) -> dict[str, Any]:
        """Diameter, hub height and the curves with their ends as FLORIS has them."""
        speeds, power, thrust = (self._curve(name) for name in _CURVES)
        for name, values in (("power", power), ("thrust_coefficient", thrust)):
            if len(values) != len(speeds):
                self._refuse(
                    name, f"has {len(values)} entries, but wind_speed has {len(speeds)}", "give one for each"
                )
        if len(speeds) < 2:
            self._refuse("wind_speed", "has fewer than two entries", "tabulate the curve")
        for index in range(1, len(speeds)):
            if speeds[index] <= speeds[index - 1]:
                self._refuse("wind_speed", f"must increase, but entry {index} does not", "sort the table")
        powers = with_value_outside(list(zip(speeds, power, strict=True)), 0.0)
        thrusts = with_value_outside(limited(speeds, thrust, _LEAST_CT, _MOST_CT), _LEAST_CT)
        table: dict[str, Any] = {
            "rotor_diameter_m": self._size("rotor_diameter"),
            "hub_height_m": self._size("hub_height"),
            "wind_speed": [speed for speed, _ in powers],
            "power_kw": [value for _, value in powers],
            "ct_wind_speed": [speed for speed, _ in thrusts],
            "ct": [value for _, value in thrusts],
        }
        self._say_what_is_ignored()
        called = self.data.get("turbine_type")
        return {"table": table} | ({"name": called} if isinstance(called, str) and called else {})

    def _size(self, name: str) -> float:
        value = self.data.get(name)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0.0 < as_float(value) < math.inf
        ):
            self._refuse_at((name,), name, "must be a number of metres above 0", "correct it")
        return float(value)

    def _curve(self, name: str) -> list[float]:
        values = self.table.get(name)
        if not isinstance(values, list) or not values:
            self._refuse(name, "is missing" if values is None else "must be a list", "give a list of numbers")
        for index, value in enumerate(values):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0.0 <= as_float(value) < math.inf:
                self._refuse(
                    name, f"has an entry {index} that is no number of 0 or more", "correct it", index
                )
        return [float(value) for value in values]

    def _say_what_is_ignored(self) -> None:
        inside = unused(self.table, {(key,) for key in _CURVES})
        self.notes += not_used([*unused(self.data, {(key,) for key in _USED}), *inside])
        model = self.data.get("operation_model", "cosine-loss")
        if str(model).lower() not in _PLAIN_OPERATION:
            self.notes.append(
                f"operation_model {str(model)[:40]} is not applied: the curves are those of the table"
            )
        density = self.table.get("ref_air_density", _USUAL_DENSITY)
        if density != _USUAL_DENSITY:
            self.notes.append(
                f"the curves are for an air density of {str(density)[:10]} kg/m3 and are taken as they are; FLORIS "
                "scales them to that of the flow"
            )

    def _refuse(self, name: str, message: str, remedy: str, *inside: int) -> NoReturn:
        self._refuse_at(("power_thrust_table", name, *inside), f"power_thrust_table.{name}", message, remedy)

    def _refuse_at(self, place: tuple[str | int, ...], name: str, message: str, remedy: str) -> NoReturn:
        refuse(self.path, f"{name} {message}", remedy, self.document.origin(place).line)
