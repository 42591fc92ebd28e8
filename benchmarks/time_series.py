"""How fast time series are: one farm among nine neighbours, beside PyWake, and what ten years of hourly steps need.

    python benchmarks/time_series.py                    60 steps beside PyWake's 12, turbulence constant and by step
    python benchmarks/time_series.py --steps 365        more steps; --pywake-steps 0 leaves PyWake out
    python benchmarks/time_series.py --years 10         hourly steps: time and memory of power_steps and of AEP

The ten areas of the preset energy-island with a type each, 810 turbines at random places three diameters apart, power
of every turbine at every step, ``nygaard-2022``. Times are processor time of one thread, the best of several;
PyWake's is one run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

# Before NumPy is imported, or it is too late.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import shapely  # noqa: E402

from vindeby.campaign import Campaign  # noqa: E402
from vindeby.wake import TimeSeriesSite, Turbine, WindFarm  # noqa: E402

CAMPAIGN: Any = Campaign.load("energy-island")
COUNT = 810
RATED = np.array([t.generic.rated_power_mw for t in CAMPAIGN.turbines]) * 1e6


def sizes() -> list[tuple[float, float, float]]:
    generic = [t.generic for t in CAMPAIGN.turbines]
    return [(g.rated_power_mw, g.rotor_diameter_m, g.hub_height_m) for g in generic]


def layout(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1,000 MW in each area, the first of 66 x 15 MW; the last area has what is left of 810 turbines."""
    rng = np.random.default_rng(seed)
    points: list[np.ndarray] = []
    types: list[int] = []
    for index, area in enumerate(CAMPAIGN.farms):
        polygon, kind = shapely.Polygon(area.boundary.polygon), (5 + index) % 6
        mw, diameter, _ = sizes()[kind]
        west, south, east, north = polygon.bounds
        own: list[np.ndarray] = []
        while len(own) < min(int(1000 // mw), COUNT - len(points)):
            point = rng.uniform((west, south), (east, north))
            near = own and np.hypot(*(np.array(own) - point).T).min() < 3 * diameter
            if not near and shapely.contains_xy(polygon, *point):
                own.append(point)
        points += own
        types += [kind] * len(own)
    x, y = np.array(points).T
    return x, y, np.array(types)


def series(steps: int, by_step: bool) -> TimeSeriesSite:
    """A synthetic series: Weibull wind speeds, any direction, turbulence constant or of each step."""
    rng = np.random.default_rng(1)
    speed = np.clip(11.0 * rng.weibull(2.2, steps), 3.0, 25.0)
    direction, turbulence = rng.uniform(0, 360, steps), rng.uniform(0.04, 0.15, steps)
    return TimeSeriesSite(speed, direction, turbulence if by_step else 0.1)


def farm(steps: int, by_step: bool, **options: Any) -> WindFarm:
    return WindFarm(series(steps, by_step), [Turbine.generic("", *s) for s in sizes()], **options)


def exact_overlap(points: np.ndarray) -> np.ndarray:
    """The mean of a Gaussian over a rotor at pairs of (R/sigma, d/sigma), which PyWake interpolates in a table."""
    from scipy.stats import ncx2

    rho, kappa = np.maximum(points[:, 0], 1e-6), points[:, 1]
    near = kappa < 12.0
    found = np.zeros(len(points))
    found[near] = 2.0 / rho[near] ** 2 * ncx2.cdf(rho[near] ** 2, 2, kappa[near] ** 2)
    return found


def pywake(steps: int, whole: TimeSeriesSite, *, exact: bool = False) -> tuple[float, np.ndarray]:
    """Seconds a step, and powers, of the first steps; ``exact``: the mean over a rotor from its formula."""
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.site import UniformSite
    from py_wake.wind_turbines import WindTurbines
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    machines = WindTurbines.from_WindTurbine_lst(
        [GenericWindTurbine("", d, h, mw * 1e3) for mw, d, h in sizes()]
    )
    model = Nygaard_2022(UniformSite([1.0], 0.1), machines)
    if exact:
        model.wake_deficitModel.rotorAvgModel._overlap_interpolator = exact_overlap  # noqa: SLF001
    x, y, types = layout()
    speed, direction = (np.asarray(v)[:steps] for v in (whole.wind_speed, whole.wind_direction))
    turbulence = np.broadcast_to(whole.turbulence_intensity, np.shape(whole.wind_speed))[:steps]
    model(x[:9], y[:9], type=types[:9], wd=direction, ws=speed, TI=turbulence, time=True)
    begin = time.process_time()
    power = model(x, y, type=types, wd=direction, ws=speed, TI=turbulence, time=True).Power.values
    return (time.process_time() - begin) / steps, power


def apart(power: np.ndarray, theirs: np.ndarray, types: np.ndarray) -> float:
    return float(np.abs((power[:, : theirs.shape[1]] - theirs) / RATED[types][:, None]).max())


def beside_pywake(steps: int, pywake_steps: int) -> None:
    x, y, types = layout()
    print(f"{len(x)} turbines, {len(sizes())} types, {steps} steps, one thread; ms a step")
    for by_step in (False, True):
        fast = farm(steps, by_step)
        power = fast.power(x, y, types)
        best = np.inf
        for _ in range(5):
            begin = time.process_time()
            fast.power(x, y, types)
            best = min(best, (time.process_time() - begin) / steps)
        print(f"  turbulence {'by step' if by_step else 'constant'}: vindeby {best * 1e3:.3f} ms")
        if pywake_steps:
            seconds, theirs = pywake(pywake_steps, series(steps, by_step))
            print(f"    PyWake {seconds * 1e3:.0f} ms: {seconds / best:.0f} x; powers within ", end="")
            print(f"{apart(power, theirs, types):.1e} of rated, ", end="")
            exact = pywake(2, series(steps, by_step), exact=True)[1]
            print(
                f"{apart(power, exact, types):.1e} without PyWake's table of the mean over a rotor (2 steps)"
            )


def alone(what: str, steps: int, threads: int) -> None:
    """One thing in a process of its own: wall and processor seconds, and the peak memory of the whole process."""
    x, y, types = layout()
    hourly = farm(steps, True, threads=threads)
    begin, processor = time.perf_counter(), time.process_time()
    if what == "aep":
        energy = hourly.aep(x, y, types)
    else:
        watts = sum(float(power.sum()) for _, power in hourly.power_steps(x, y, types))
        energy = watts / steps * 8760e-9
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "processor": processor, "megabytes": peak, "gwh": energy}))


def years(count: int, threads: int) -> None:
    steps = count * 8760
    print(f"{count} years of hourly steps, {steps} steps, {threads} threads, turbulence by step")
    for what in ("power_steps", "aep"):
        command = [sys.executable, "-W", "ignore", __file__, "--alone", what, "--threads", str(threads)]
        done = subprocess.run([*command, "--steps", str(steps)], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        print(
            f"  {what}: {found['seconds']:.1f} s ({found['processor'] / steps * 1e3:.3f} ms of processor a step), "
            f"{found['gwh']:.6f} GWh, process at most {found['megabytes']:.0f} MB"
        )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--steps", type=int, default=60)
    arguments.add_argument("--pywake-steps", type=int, default=12)
    arguments.add_argument("--years", type=int, default=0)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--alone", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    if given.alone:
        alone(given.alone, given.steps, given.threads)
    elif given.years:
        years(given.years, given.threads)
    else:
        beside_pywake(given.steps, given.pywake_steps)


if __name__ == "__main__":
    main()
