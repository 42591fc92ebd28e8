"""The turbine, wind and layouts for which FLORIS' figures are kept."""

from __future__ import annotations

DIAMETER, HUB_HEIGHT, TURBULENCE = 200.0, 120.0, 0.08
WIND_SPEED = (0.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 25.0)
POWER_KW = (0.0, 0.0, 200.0, 600.0, 1200.0, 2000.0, 3000.0, 4400.0, 6000.0, 7900.0, 9500.0, 10000.0, 10000.0)
THRUST_COEFFICIENT = (0.8, 0.8, 0.82, 0.83, 0.82, 0.81, 0.8, 0.79, 0.77, 0.7, 0.55, 0.4, 0.1)

DIRECTIONS = [0.0, 41.0, 90.0, 135.0, 180.0, 225.0, 270.0, 270.0, 270.0, 303.0]
SPEEDS = [8.0, 9.5, 8.0, 6.0, 12.0, 8.0, 5.0, 8.0, 12.0, 9.5]

LAYOUTS: dict[str, tuple[list[float], list[float]]] = {
    # No two turbines are abreast in any direction: which of such is first is a matter of chance.
    "scattered": (
        [0.0, 810.0, 1730.0, 260.0, 1340.0, 2270.0, 640.0, 1910.0, 2690.0],
        [0.0, 170.0, -90.0, 880.0, 1010.0, 790.0, 1730.0, 1890.0, 1640.0],
    ),
    # Almost on one line along the wind, where wakes depend on each other.
    "row": (
        [0.0, 900.0, 1800.0, 2700.0, 3600.0, 4500.0, 5400.0],
        [0.0, 0.3, -0.2, 0.5, 0.1, 1.0, -0.4],
    ),
    # Inside the near wake as well.
    "close": ([0.0, 420.0, 860.0, 1310.0], [0.0, 60.0, -75.0, 20.0]),
}

FLORIS_MODELS = {
    "bastankhah-2016": ("gauss", "none"),
    "cumulative-curl": ("cc", "crespo_hernandez"),
    "cumulative-curl, turbulence none": ("cc", "none"),
}
"""Our name, and FLORIS' names of the velocity and the turbulence model."""
