"""Cables of the reference plants: the routers on IEA Wind 740-10, and the lowest LCOE of IEA Wind 2200-22.

    python benchmarks/cables.py 740 ROWP_Irregular.yaml            each router: length, seconds, crossings
    python benchmarks/cables.py 2200 LAYOUT.csv --seeds 2          LCOE of a layout, of the search from it, from random

The files are of IEAWindTask37/IEA-Wind-740-10-ROWP and IEAWindSystems/IEA-Wind-2200-22-ROWP; ``LAYOUT.csv`` has the
columns zone, x, y, with the last layout of ``scripts/Results/Recorder_processed.pkl``. ``lcoe`` is the cost function of
``scripts/opt_lcoe.py`` there, written again: energy by PyWake, monopiles by the polynomial of its table of masses with
the transition piece, cables by OptiWindNet.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely
import yaml

from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.campaign.presets import text
from vindeby.cases.plants import energy_mwh
from vindeby.economy import CableTree, DepthGrid
from vindeby.economy.cables import CableRouter
from vindeby.layout import Gradient, Layout

TYPES: list[tuple[int, float]] = [(3, 368.9), (5, 428.9), (7, 737.1)]
SUBSTATIONS = {"north": [554395.1, 5836951.8], "mid": [549905.6, 5829544.0], "south": [549000.0, 5825600.0]}
CAPEX, OPEX, PRICE_PER_KG = 9.6734e7 * 0.924, 2.97e6 * 0.924, 3.636 * 0.924
DISCOUNT, YEARS = 0.0661, 25
MASS = [663018.4357, 10795.76280, 312.1261481]
"""kg by depth: the polynomial that the script fits to its table, with 100 t for the transition piece."""
X, Y = np.arange(535e3, 561e3, 5e3), np.arange(5814e3, 5855e3, 5e3)
DEPTH = [
    [18.5, 17.9, 17.0, 15.2, 12.5, 10.1, 8.2, 6.3, 4.3],
    [26.4, 27.0, 26.8, 24.0, 19.7, 16.5, 14.3, 12.2, 9.9],
    [32.2, 33.2, 33.5, 30.8, 26.0, 22.5, 20.2, 17.8, 15.0],
    [33.7, 33.5, 33.4, 31.9, 29.9, 28.2, 25.7, 22.5, 19.1],
    [33.1, 31.9, 30.5, 28.7, 28.8, 30.0, 28.9, 25.2, 21.3],
    [31.6, 30.0, 28.2, 26.8, 26.8, 27.7, 27.0, 24.7, 21.6],
]
"""Metres: a smooth surface fitted to the 78 sums of monopile costs in the recorder, 0.27 % rms from them. The plant's
own grid was not at hand."""


def costs() -> dict[str, Any]:
    """The same costs as a section of a campaign file."""
    foundation = {
        "depth": {"x": X.tolist(), "y": Y.tolist(), "values": DEPTH},
        "mass": {"polynomial": MASS},
        "price_per_kg": PRICE_PER_KG,
    }
    return {
        "discount": DISCOUNT,
        "years": YEARS,
        "turbine": {"capex": CAPEX, "opex": OPEX},
        "foundation": foundation,
        "cables": {"substations": list(SUBSTATIONS.values()), "types": TYPES},
    }


def zone_by_zone(campaign: Campaign, counts: Sequence[int]) -> Callable[[Any, Any], CableTree]:
    """A router that connects the turbines of each zone, in their order, to its own substation, within its area."""
    routers = [
        CableRouter(
            np.array([SUBSTATIONS[zone.name]]),
            TYPES,
            border=shapely.get_coordinates(zone.boundary.shape())[:-1],
        )
        for zone in campaign.farms[0].zones or ()
    ]

    def route(x: Any, y: Any) -> CableTree:
        at = np.cumsum([0, *counts])
        parts = [one(x[at[k] : at[k + 1]], y[at[k] : at[k + 1]]) for k, one in enumerate(routers)]
        ends = [np.where(part.ends >= 0, part.ends + at[k], -1 - k) for k, part in enumerate(parts)]
        arrays = (
            ends,
            *([getattr(part, name) for part in parts] for name in ("eur_per_m", "substations", "detour_m")),
        )
        return CableTree(*map(np.concatenate, arrays))

    return route


def lcoe(document: dict[str, Any], layouts: dict[str, Any], seconds: float) -> dict[str, float]:
    """The script's cost function of a layout (x and y by zone): EUR per MWh, and what it is made of."""
    x, y = np.hstack(list(layouts.values()))
    energy = energy_mwh(document, x, y)
    depth = DepthGrid(X, Y, np.array(DEPTH)).at(x, y)
    piles = PRICE_PER_KG * np.polynomial.polynomial.polyval(depth, MASS).sum()
    routers = {
        zone: CableRouter(np.array([place]), TYPES, "milp", seconds) for zone, place in SUBSTATIONS.items()
    }
    cables = sum(routers[zone].route(*places).eur for zone, places in layouts.items())
    recovery = DISCOUNT / (1.0 - (1.0 + DISCOUNT) ** -YEARS)
    yearly = (CAPEX * len(x) + piles + cables) * recovery + OPEX * len(x)
    return {
        "lcoe": yearly / energy,
        "aep_gwh": energy / 1e3,
        "monopiles": piles / 1e6,
        "cables": cables / 1e6,
    }


def plant_740(file: str, seconds: float) -> None:
    yaml.SafeLoader.add_constructor("!include", lambda *_: None)
    with Path(file).open() as stream:
        plant = yaml.safe_load(stream)
    given = plant["layouts"]["initial_layout"]["coordinates"]
    x, y = np.array(given["x"]), np.array(given["y"])
    place = plant["electrical_substations"]["coordinates"]
    stations = np.column_stack([place["x"], place["y"]])
    ends = np.vstack([np.column_stack([x, y]), stations])[
        np.array(plant["electrical_collection_array"]["edges"])[:, :2]
    ]
    print(f"published                {np.hypot(*(ends[:, 0] - ends[:, 1]).T).sum() / 1e3:9.3f} km")
    CableRouter(stations, [(7, 1.0)], "hgs").route(x[:9], y[:9])  # compiles
    cases = [("heuristic", None, 0), ("hgs", None, 0)] + [("milp", seconds, seed) for seed in range(4)]
    for method, limit, seed in cases:
        router = CableRouter(stations, [(3, 1.0), (5, 1.0), (7, 1.0)], method, limit, seed)  # type: ignore[arg-type]
        began, processor = time.perf_counter(), time.process_time()
        routes = router.route(x, y)
        spent = f"{time.perf_counter() - began:6.1f} s, processor {time.process_time() - processor:6.1f} s"
        crossing = len(routes.crossings())
        print(
            f"{method:10} seed {seed}        {routes.length_m / 1e3:9.3f} km  {spent}, {crossing} crossings",
            flush=True,
        )


def plant_2200(file: str, seeds: int, seconds: float, iterations: int) -> None:
    document = yaml.safe_load(text("iea-2200-22"))
    with Path(file).open() as stream:
        rows = list(csv.DictReader(stream))
    published = {
        zone: np.array([[float(row[axis]) for row in rows if row["zone"] == zone] for axis in "xy"])
        for zone in SUBSTATIONS
    }
    campaign = Campaign.from_data(
        {
            **document,
            "costs": costs(),
            "objective": "lcoe",
            "method": ["random-start", {"gradient": {"max_iterations": iterations}}],
        }
    )
    cell = next(iter(campaign.cells()))
    problem = problem_of(campaign, cell)
    assert problem.valuation is not None
    router = zone_by_zone(campaign, cell.zones)
    problem = replace(problem, valuation=replace(problem.valuation, router=router))
    said = lcoe(document, published, seconds)
    print("published:", said, flush=True)
    starts: list[tuple[str, Any]] = [
        ("from published", None),
        *((f"seed {seed}", seed) for seed in range(seeds)),
    ]
    method = method_of(campaign, cell, pipeline_of(campaign))
    for name, seed in starts:
        began, processor = time.perf_counter(), time.process_time()
        if seed is None:
            start = Layout.of(*np.hstack(list(published.values())))
            found = Gradient(max_iterations=iterations, widening=16.0).prepare(problem)(0, start)
        else:
            found = method.prepare(replace(problem))(seed, None)
        spent = f"{time.perf_counter() - began:.0f} s, processor {time.process_time() - processor:.0f} s"
        at = np.cumsum([0, *cell.zones])
        zones = {
            zone: np.stack([found.x, found.y])[:, at[k] : at[k + 1]] for k, zone in enumerate(SUBSTATIONS)
        }
        print(f"{name}: {lcoe(document, zones, seconds)}, {spent}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plant", choices=["740", "2200"])
    parser.add_argument("file")
    parser.add_argument("--seeds", type=int, default=2, help="random starts")
    parser.add_argument("--seconds", type=float, default=50.0, help="time limit of milp")
    parser.add_argument("--iterations", type=int, default=300, help="of the gradient method")
    given = parser.parse_args()
    if given.plant == "740":
        plant_740(given.file, given.seconds)
    else:
        plant_2200(given.file, given.seeds, given.seconds, given.iterations)


if __name__ == "__main__":
    main()
