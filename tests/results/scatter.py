"""A method of one's own for campaigns of tests: places turbines at random, and fails where it is told to."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import shapely

from vindeby.runner.methods.call import CallTask


def scatter(task: CallTask) -> Mapping[str, Any]:
    """A random layout that keeps the spacing, and an energy that is plausible and no more."""
    time.sleep(float(task.parameters.get("seconds", 0.0)))
    if task.seed == task.parameters.get("fails_at"):
        print("the wind <b>turned</b>")  # noqa: T201 - this is what a log is made of
        raise ValueError("seed <script>alert(1)</script> cannot be placed")
    random = np.random.default_rng(task.seed)
    area = task.boundary.shape()
    left, bottom, right, top = area.bounds
    places = np.empty((2, 0))
    while places.shape[1] < task.n_turbines:
        point = random.uniform((left, bottom), (right, top))
        apart = np.hypot(*(places - point[:, None])) >= task.min_spacing_m
        if apart.all() and shapely.contains_xy(area, *point):
            places = np.column_stack([places, point])
    full_gwh = 8.76 * task.turbine.rated_power_mw * task.n_turbines
    return {"layout": places, "aep": full_gwh * (0.40 + 0.05 * random.random())}
