"""How fast the wake engine is: beside PyWake and FLORIS in one run, one thread each, and how its time grows.

    python benchmarks/engine.py            everything; PyWake's gradient on every tenth direction
    python benchmarks/engine.py --full     PyWake's gradient on all directions (minutes, 15 GB)
    python benchmarks/engine.py --quick    without PyWake's gradient and without FLORIS

Times are processor time of one thread, the best of several, since the machine may be busy; PyWake's are the best of
two (its gradient: one).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

# Before NumPy is imported, or it is too late.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import shapely  # noqa: E402

from vindeby.campaign import Campaign  # noqa: E402
from vindeby.wake import Turbine, UniformSite, WeibullSite, WindFarm  # noqa: E402
from vindeby.wake.loops.pair_tables import pair_tables  # noqa: E402

RATED_MW, DIAMETER, HUB_HEIGHT, COUNT = 15, 240, 150, 66


def site() -> WeibullSite:
    """The site of the preset energy-island."""
    weibull = Campaign.load("energy-island").site.weibull
    assert weibull is not None
    sectors = weibull.sectors
    frequency, a, k = ([getattr(s, name) for s in sectors] for name in ("frequency", "a", "k"))
    return WeibullSite(frequency, a, k, 0.1, weibull.interpolation)


def layout(count: int = COUNT, scale: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random places inside farm 0 of energy-island, at least three diameters apart; ``scale`` stretches the farm."""
    polygon = Campaign.load("energy-island").farms[0].boundary.polygon
    area = shapely.Polygon((np.array(polygon) - polygon[0]) * scale + polygon[0])
    rng = np.random.default_rng(seed)
    points: list[np.ndarray] = []
    west, south, east, north = area.bounds
    while len(points) < count:
        point = rng.uniform((west, south), (east, north))
        near = points and np.hypot(*(np.array(points) - point).T).min() < 3 * DIAMETER
        if not near and shapely.contains_xy(area, *point):
            points.append(point)
    x, y = np.array(points).T
    return x, y


def best(function: Callable[[], object], times: int) -> float:
    """The shortest of several runs, in seconds."""
    found = np.inf
    for _ in range(times):
        start = time.process_time()
        function()
        found = min(found, time.process_time() - start)
    return found


def pywake_model() -> object:
    import xarray as xr
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.site import XRSite
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    ours = site()
    around = {
        name: ("wd", [*values, values[0]])
        for name, values in (
            ("Sector_frequency", ours.frequency), ("Weibull_A", ours.weibull_a), ("Weibull_k", ours.weibull_k),
        )
    }  # fmt: skip
    dataset = xr.Dataset({**around, "TI": 0.1}, coords={"wd": np.linspace(0, 360, 13)})
    return Nygaard_2022(
        XRSite(dataset, interp_method=ours.interpolation),
        GenericWindTurbine("generic", DIAMETER, HUB_HEIGHT, RATED_MW * 1000),
    )


def farm(**options: object) -> WindFarm:
    return WindFarm(site(), Turbine.generic("generic", RATED_MW, DIAMETER, HUB_HEIGHT), **options)  # type: ignore[arg-type]


def measured_alone(what: str, directions: str) -> dict[str, float]:
    """Run one thing in a process of its own: seconds (best), and peak memory above what the imports took."""
    command = [sys.executable, "-W", "ignore", __file__, "--alone", what, "--directions", directions]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def alone(what: str, directions: np.ndarray) -> None:
    warnings.simplefilter("ignore")
    x, y = layout()
    if what.startswith("pywake"):
        model = pywake_model()
        model(x[:2], y[:2], wd=[0], ws=[8]).aep()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if what == "pywake-aep":
            found: list[float] = []
            seconds = best(lambda: found.append(float(model(x, y, wd=directions).aep().sum())), 2)
            value = found[0]
        else:
            seconds = best(lambda: model.aep_gradients(wrt_arg=["x", "y"], x=x, y=y, wd=directions), 1)
            value = 0.0
    else:
        ours = farm(directions=directions)
        small = farm(directions=[0.0])
        call, warm = (
            (ours.aep, small.aep) if what == "aep" else (ours.aep_and_gradient, small.aep_and_gradient)
        )
        warm(x[:2], y[:2])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds = best(lambda: call(x, y), 30)
        value = ours.aep(x, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"seconds": seconds, "megabytes": peak / 1024, "aep": value}))


def beside_pywake(gradient: str) -> None:
    print(f"farm 0 of energy-island, {COUNT} x {RATED_MW} MW, 23 speeds, nygaard-2022, one thread")
    rows = [("AEP", "aep", "pywake-aep", "1")]
    if gradient:
        rows.append(("AEP and gradient", "gradient", "pywake-gradient", gradient))
    for name, ours, theirs, step in rows:
        a, b = measured_alone(ours, step), measured_alone(theirs, step)
        print(f"  {name}, {360 // int(step)} directions:")
        print(f"    vindeby {a['seconds'] * 1e3:8.1f} ms  {a['megabytes']:8.1f} MB above the imports")
        print(
            f"    PyWake  {b['seconds'] * 1e3:8.0f} ms  {b['megabytes']:8.0f} MB: {b['seconds'] / a['seconds']:.0f} x"
        )
        if b["aep"]:
            print(f"    AEP {a['aep']:.6f} GWh, PyWake {b['aep']:.6f} GWh, {a['aep'] / b['aep'] - 1:.1e}")


def growth() -> None:
    print(
        "how time grows: AEP and AEP with gradient in ms, pairs within reach a direction, ns a pair and wind state"
    )
    for count in (10, 20, 50, 100, 200, 500):
        x, y = layout(count, np.sqrt(count / COUNT))
        whole = farm()
        seen = interacting(whole, x, y)
        a, g = best(partial(whole.aep, x, y), 5), best(partial(whole.aep_and_gradient, x, y), 3)
        each = a / (seen * whole.states.speed.size) * 1e9
        pairs = f"{seen:9.1f} of {count * (count - 1) // 2:6d}"
        print(f"  {count:4d} turbines  {a * 1e3:8.2f}  {g * 1e3:8.2f}  {pairs}  {each:6.1f}")
    x, y = layout()
    for directions in (36, 72, 180, 360, 720):
        some = farm(directions=np.arange(directions) * (360.0 / directions))
        print(f"  {directions:4d} directions  {best(partial(some.aep, x, y), 10) * 1e3:8.2f}")
    for speeds in (1, 5, 11, 23, 46, 92):
        some = farm(speeds=np.linspace(3, 25, speeds) if speeds > 1 else [10.0])
        print(f"  {speeds:4d} speeds  {best(partial(some.aep, x, y), 10) * 1e3:8.2f}")


def interacting(whole: WindFarm, x: np.ndarray, y: np.ndarray) -> float:
    """Pairs within reach of each other, on average over the directions."""
    tables = pair_tables(whole.model, whole.turbines, float(whole.states.turbulence[0]))
    total = 0
    for angle in np.deg2rad(90.0 - whole.states.direction):
        along, across = -np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x - np.cos(angle) * y
        far = along[None, :] - along[:, None]
        aside = np.abs(across[None, :] - across[:, None])
        total += int(((far > 0) & (aside < tables.reach[0] + tables.reach_slope[0] * far)).sum())
    return total / len(whole.states.direction)


def beside_floris() -> None:
    if importlib.util.find_spec("floris") is None:
        print("FLORIS is not installed (pip install 'vindeby[bench]'): not compared")
        return
    import floris

    count, directions, speeds = 50, np.arange(0.0, 360.0, 5.0), np.arange(4.0, 15.0)
    x, y = layout(count)
    table = np.full((len(directions), len(speeds)), 1.0 / (len(directions) * len(speeds)))
    theirs = floris.FlorisModel("defaults")
    rose = floris.WindRose(directions, speeds, ti_table=0.1, freq_table=table)
    theirs.set(layout_x=x, layout_y=y, wind_data=rose)

    def run_floris() -> None:
        theirs.run()
        theirs.get_farm_AEP()

    turbine = Turbine.generic("generic", 5, 126, 90)
    run_floris()
    slow = best(run_floris, 3)
    print(f"FLORIS {floris.__version__}, its default Gauss model with Crespo-Hernandez turbulence,")
    print(
        f"  {count} turbines of 126 m, {len(directions)} directions x {len(speeds)} speeds: {slow * 1e3:.0f} ms."
    )
    print(
        "  Same places and wind states here, not the same formulas (growth, near wake, superposition differ):"
    )
    for model in ("niayifar-2016", "bastankhah-2014", "nygaard-2022"):
        ours = WindFarm(UniformSite((1.0,), 10.0), turbine, model, directions=directions, speeds=speeds)
        ours.aep(x, y)
        fast = best(partial(ours.aep, x, y), 10)
        print(f"    {model:16s} {fast * 1e3:8.1f} ms: {slow / fast:.0f} x")


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--alone", help=argparse.SUPPRESS)
    arguments.add_argument("--directions", default="1", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.alone:
        alone(given.alone, np.arange(0.0, 360.0, float(given.directions)))
        return
    beside_pywake("" if given.quick else "1" if given.full else "10")
    growth()
    if not given.quick:
        beside_floris()


if __name__ == "__main__":
    main()
