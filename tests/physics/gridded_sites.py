"""Local wind on a small grid, as vindeby and as PyWake describe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.physics.oracle import FREQUENCY, WEIBULL_A, WEIBULL_K
from vindeby.wake import GriddedSite, WeibullSite, WindGrid

FloatArray = npt.NDArray[np.float64]

WEST, SOUTH = 703_000.0, 6_224_000.0
GRID_X = WEST + np.array([0.0, 700.0, 1500.0, 2100.0, 3000.0])
GRID_Y = SOUTH + np.array([0.0, 900.0, 1400.0, 2200.0, 3000.0])
HEIGHT = np.array([60.0, 110.0, 170.0])
SECTORS = np.arange(6) * 60.0
DIRECTIONS = np.arange(0.0, 360.0, 24.0)
SPEEDS = np.array([6.0, 9.0, 11.0])


@dataclass(frozen=True)
class Local:
    """Arrays over (x, y, height, direction) and which of them a site has."""

    speedup: bool = True
    weibull: bool = True
    turbulence: bool = True
    turned: bool = False
    interpolation: str = "linear"

    def arrays(self) -> dict[str, FloatArray]:
        rng = np.random.default_rng(5)
        full = (len(GRID_X), len(GRID_Y), len(HEIGHT), len(SECTORS))

        def around(values: tuple[float, ...], spread: float) -> FloatArray:
            return np.array(values)[::2] * (1.0 + spread * rng.uniform(-1, 1, full))

        everything = {
            "speedup": rng.uniform(0.8, 1.2, full),
            "weibull_a": around(WEIBULL_A, 0.1),
            "weibull_k": around(WEIBULL_K, 0.1),
            "sector_frequency": 2.0 * around(FREQUENCY, 0.2),
            "turbulence_intensity": rng.uniform(0.06, 0.14, full),
            "turning": rng.uniform(-8.0, 8.0, full),
        }
        held = {
            "speedup": self.speedup,
            "weibull_a": self.weibull,
            "weibull_k": self.weibull,
            "sector_frequency": self.weibull,
            "turbulence_intensity": self.turbulence,
            "turning": self.turned,
        }
        return {name: everything[name] for name in everything if held[name]}

    def site(self) -> GriddedSite:
        grid = WindGrid(GRID_X, GRID_Y, height=HEIGHT, direction=SECTORS, **self.arrays())
        rose = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, 0.1, self.interpolation)  # type: ignore[arg-type]
        return GriddedSite(
            rose,
            grid,
            self.interpolation,  # type: ignore[arg-type]
            self.interpolation,  # type: ignore[arg-type]
            turned_wakes=self.turned,
        )

    def pywake(self) -> Any:
        """The same as an XRSite; without local probabilities it needs sectors of the rose's width."""
        import xarray as xr
        from py_wake.site import XRSite
        from py_wake.site.distance import StraightDistance

        names = {
            "speedup": "Speedup",
            "weibull_a": "Weibull_A",
            "weibull_k": "Weibull_k",
            "sector_frequency": "Sector_frequency",
            "turbulence_intensity": "TI",
            "turning": "Turning",
        }
        data: dict[str, Any] = {
            names[k]: (("x", "y", "h", "wd"), _closed(v)) for k, v in self.arrays().items()
        }
        assert self.weibull, "XRSite needs probabilities"
        data.setdefault("TI", 0.1)
        axes = {"x": GRID_X, "y": GRID_Y, "h": HEIGHT, "wd": np.append(SECTORS, 360.0)}
        distance = StraightDistance(wind_direction="WD_i" if self.turned else "wd")
        return XRSite(xr.Dataset(data, coords=axes), interp_method=self.interpolation, distance=distance)


def _closed(values: FloatArray) -> FloatArray:
    return np.concatenate([values, values[..., :1]], axis=-1)


def positions() -> tuple[FloatArray, FloatArray]:
    """Seven turbines inside the grid, none on a line of it or abreast of another."""
    x = np.array([231.0, 943.0, 1713.0, 2381.0, 611.0, 1327.0, 2757.0])
    y = np.array([317.0, 251.0, 479.0, 1123.0, 1613.0, 1991.0, 2683.0])
    return x + WEST, y + SOUTH
