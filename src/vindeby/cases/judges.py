"""The judges of open cases: the worth of a layout and its broken rules, by the case's own formulas.

A judge reads the figures of the case's campaign file as they stand there, and needs NumPy alone. Wakes are fractions of
the free wind speed, with the thrust of the free wind speed, and add as squares: all cases with the judge ``energy`` are
posed so. The other judges have modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.cases import competition, plants
from vindeby.cases.catalogue import Case
from vindeby.errors import InputError
from vindeby.text import plural

FloatArray = npt.NDArray[np.float64]
Section = Mapping[str, Any]
HOURS_PER_YEAR = 8760.0
_TOLERANCE_M = {"competition": 0.0}
"""The tolerance for turbines on the border or at the least distance, by judge (m); otherwise 1e-6 m."""
_PER_MWH = {"MWh": 1.0, "GWh": 1e-3, "kW": 1e3 / HOURS_PER_YEAR}
"""The conversion from MWh to the unit of a case; kW is the mean power."""


class CaseVerdict(NamedTuple):
    """The worth of a layout in the case's unit, and the rules it breaks, one sentence each."""

    worth: float
    problems: tuple[str, ...]


def judged(case: Case, x: FloatArray, y: FloatArray) -> CaseVerdict:
    """Return the verdict of the case's own judge on the positions ``x`` and ``y`` (m)."""
    tolerance = _TOLERANCE_M.get(case.judge, 1e-6)
    problems = (
        *_miscounted(case, x, y),
        *_outside(case.document["farms"][0], x, y, tolerance),
        *_too_near(case, x, y, tolerance),
    )
    if case.judge == "competition":
        return CaseVerdict(competition.cost_of_energy(case, x, y), problems)
    if len(np.unique([x, y], axis=1).T) < len(x):  # PyWake refuses turbines at the same place
        return CaseVerdict(0.0, problems)
    energy = plants.energy_mwh if case.judge == "pywake" else energy_mwh
    return CaseVerdict(energy(case.document, x, y) * _PER_MWH[case.unit], problems)


def _miscounted(case: Case, x: FloatArray, y: FloatArray) -> Iterator[str]:
    if case.turbines is not None and len(x) != case.turbines:
        yield f"has {plural(len(x), 'turbine')} instead of {case.turbines}"
    zones = case.document["farms"][0].get("zones", [])
    if not zones or len(x) != case.turbines:
        return
    nearest = np.argmax([inside_m(zone["boundary"], x, y) for zone in zones], axis=0)
    for number, zone in enumerate(zones):
        count = int((nearest == number).sum())
        if count != zone["n_turbines"]:
            yield f"has {plural(count, 'turbine')} in zone {zone['name']} instead of {zone['n_turbines']}"


def _outside(farm: Section, x: FloatArray, y: FloatArray, tolerance: float) -> Iterator[str]:
    areas = [zone["boundary"] for zone in farm.get("zones", [farm])]
    inside = np.max([inside_m(area, x, y) for area in areas], axis=0)
    bad = np.nonzero(~(inside >= -tolerance))[0]
    if len(bad):
        worst = int(np.argmin(inside))
        more = f"; {len(bad)} turbines are outside" if len(bad) > 1 else ""
        yield f"turbine {worst} at ({x[worst]:.2f}, {y[worst]:.2f}) is {-inside[worst]:.6g} m outside the area{more}"


def _too_near(case: Case, x: FloatArray, y: FloatArray, tolerance: float) -> Iterator[str]:
    number, unit = str(case.document["min_spacing"]).split()
    least = float(number) * (_turbine(case.document)["rotor_diameter_m"] if unit == "D" else 1.0)
    least = competition.SPACING_M if case.judge == "competition" else least
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + np.diag(np.full(len(x), np.inf))
    if len(x) > 1 and apart.min() < least - tolerance:
        one, other = divmod(int(np.argmin(apart)), len(x))
        yield f"turbines {one} and {other} are {apart.min():.9g} m apart, less than {least:g} m"


def inside_m(area: Any, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return how far (m) points are inside an area of a campaign file; negative outside and in its exclusions."""
    if not isinstance(area, Mapping):
        return _inside_polygon(np.array(area, float), x, y)
    if "circle" in area:
        (cx, cy), radius = area["circle"]["center"], area["circle"]["radius_m"]
        return np.asarray(radius - np.hypot(x - cx, y - cy))
    polygons = area["polygons"] if "polygons" in area else [area["polygon"]]
    inside = np.max([inside_m(polygon, x, y) for polygon in polygons], axis=0)
    for excluded in area.get("exclusions", []):
        inside = np.minimum(inside, -inside_m(excluded, x, y))
    return np.asarray(inside)


def _inside_polygon(ring: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the distance to the nearest edge; its sign follows from the edges that a ray crosses."""
    ax, ay, bx, by = *ring.T, *np.roll(ring, -1, axis=0).T
    dx, dy, px, py = bx - ax, by - ay, x[:, None] - ax, y[:, None] - ay
    along = np.clip((px * dx + py * dy) / (dx * dx + dy * dy), 0.0, 1.0)
    nearest = np.hypot(px - along * dx, py - along * dy).min(axis=1)
    crosses = (ay > y[:, None]) != (by > y[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        left = px < dx * py / dy
    inside = (crosses & left).sum(axis=1) % 2 == 1
    return np.asarray(np.where(inside, nearest, -nearest))


def energy_mwh(document: Section, x: FloatArray, y: FloatArray) -> float:
    """Return the yearly energy (MWh) of a layout."""
    [(name, given)] = document["wake"].items()
    _refuse_unknown(name, given)
    turbine, total = _turbine(document), 0.0
    for direction, speeds, shares in _wind(document["site"]):
        toward = np.radians(270.0 - direction)
        along = x * np.cos(toward) + y * np.sin(toward)
        across = y * np.cos(toward) - x * np.sin(toward)
        far, aside = along[:, None] - along, across[:, None] - across
        thrust = _thrust(turbine, speeds)
        for ct in np.unique(thrust):
            same = thrust == ct
            wake = _WAKES[name](given, np.maximum(far, 0.0), aside, turbine["rotor_diameter_m"], ct)
            left = 1.0 - np.sqrt((np.where(far > 0.0, wake, 0.0) ** 2).sum(axis=1))
            power = _power_mw(turbine, speeds[same][:, None] * left)
            total += float(shares[same] @ power.sum(axis=1))
    return total * HOURS_PER_YEAR


_SQUARES = {"superposition": "squares", "reference": "free", "thrust_of": "free"}
_KNOWN: dict[str, Section] = {
    "iea37": {},
    "gaussian": _SQUARES,
    "jensen": {"induction": "momentum", "rotor": ("centre", "overlap")},
    "top-hat": {**_SQUARES, "induction": "momentum", "rotor": ("centre", "overlap")},
}
"""The parameters besides k that a wake may have, with the values that the formulas below assume."""


def _refuse_unknown(name: str, given: Section) -> None:
    """Raise InputError for a parameter that the formulas lack, so that it cannot change a case unnoticed."""
    for key, value in given.items():
        if key != "k" and (key not in _KNOWN[name] or value not in np.atleast_1d(_KNOWN[name][key])):
            raise InputError(f"the judge does not know wake.{name}.{key}: {value}")


def _turbine(document: Section) -> Section:
    turbine = document["turbines"][0]
    return dict(turbine.get("cubic") or turbine["table"])


def _power_mw(turbine: Section, speed: FloatArray) -> FloatArray:
    if "cut_in" not in turbine:
        return _looked_up(turbine, "power_kw", speed) / 1000.0
    share = np.clip((speed - turbine["cut_in"]) / (turbine["rated_speed"] - turbine["cut_in"]), 0.0, 1.0) ** 3
    return np.where(speed < turbine["cut_out"], turbine["rated_power_mw"] * share, 0.0)


def _thrust(turbine: Section, speed: FloatArray) -> FloatArray:
    constant = np.ndim(turbine["ct"]) == 0
    return np.full(np.shape(speed), float(turbine["ct"])) if constant else _looked_up(turbine, "ct", speed)


def _looked_up(turbine: Section, key: str, speed: FloatArray) -> FloatArray:
    ends = (0.0, 0.0) if turbine.get("outside") == "zero" else (None, None)
    return np.asarray(np.interp(speed, turbine["wind_speed"], turbine[key], *ends), np.float64)


def _wind(site: Section) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """Yield each direction (degrees) with its wind speeds (m/s) and their probabilities."""
    turned = site.get("grid_convergence_deg", 0.0)
    if "table" in site:
        table = site["table"]
        speeds, shares = np.array(table["wind_speeds"], float), np.array(table["probability"], float)
        shares = shares / shares.sum() if table.get("normalise") else shares
        yield from (
            (one - turned, speeds, row) for one, row in zip(table["wind_directions"], shares, strict=True)
        )
    elif "time_series" in site:
        series = site["time_series"]
        weight = np.array(series["weight"], float)
        for one, speed, share in zip(
            series["wind_direction"], series["wind_speed"], weight / weight.sum(), strict=True
        ):
            yield one - turned, np.array([speed], float), np.array([share])
    else:
        yield from _nearest_sectors(site["weibull"])


def _nearest_sectors(weibull: Section) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """Yield every degree with its wind speeds and their probabilities, by the Weibull of its sector."""
    assert weibull["interpolation"] == "nearest"
    sectors, speeds = weibull["sectors"], np.array(weibull["wind_speeds"], float)
    width, half = 360.0 / len(sectors), 0.5 * np.diff(speeds)[0]
    for degree in range(360):
        sector = sectors[int((degree + 0.5 * width) // width) % len(sectors)]
        below, above = (np.exp(-(((speeds + side) / sector["a"]) ** sector["k"])) for side in (-half, half))
        yield float(degree), speeds, sector["frequency"] / width * (below - above)


def _gaussian_iea37(
    given: Section, far: FloatArray, aside: FloatArray, diameter: float, ct: float
) -> FloatArray:
    """Return the deficit of Bastankhah and Porté-Agel's wake as IEA Wind Task 37 simplifies it."""
    return _gaussian_deficit(given["k"] * far + diameter / np.sqrt(8.0), aside, diameter, ct)


def _gaussian(given: Section, far: FloatArray, aside: FloatArray, diameter: float, ct: float) -> FloatArray:
    """Return the deficit of Bastankhah and Porté-Agel's wake of 2014."""
    root = np.sqrt(1.0 - min(ct, 0.899))
    start = 0.2 * np.sqrt(0.5 * (1.0 + root) / root) * diameter
    return _gaussian_deficit(given["k"] * far + start, aside, diameter, ct)


def _gaussian_deficit(sigma: FloatArray, aside: FloatArray, diameter: float, ct: float) -> FloatArray:
    depth = 1.0 - np.sqrt(np.maximum(0.0, 1.0 - ct * diameter**2 / (8.0 * sigma**2)))
    return np.asarray(depth * np.exp(-0.5 * (aside / sigma) ** 2))


def _top_hat(given: Section, far: FloatArray, aside: FloatArray, diameter: float, ct: float) -> FloatArray:
    """Return the deficit of Jensen's wake by momentum theory, at the rotor's centre or over its area."""
    radius = 0.5 * diameter
    wide = radius + given["k"] * far
    if given["rotor"] == "centre":
        share = np.where(np.abs(aside) <= wide, 1.0, 0.0)
    else:
        share = _overlap(radius, wide, np.abs(aside))
    return np.asarray((1.0 - np.sqrt(1.0 - ct)) * (radius / wide) ** 2 * share)


def _overlap(radius: float, wide: FloatArray, apart: FloatArray) -> FloatArray:
    """Return the share of a circle that a wider circle covers: two segments of circles on one chord."""
    safe = np.maximum(apart, 1e-9)
    near = np.clip((safe**2 + radius**2 - wide**2) / (2.0 * safe * radius), -1.0, 1.0)
    off = np.clip((safe**2 + wide**2 - radius**2) / (2.0 * safe * wide), -1.0, 1.0)
    one, other = np.arccos(near), np.arccos(off)
    lens = radius**2 * (one - np.sin(2.0 * one) / 2.0) + wide**2 * (other - np.sin(2.0 * other) / 2.0)
    return np.asarray(lens / (np.pi * radius**2))


_WAKES = {"iea37": _gaussian_iea37, "gaussian": _gaussian, "jensen": _top_hat, "top-hat": _top_hat}
