"""Random valid campaigns, for hypothesis."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

numbers = st.floats(0.01, 1e4, allow_nan=False).map(lambda value: float(f"{value:.6g}"))
names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)


@st.composite
def rings(draw: st.DrawFn) -> list[list[float]]:
    """Star-shaped polygons, so that they never cross themselves."""
    count = draw(st.integers(3, 9))
    x, y = draw(st.integers(-5, 5)) * 1e5, draw(st.integers(-5, 5)) * 1e5
    radii = draw(st.lists(st.floats(2e3, 9e3), min_size=count, max_size=count))
    angles = [2 * math.pi * index / count for index in range(count)]
    return [[x + r * math.cos(a), y + r * math.sin(a)] for r, a in zip(radii, angles, strict=True)]


circles = st.builds(lambda r: {"center": [100.0, -200.5], "radius_m": r}, st.floats(3e3, 1e5))
boundaries = (
    rings()
    | rings().map(lambda ring: {"polygon": ring})
    | st.lists(rings(), min_size=1, max_size=3).map(lambda some: {"polygons": some})
    | circles.map(lambda circle: {"circle": circle})
    | circles.map(
        lambda circle: {
            "circle": circle,
            "exclusions": [{"circle": {"center": [100.0, 0.0], "radius_m": 50.0}}, [[0, 0], [9, 0], [0, 9]]],
        }
    )
)
sizes = st.fixed_dictionaries(
    {
        "rotor_diameter_m": st.floats(20.0, 250.0),
        "hub_height_m": st.floats(126.0, 200.0),
        "rated_power_mw": st.floats(200.0, 450.0),
    }
).map(
    lambda size: {**size, "rated_power_mw": size["rated_power_mw"] * size["rotor_diameter_m"] ** 2 * 7.85e-7}
)
"""Of 200 to 450 W per square metre of rotor, as turbines are."""


def _table(size: dict[str, float], speeds: list[float]) -> dict[str, Any]:
    power = size["rated_power_mw"] * 1e3
    return {
        "rotor_diameter_m": size["rotor_diameter_m"],
        "hub_height_m": size["hub_height_m"],
        "wind_speed": speeds,
        "power_kw": [power * min(1.0, (speed / 11.0) ** 3) for speed in speeds],
        "ct": [0.8] * len(speeds),
    }


increasing = st.lists(st.integers(0, 40), min_size=2, max_size=6, unique=True).map(sorted)
turbines = (
    sizes.map(lambda size: {"generic": size})
    | sizes.map(lambda size: {"cubic": {**size, "rated_speed": 11.0}})
    | st.builds(lambda size, speeds: {"table": _table(size, speeds)}, sizes, increasing)
)


def _weibull(count: int, a: float, step: int) -> dict[str, Any]:
    sectors = [{"direction": i * 360 / count, "a": a, "k": 2.0, "frequency": 1 / count} for i in range(count)]
    return {"weibull": {"turbulence_intensity": 0.1, "sectors": sectors, "direction_step": step}}


sites = st.builds(_weibull, st.integers(1, 24), numbers, st.sampled_from([1, 2, 5, 10])) | st.integers(
    1, 5
).map(
    lambda n: {
        "table": {
            "turbulence_intensity": 0.07,
            "wind_directions": [i * 360 / n for i in range(n)],
            "wind_speeds": [8, 9.5],
            "probability": [[0.5 / n, 0.5 / n]] * n,
        }
    }
)
wakes = st.sampled_from(["nygaard-2022", "jensen", {"iea37": {"k": 0.03}}, {"niayifar-2016": None}])
methods = st.sampled_from(
    [
        "smart-start",
        {"smart-start": {"grid_size": 12}},
        ["smart-start", {"gradient": {"max_iterations": 7}}],
        ["random-start", {"gradient": {"widening": 4}}],
        ["random-start", {"random-search": {"max_step_m": 100}}],
        {"lattice": {"rows": True}},
        ["lattice", "annealing"],
        {"call": "package.module:function"},
        {"call": {"function": "a:b", "parameters": {"x": [1, 2.5, "t", None, True]}}},
    ]
)


@st.composite
def campaigns(draw: st.DrawFn) -> dict[str, Any]:
    """Data of a valid campaign."""
    farm_names = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    type_names = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    return {
        "name": draw(names),
        "farms": [{"name": name, "boundary": draw(boundaries)} for name in farm_names],
        "turbines": [{"name": name, **draw(turbines)} for name in type_names],
        "n_turbines": draw(st.integers(1, 200)),
        "min_spacing": draw(st.sampled_from(["3 D", "500 m", {"diameters": 2.5}, {"metres": 0}])),
        "site": draw(sites),
        "wake": draw(wakes),
        "method": draw(methods),
        "seeds": draw(
            st.integers(1, 4) | st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4, unique=True)
        ),
        "run": draw(st.sampled_from([{}, {"workers": 3, "max_failures": 5}, {"time_limit_s": 9.5}])),
    }
