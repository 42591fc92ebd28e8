"""What the arrays of a result are, in words that other programs look for: CF's ``units`` and ``long_name``."""

from __future__ import annotations

from collections.abc import Mapping

RESULT_ARRAYS: Mapping[str, Mapping[str, str]] = {
    "aep": {"long_name": "annual energy production", "units": "GWh/year"},
    "curve_aep_gwh": {"long_name": "annual energy production of the best layout so far", "units": "GWh/year"},
    "curve_evaluations": {"long_name": "evaluations spent on it", "units": "1"},
    "curve_seconds": {"long_name": "CPU time spent on it", "units": "s"},
    "layout": {"long_name": "turbine positions, x then y", "units": "m"},
    "types": {"long_name": "turbine type of each turbine, by its number in the campaign", "units": "1"},
    "zone": {"long_name": "zone of each turbine, by its number in the farm", "units": "1"},
}
"""By the name of the array; written beside each of them into a database."""
