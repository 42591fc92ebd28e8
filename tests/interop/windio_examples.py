"""Small windIO systems, as plain data and as files, for the tests of their reader."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

from vindeby.campaign import Campaign
from vindeby.interop.windio.system import System, campaign_text, read_system

SPEEDS = [4, 6, 8, 10, 12, 25]
TURBINE: dict[str, Any] = {
    "name": "three",
    "performance": {
        "rated_power": 3000000,
        "power_curve": {
            "power_wind_speeds": SPEEDS,
            "power_values": [120000, 500000, 1250000, 2400000, 3000041.66, 3000000],
        },
        "Ct_curve": {"Ct_wind_speeds": [4, 9, 12, 25], "Ct_values": [0.8, 0.79, 0.45, 0.06]},
    },
    "hub_height": 90.0,
    "rotor_diameter": 100.0,
}
SIX_SECTORS = [0, 60, 120, 180, 240, 300]
WEIBULL: dict[str, Any] = {
    "wind_direction": SIX_SECTORS,
    "sector_probability": {"data": [0.1, 0.1, 0.15, 0.2, 0.3, 0.15], "dims": ["wind_direction"]},
    "weibull_a": {"data": [8.0, 8.5, 9.0, 10.0, 11.0, 9.5], "dims": ["wind_direction"]},
    "weibull_k": {"data": [2.0, 2.1, 2.0, 2.2, 2.3, 2.1], "dims": ["wind_direction"]},
    "turbulence_intensity": {"data": 0.08, "dims": []},
    "height": 90.0,
}
ROSE: dict[str, Any] = {
    "wind_direction": [0, 90, 180, 270],
    "wind_speed": [8, 11],
    "probability": {
        "data": [[0.1, 0.1], [0.05, 0.05], [0.2, 0.1], [0.3, 0.1]],
        "dims": ["wind_direction", "wind_speed"],
    },
    "turbulence_intensity": {"data": 0.07, "dims": []},
    "height": 90.0,
}
SERIES: dict[str, Any] = {
    "time": ["2023-07-25T00:00:00Z", "2023-07-25T01:00:00Z", "2023-07-25T02:00:00Z"],
    "wind_speed": [8, 9.5, 12],
    "wind_direction": [270, 0, 31],
    "turbulence_intensity": {"data": [0.1, 0.09, 0.08], "dims": ["time"]},
    "height": 90.0,
}
SYSTEM: dict[str, Any] = {
    "name": "small system",
    "site": {
        "name": "site",
        "boundaries": {"polygons": [{"x": [0, 4000, 4000, 0], "y": [0, 0, 3000, 3000]}]},
        "energy_resource": {"name": "resource", "wind_resource": WEIBULL},
    },
    "wind_farm": {
        "name": "farm",
        "layouts": [{"coordinates": {"x": [500, 1500, 2500, 3500], "y": [700, 900, 1500, 2300]}}],
        "turbines": TURBINE,
    },
    "attributes": {"analysis": {"wind_deficit_model": {"name": "Bastankhah2014"}}},
}


def changed(data: dict[str, Any], dotted: str, value: Any) -> dict[str, Any]:
    """A copy with the value at ``a.b.0.c`` replaced; removed where the value is None."""
    copied = copy.deepcopy(data)
    *way, last = [int(step) if step.isdecimal() else step for step in dotted.split(".")]
    holder: Any = copied
    for step in way:
        holder = holder[step]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return copied


def write(path: Path, data: Any) -> Path:
    """Plain data as a YAML file; text that begins with ``!include`` becomes an include."""
    text = yaml.safe_dump(data, sort_keys=False).replace("'!include", "!include")
    lines = [line.removesuffix("'") if "!include" in line else line for line in text.splitlines()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def with_resource(resource: Any) -> dict[str, Any]:
    """The small system with another wind."""
    return changed(SYSTEM, "site.energy_resource.wind_resource", resource)


def campaign_of(system: System) -> Campaign:
    """The campaign of a system."""
    return Campaign.from_data(system.data)


def read(path: Path) -> Campaign:
    """The campaign file that ``init --from`` writes, without notes on windIO's schema, which take a while."""
    file = path.with_name("from-windio.yaml")
    file.write_text(campaign_text(read_system(path, check_schema=False), file))
    return Campaign.load(file)
