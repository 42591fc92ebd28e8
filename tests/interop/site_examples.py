"""Small site files in the forms of other tools, with figures of our own, for tests to read and to break."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FREQUENCY = (0.2, 0.1, 0.3, 0.4)
WEIBULL_A = (8.0, 9.0, 10.0, 11.5)
WEIBULL_K = (2.0, 2.1, 2.2, 2.3)
WD = (0.0, 90.0, 180.0, 270.0)

LIB = """\
made for a test <coordinates>7.9,55.5,0.0</coordinates>
 2 2 4
0.000 0.100
50.0 100.0
 20.0 10.0 30.0 40.0
 8.0 9.0 10.0 11.0
 2.0 2.1 2.2 2.3
 9.0 10.0 11.0 12.0
 2.2 2.3 2.4 2.5
 22.0 8.0 30.0 40.0
 6.0 7.0 8.0 9.0
 1.8 1.9 2.0 2.1
 7.0 8.0 9.0 10.0
 2.0 2.1 2.2 2.3
"""

TAB = """\
made for a test
 55.5 7.9 100.0
 4 1.00 0.00
 20.0 10.0 30.0 40.0
 4 250.0 500.0 100.0 100.0
 8 500.0 300.0 400.0 500.0
 12 250.0 200.0 500.0 400.0
"""


def wrg_line(x: float, y: float, sectors: list[tuple[int, int, int]], height: float = 90.0) -> str:
    """A point in the fixed columns of a wind resource grid."""
    head = f"{'':10}{x:10.0f}{y:10.0f}{0:8d}{height:5.0f}{9.5:5.1f}{2.25:6.2f}{0:15d}{len(sectors):3d}"
    return head + "".join(f"{f:4d}{a:4d}{k:5d}" for f, a, k in sectors)


def wrg() -> str:
    """2 x 3 points, 4 sectors; A grows with x and k with y."""
    lines = ["2 3 1000 5000 500"]
    for x in (1000, 1500):
        for y in (5000, 5500, 6000):
            more, steeper = (x - 1000) // 100, (y - 5000) // 50
            lines.append(
                wrg_line(x, y, [(int(1000 * f), int(10 * a) + more, int(100 * k) + steeper)
                                for f, a, k in zip(FREQUENCY, WEIBULL_A, WEIBULL_K, strict=True)])
            )  # fmt: skip
    return "\n".join(lines) + "\n"


ROSE = "ws,wd,freq_val\n" + "".join(
    f"{speed},{direction},{0.05 * (1 + index):.2f}\n"
    for index, (direction, speed) in enumerate((d, s) for d in (0, 90, 180, 270) for s in (6.0, 9.0))
)
TI_ROSE = "ws,wd,ti,freq_val\n8,270,0.06,0.25\n8,270,0.08,0.25\n9,270,0.06,0.2\n8,280,0.06,0.3\n"
SERIES = "time,wd,ws,ti\n2020-01-01T00:00,270,8.5,0.06\n2020-01-01T01:00,275,9.5,0.07\n"


def dataset(**variables: Any) -> Any:
    """A site as xarray has it; without arguments a Weibull rose of four sectors."""
    import xarray as xr

    usual = {
        "Sector_frequency": ("wd", list(FREQUENCY)),
        "Weibull_A": ("wd", list(WEIBULL_A)),
        "Weibull_k": ("wd", list(WEIBULL_K)),
        "TI": 0.08,
    }
    given = variables.pop("replace", usual)
    coordinates = {"wd": list(WD)} | variables.pop("coords", {})
    return xr.Dataset(given | variables, coords=coordinates)


def gridded() -> Any:
    """Weibull parameters over x, y, height and direction, with a speed-up and a turning."""
    shape = (3, 4, 2, 4)
    bumps = np.random.default_rng(3).uniform(0.95, 1.05, (3, *shape))
    frequency = np.array(FREQUENCY) * bumps[0]
    frequency /= frequency.sum(axis=-1, keepdims=True)
    axes = ("x", "y", "h", "wd")
    coords = {"x": [0.0, 500.0, 1000.0], "y": [0.0, 400.0, 800.0, 1200.0], "h": [60.0, 120.0]}
    return dataset(
        replace={
            "Weibull_A": (axes, np.array(WEIBULL_A) * bumps[1]),
            "Weibull_k": (axes, np.array(WEIBULL_K) * bumps[2]),
            "Sector_frequency": (axes, frequency),
            "TI": 0.08,
        },
        coords=coords,
    )


def turned() -> Any:
    """A rose for the whole site with a speed-up and a turning over x, y and direction, in 32-bit floats."""
    shape, axes = (3, 4, 4), ("x", "y", "wd")
    random = np.random.default_rng(4)
    coords = {"x": [0.0, 500.0, 1000.0], "y": [0.0, 400.0, 800.0, 1200.0]}
    return dataset(
        Speedup=(axes, random.uniform(0.9, 1.1, shape).astype(np.float32)),
        Turning=(axes, random.uniform(-8.0, 8.0, shape).astype(np.float32)),
        coords=coords,
    )


def written(path: Path, text: str) -> Path:
    """The path, at which the text now stands."""
    path.write_text(text)
    return path
