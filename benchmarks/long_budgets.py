"""What a longer budget of ``auto`` is worth: the AEP found by CPU seconds, each budget in a run of its own.

    python benchmarks/long_budgets.py [--cases even-50-two-way ...] [--seconds 1 10 60 600] [--seeds 1]
                                      [--keep FILE.json] [--draw docs/pictures/long-budgets.png]

The cases are those of ``open_case_data``, with its 24 directions. CPU seconds of one core, compiling left out. With
``--keep`` what is measured is added to a file and not measured again; ``--draw`` makes a picture of all that it holds:
the best layout of each run over its CPU seconds, and a point where it ends.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import open_case_data

from vindeby.layout import Auto

Figures = dict[str, dict[str, list[tuple[list[float], list[float]]]]]
"""By case, budget and seed: CPU seconds, and the AEP (GWh) of the best layout by then."""
CASES = ("even-50-two-way", "notched-80-broad", "long-200-even", "even-300-two-way")


def measure(figures: Figures, chosen: argparse.Namespace) -> None:
    """Fill in what is not there yet."""
    for name in chosen.cases:
        area, turbines, rose = name.split("-", 2)
        problem = open_case_data.problem(area, int(turbines), rose)
        Auto().brief().run(problem, 0)
        for seconds in chosen.seconds:
            found = figures.setdefault(name, {}).setdefault(f"{seconds:g}", [])
            for seed in range(len(found), chosen.seeds):
                result = Auto(seconds=seconds).run(problem, seed)
                curve = [result.arrays[f"curve_{of}"].tolist() for of in ("seconds", "aep_gwh")]
                found.append((curve[0], curve[1]))
                print(f"{name}, {seconds:g} s, seed {seed}: {curve[1][-1]:,.3f} GWh", flush=True)
                if chosen.keep:
                    chosen.keep.write_text(json.dumps(figures, indent=1))


def table(figures: Figures) -> None:
    """The mean over the seeds, by case and budget."""
    budgets = sorted({float(seconds) for row in figures.values() for seconds in row})
    print("| case |" + "".join(f" {seconds:g} s |" for seconds in budgets))
    print("| --- |" + " ---: |" * len(budgets))
    for name, row in figures.items():
        ends = [[aep[-1] for _, aep in row.get(f"{seconds:g}", [])] for seconds in budgets]
        print(f"| {name} |" + "".join(f" {np.mean(end):,.2f} |" if end else "  |" for end in ends))


def draw(figures: Figures, path: Path) -> None:
    """Losses below the best that was found for a case, by CPU seconds."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    for number, (name, row) in enumerate(figures.items()):
        runs = [run for found in row.values() for run in found]
        best = max(aep[-1] for _, aep in runs)
        for seconds, aep in runs:
            below = 100.0 * (np.array(aep) / best - 1.0)
            axes.step(seconds, below, f"C{number}-", where="post", lw=1, alpha=0.5)
            axes.plot(seconds[-1], below[-1], f"C{number}o", ms=4)
        axes.plot([], [], f"C{number}o-", label=name, ms=4)
    axes.set(xscale="log", xlim=(0.5, None), ylim=(-0.6, 0.02))
    axes.set(xlabel="CPU seconds", ylabel="% of the best AEP found")
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=list(CASES), metavar="AREA-TURBINES-ROSE")
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 10.0, 60.0, 600.0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--draw", type=Path)
    chosen = parser.parse_args()
    figures: Figures = json.loads(chosen.keep.read_text()) if chosen.keep and chosen.keep.exists() else {}
    measure(figures, chosen)
    table(figures)
    if chosen.draw:
        draw(figures, chosen.draw)


if __name__ == "__main__":
    main()
