"""Dense farms whose best layouts have many turbines on the border: what a search finds in them, by CPU time.

    python benchmarks/border_cases.py --keep after.json [--seconds 10] [--wakes top-hat] [--cases square-50] [--seeds 2]
    PYTHONPATH=OTHER/src python benchmarks/border_cases.py --keep before.json
    python benchmarks/border_cases.py --compare before.json after.json

Every case is laid out by ``auto`` with the same CPU seconds, compiling left out, or by annealing of a random start with
``--trials``; ``--keep`` adds what is found to a file and does not measure it again. ``--compare`` prints the gain of
the second file over the first. Rotors are 100 m, 4 D apart, as in the case of a hackathon of Shell (2020): 50 turbines
in a square of 3.9 km. Wind blows from 36 directions with eleven speeds each.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import open_case_data

from vindeby.layout import Annealing, Auto, Boundary, Layout, LayoutProblem, RandomStart
from vindeby.wake import Turbine, WakeModel, WeibullSite, WindFarm
from vindeby.wake.models import jensen

DIAMETER_M, SPACING = 100.0, 4.0
CASES: dict[str, tuple[str, int, str, float]] = {
    "square-50": ("square", 50, "two-way", 5.5),
    "circle-30": ("circle", 30, "one-way", 5.5),
    "notched-80": ("notched", 80, "broad", 5.2),
    "hole-50": ("hole", 50, "even", 6.0),
    "two-parts-40": ("two-parts", 40, "two-way", 7.0),
    "long-60": ("long", 60, "broad", 5.5),
}
"""Area, turbines, rose, and the side of a square of the area of one turbine, in rotor diameters."""
WAKES = ("top-hat", "gaussian")
Rings = Sequence[Sequence[tuple[float, float]]]
PARTS: dict[str, Rings] = {
    "square": [[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]],
    "two-parts": [
        [(0.0, 0.0), (1.0, 0.1), (0.9, 1.0), (0.0, 0.8)],
        [(1.4, 0.2), (2.2, 0.0), (2.3, 0.9)],
    ],
}
HOLE = [(0.35, 0.3), (0.7, 0.4), (0.6, 0.7)]


def model(wakes: str) -> WakeModel:
    """Top-hat wakes, or those of ``open_case_data``."""
    return jensen(0.05, "momentum", "centre") if wakes == "top-hat" else open_case_data.wakes()


def boundary(area: str, square_metres: float) -> Boundary:
    """An area of this size."""
    if area == "circle":
        return Boundary(circle=((0.0, 0.0), float(np.sqrt(square_metres / np.pi))))
    shape = "square" if area == "hole" else area
    rings = [np.array(ring) for ring in PARTS.get(shape, [open_case_data.AREAS.get(shape, ())])]
    holes = [np.array(HOLE)] if area == "hole" else []
    sizes = [_size(ring) for ring in rings], [_size(ring) for ring in holes]
    scale = np.sqrt(square_metres / (sum(sizes[0]) - sum(sizes[1])))
    return Boundary(
        [[(x, y) for x, y in ring * scale] for ring in rings],
        holes=[[(x, y) for x, y in ring * scale] for ring in holes],
    )


def _size(ring: open_case_data.FloatArray) -> float:
    x, y = ring.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def problem(name: str, wakes: str) -> LayoutProblem:
    """One case."""
    area, turbines, rose, room = CASES[name]
    share, speed = open_case_data.wind(rose, np.arange(0.0, 360.0, 30.0))
    site = WeibullSite(share, speed * 1.13, np.full(12, 2.1))
    turbine = Turbine.generic("3 MW", 3.0, DIAMETER_M, 100.0)
    farm = WindFarm(
        site,
        turbine,
        model(wakes),
        directions=np.arange(0.0, 360.0, 10.0),
        speeds=np.arange(4.0, 25.0, 2.0),
    )
    where = boundary(area, turbines * (room * DIAMETER_M) ** 2)
    return LayoutProblem(farm, where, turbines, SPACING * DIAMETER_M, f"{name}-{wakes}")


def on_border(task: LayoutProblem, layout: Layout) -> int:
    """How many turbines stand within a metre of the border."""
    distance = np.stack([zone.boundary.distances(layout.x, layout.y) for zone in task.zones]).max(axis=0)
    return int(np.count_nonzero(distance < 1.0))


def measured(figures: dict[str, list[float]], chosen: argparse.Namespace) -> None:
    """AEP (GWh), turbines on the border and the smallest signed distance to it (m), by case and seed."""
    for wakes in chosen.wakes:
        for name in chosen.cases:
            task = problem(name, wakes)
            for seed in range(chosen.seeds):
                key = f"{task.name}-{seed}"
                if key in figures:
                    continue
                if chosen.trials:
                    found = Annealing(chosen.trials).run(task, seed, RandomStart().run(task, seed).layout)
                else:
                    Auto().brief().run(task, 0)
                    found = Auto(seconds=chosen.seconds).run(task, seed)
                least = min(float(zone.boundary.distances(found.x, found.y).min()) for zone in task.zones)
                figures[key] = [found.aep_gwh, on_border(task, found.layout), least]
                start = found.notes.get("best_start", "")
                print(f"{key}: {found.aep_gwh:.3f} GWh, {figures[key][1]} on the border {start}", flush=True)
                if chosen.keep:
                    chosen.keep.write_text(json.dumps(figures, indent=1))


def compare(before: dict[str, list[float]], after: dict[str, list[float]]) -> None:
    """The gain of each case, and for each kind of wakes the mean and the cases won."""
    print("| case | before, GWh | on the border | after, GWh | on the border | gain |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for wakes in WAKES:
        gains = []
        for key in (key for key in before if wakes in key and key in after):
            was, now = before[key], after[key]
            gains.append(100.0 * (now[0] / was[0] - 1.0))
            row = f"| {key} | {was[0]:.3f} | {was[1]} | {now[0]:.3f} | {now[1]} | {gains[-1]:+.3f} % |"
            print(row)
        if gains:
            won, error = sum(gain > 0.0 for gain in gains), np.std(gains) / np.sqrt(len(gains))
            print(
                f"{wakes}: {np.mean(gains):+.3f} +- {error:.3f} %, {won} of {len(gains)} won", file=sys.stderr
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--wakes", nargs="+", default=list(WAKES), choices=WAKES)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--compare", type=Path, nargs=2)
    chosen = parser.parse_args()
    if chosen.compare:
        compare(*(json.loads(path.read_text()) for path in chosen.compare))
        return
    measured(json.loads(chosen.keep.read_text()) if chosen.keep and chosen.keep.exists() else {}, chosen)


if __name__ == "__main__":
    main()
