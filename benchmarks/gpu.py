"""Batches of layouts on a CUDA card beside all cores of the same machine: AEP with gradient per second.

    python benchmarks/gpu.py             66 turbines in batches of 1 to 4096; 20 to 500 turbines; every wake model
    python benchmarks/gpu.py --quick     66 turbines, a few batches
    python benchmarks/gpu.py --pixwake   beside pixwake (JAX, double precision) on the same card; needs pixwake from
                                         github.com/simutisernestas/pixwake, jax, xarray and h5netcdf

360 directions x 23 wind speeds, one turbulence intensity, random layouts. Times are wall time, with the transfer of
places and results, the best of several after one call to compile. The cores use the engine's tables, whose deficits
are right to 1e-6 at worst; ``difference`` is that of the AEP.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from vindeby.wake import MODELS, Turbine, WeibullSite, WindFarm
from vindeby.wake.gpu.devices import found_device

FREQUENCY = [0.06, 0.05, 0.05, 0.06, 0.08, 0.08, 0.08, 0.11, 0.14, 0.13, 0.09, 0.07]
SCALE = [9.6, 8.8, 9.1, 9.9, 10.6, 10.4, 10.5, 11.4, 12.0, 11.8, 11.1, 10.2]
SHAPE = [2.2, 2.1, 2.2, 2.3, 2.4, 2.4, 2.3, 2.3, 2.4, 2.4, 2.3, 2.2]
TURBINE = Turbine.generic("15 MW", 15, 240, 150)
AREA_PER_TURBINE_M2 = 2.2e6


def farm(wake: str = "nygaard-2022", **options: Any) -> WindFarm:
    return WindFarm(WeibullSite(FREQUENCY, SCALE, SHAPE, 0.1), TURBINE, wake, **options)


def layouts(batch: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Layouts in a square, at least about three diameters apart: points of a grid, each moved at random."""
    rng = np.random.default_rng(seed)
    columns = int(np.ceil(np.sqrt(count)))
    pitch = np.sqrt(AREA_PER_TURBINE_M2 * count) / columns
    point = np.stack([rng.permutation(columns * columns)[:count] for _ in range(batch)])
    move_x, move_y = rng.uniform(0.0, pitch - 3.0 * TURBINE.rotor_diameter_m, (2, batch, count))
    return point % columns * pitch + move_x, point // columns * pitch + move_y


def best_s(call: Callable[[], object], most_s: float = 2.0) -> float:
    """Seconds of the fastest of up to five calls."""
    best, end = float("inf"), time.perf_counter() + most_s
    for _ in range(5):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
        if time.perf_counter() > end:
            break
    return best


def compare(wake: str, count: int, batches: list[int], cores: int, **options: Any) -> None:
    """One row per batch: AEP with gradient per second on the card and on all cores."""
    card, threads = farm(wake, device="cuda", **options), farm(wake, threads=cores)
    sample = layouts(max(2, min(2 * cores, 40_000 // count**2 * 8)), count)
    expected = threads.aep_and_gradient_batch(*sample)[0]
    difference = np.abs(card.aep_and_gradient_batch(*sample)[0] / expected - 1.0).max()
    on_cores = len(sample[0]) / best_s(lambda: threads.aep_and_gradient_batch(*sample))
    for batch in batches:
        given = layouts(batch, count)
        card.aep_and_gradient_batch(*given)
        rate = batch / best_s(lambda given=given: card.aep_and_gradient_batch(*given))  # type: ignore[misc]
        row = f"{wake:<16} {count:>5} {batch:>6} {rate:>12,.1f} {on_cores:>12,.1f} {rate / on_cores:>8.1f}"
        print(f"{row} {difference:>10.1e}", flush=True)


def pixwake_gradient(wake: str, of: WindFarm) -> Callable[..., Any]:
    """What pixwake computes for layouts (layouts, turbines): AEP in GWh, and its slopes with x and y.

    ``gaussian`` is the same model there; for ``nygaard-2022`` it has no mirrored wakes.
    """
    import jax
    import jax.numpy as jnp
    import pixwake
    from pixwake.deficit import BastankhahGaussianDeficit, TurboGaussianDeficit
    from pixwake.rotor_avg import GaussianOverlapAvgModel
    from pixwake.utils import ct2a_mom1d

    jax.config.update("jax_enable_x64", True)  # pixwake switches it off when it is imported
    speed, states = np.linspace(0.0, 30.0, 301), of.states
    power, thrust = TURBINE.power_at(speed) / 1e3, TURBINE.thrust_coefficient_at(speed)
    curves = (pixwake.Curve(jnp.array(speed), jnp.array(values)) for values in (power, thrust))
    turbine = pixwake.Turbine(TURBINE.rotor_diameter_m, TURBINE.hub_height_m, *curves)
    shared = {"ct2a": ct2a_mom1d, "use_radius_mask": False}
    deficit = (
        BastankhahGaussianDeficit(**shared)
        if wake == "gaussian"
        else TurboGaussianDeficit(ctlim=0.96, rotor_avg_model=GaussianOverlapAvgModel(), **shared)
    )
    simulation = pixwake.WakeSimulation(turbine, deficit)
    direction = np.repeat(states.direction, np.diff(of.wind.first))
    wind = [jnp.array(values) for values in (states.speed, direction, states.turbulence)]
    probability = jnp.array(states.probability)

    def aep(x: Any, y: Any) -> Any:
        return simulation(x, y, *wind).aep(probability)

    return jax.jit(lambda x, y: jax.lax.map(lambda at: jax.value_and_grad(aep, (0, 1))(*at), (x, y)))


def compare_with_pixwake(wake: str, count: int, batch: int, **options: Any) -> None:
    """One row: AEP with gradient per second by pixwake and by a farm on the card."""
    card, given = farm(wake, device="cuda", **options), layouts(batch, count)
    theirs = pixwake_gradient(wake, card)
    (aep, slopes), (own, own_x, own_y) = theirs(*given), card.aep_and_gradient_batch(*given)
    difference = np.abs(np.array(aep) / own - 1.0).max()
    of_slopes = max(np.abs(a - b).max() for a, b in zip(slopes, (own_x, own_y), strict=True))
    of_slopes /= max(np.abs(own_x).max(), np.abs(own_y).max())
    rate = batch / best_s(lambda: card.aep_and_gradient_batch(*given))
    their_rate = batch / best_s(lambda: theirs(*given)[0].block_until_ready())
    row = f"{wake:<16} {count:>5} {batch:>6} {rate:>12,.1f} {their_rate:>12,.1f} {rate / their_rate:>8.1f}"
    print(f"{row} {difference:>10.1e} {of_slopes:>10.1e}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pixwake", action="store_true")
    chosen = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"card: {found_device().why}; {cores} cores; AEP with gradient per second")
    other = "pixwake" if chosen.pixwake else "cores"
    print(f"{'wake':<16} {'count':>5} {'batch':>6} {'card':>12} {other:>12} {'ratio':>8} {'difference':>10}")
    if chosen.pixwake:
        compare_with_pixwake("gaussian", 66, 64)
        compare_with_pixwake("nygaard-2022", 66, 64)
        return
    if chosen.quick:
        compare("nygaard-2022", 66, [64, 1024], cores)
        return
    compare("nygaard-2022", 66, [4**i for i in range(7)], cores)
    for count in (20, 100, 200, 500):
        compare("nygaard-2022", count, [max(16, 4096 * 400 // count**2)], cores)
    for wake in MODELS:
        if wake != "cumulative-curl":
            compare(wake, 66, [512], cores, tabulate=False)


if __name__ == "__main__":
    main()
