"""What the arrays of a result are, in words that other programs look for: CF's ``units`` and ``long_name``."""

from __future__ import annotations

from collections.abc import Mapping


def _about(long_name: str, units: str, dimensions: str = "") -> dict[str, str]:
    texts = {"long_name": long_name, "units": units, "dimensions": dimensions}
    return {name: text for name, text in texts.items() if text}


RESULT_ARRAYS: Mapping[str, Mapping[str, str]] = {
    "aep": _about("annual energy production", "GWh/year"),
    "curve_aep_gwh": _about("annual energy production of the best layout so far", "GWh/year"),
    "curve_evaluations": _about("evaluations spent on it", "1"),
    "curve_seconds": _about("CPU time spent on it", "s"),
    "layout": _about("turbine positions, x then y", "m"),
    "types": _about("turbine type of each turbine, by its number in the campaign", "1"),
    "zone": _about("zone of each turbine, by its number in the farm", "1"),
}
"""By the name of the array; written beside each of them into a database."""

_OFF = "with the internal wakes switched off"
STUDY_ARRAYS: Mapping[str, Mapping[str, str]] = {
    "layout": {**RESULT_ARRAYS["layout"], "dimensions": "coordinate turbine"},
    "types": {**RESULT_ARRAYS["types"], "dimensions": "turbine"},
    "aep_free": _about("AEP if no turbine stood in a wake", "GWh/year"),
    "aep_alone": _about("AEP without the neighbours of the combination", "GWh/year"),
    "aep_external": _about(f"AEP {_OFF}", "GWh/year"),
    "turbine_aep": _about("AEP of each turbine", "GWh/year", "turbine"),
    "turbine_aep_external": _about(f"AEP of each turbine {_OFF}", "GWh/year", "turbine"),
    "loss_total": _about("share of aep_free that is lost to wakes", "1"),
    "loss_internal": _about("share of aep_free that own wakes take", "1"),
    "loss_external": _about("share of aep_free that the neighbours take", "1"),
    "loss_external_only": _about(f"share of aep_free that is lost {_OFF}", "1"),
    "power": _about("power of each turbine at each step", "W", "turbine time"),
    "power_external": _about(f"power of each turbine at each step {_OFF}", "W", "turbine time"),
}
"""The same for a study, with the names of axes; a function of one's own may use these names for something else."""
