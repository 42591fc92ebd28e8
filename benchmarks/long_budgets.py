"""What a longer budget of ``auto`` is worth: the AEP found by CPU seconds, each budget in a run of its own.

    python benchmarks/long_budgets.py [--cases even-50-two-way ...] [--seconds 1 10 60 600] [--seeds 1]
                                      [--keep FILE.json] [--draw docs/pictures/long-budgets.png]

The cases are those of ``open_case_data``, with its 24 directions. CPU seconds of one core, compiling left out. With
``--keep`` what is measured is added to a file and not measured again; ``--draw`` makes a picture of all that it holds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import open_case_data

from vindeby.layout import Auto

Figures = dict[str, dict[str, list[float]]]
"""By case and CPU seconds: AEP (GWh) by seed."""
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
                found.append(Auto(seconds=seconds).run(problem, seed).aep_gwh)
                print(f"{name}, {seconds:g} s, seed {seed}: {found[-1]:,.3f} GWh", flush=True)
                if chosen.keep:
                    chosen.keep.write_text(json.dumps(figures, indent=1))


def table(figures: Figures) -> None:
    """The mean over the seeds, by case and budget."""
    budgets = sorted({float(seconds) for row in figures.values() for seconds in row})
    print("| case |" + "".join(f" {seconds:g} s |" for seconds in budgets))
    print("| --- |" + " ---: |" * len(budgets))
    for name, row in figures.items():
        means = [np.mean(row[key]) if row.get(key := f"{seconds:g}") else None for seconds in budgets]
        print(f"| {name} |" + "".join("  |" if mean is None else f" {mean:,.2f} |" for mean in means))


def draw(figures: Figures, path: Path) -> None:
    """Losses below the best that was found for a case, by CPU seconds."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    for name, row in figures.items():
        seconds = sorted((key for key in row if row[key]), key=float)
        best = max(max(row[key]) for key in seconds)
        below = [100.0 * (float(np.mean(row[key])) / best - 1.0) for key in seconds]
        axes.plot([float(key) for key in seconds], below, "o-", label=name, ms=4)
    axes.set(xscale="log", xlabel="CPU seconds", ylabel="% of the best AEP found")
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
