"""What the arrays of a result are, in words that other programs look for: CF's ``units`` and ``long_name``."""

from __future__ import annotations

from collections.abc import Mapping

RESULT_ARRAYS: Mapping[str, Mapping[str, str]] = {
    "aep": {"long_name": "annual energy production", "units": "GWh/year"},
    "layout": {"long_name": "turbine positions, x then y", "units": "m"},
}
"""By the name of the array; written beside each of them into a database."""
