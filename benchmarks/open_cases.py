"""How often each search is best, by the number of turbines, at the same CPU time for all; cases of our own.

    python benchmarks/open_cases.py [--sizes 30 80] [--areas long] [--roses even] [--seconds 10] [--keep FILE.json]

The cases are those of ``open_case_data``. Every method gets the same CPU seconds of one core, compiling left out: it is
run again with the next seed until they are spent, and the best layout counts; ``auto`` gets them as its budget. With
``--keep`` what is measured is added to a file and not measured again, so that a long table can be made in parts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import open_case_data
from timed_methods import METHODS, best_within

Figures = dict[str, dict[str, float]]


def measured(figures: Figures, chosen: argparse.Namespace) -> Figures:
    """AEP (GWh) by case and method."""
    cases = [(a, n, r) for n in chosen.sizes for a in chosen.areas for r in chosen.roses]
    for area, turbines, rose in cases:
        problem = open_case_data.problem(area, turbines, rose)
        row = figures.setdefault(f"{problem.name}-{chosen.seconds:g}s", {})
        for name in chosen.methods:
            if name not in row:
                row[name] = best_within(METHODS[name], problem, chosen.seconds)[-1][1]
                if chosen.keep:
                    chosen.keep.write_text(json.dumps(figures, indent=1))
        best = max(row, key=lambda name: row[name])
        print(f"{problem.name}: {best} {row[best]:,.1f} GWh", file=sys.stderr, flush=True)
    return {key: figures[key] for key in figures if key.endswith(f"-{chosen.seconds:g}s")}


def table(figures: Figures, methods: list[str], sizes: list[int]) -> None:
    """In how many cases of a size each method is best, and how far it is below the best in the mean."""
    print("| method |" + "".join(f" {n} turbines | below the best |" for n in sizes))
    print("| --- |" + " ---: | ---: |" * len(sizes))
    for name in methods:
        cells = []
        for turbines in sizes:
            rows = [row for key, row in figures.items() if key.split("-")[1] == str(turbines) and name in row]
            best = Counter(max(row, key=lambda one: row[one]) for row in rows)
            below = [100.0 * (1.0 - row[name] / max(row.values())) for row in rows if row[name] > 0.0]
            mean = f"{sum(below) / len(below):.2f} %" if len(below) == len(rows) and rows else "no layout"
            cells.append(f" {best[name]} of {len(rows)} | {mean} |")
        print(f"| {name} |" + "".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(open_case_data.SIZES))
    parser.add_argument("--areas", nargs="+", default=list(open_case_data.AREAS))
    parser.add_argument("--roses", nargs="+", default=list(open_case_data.ROSES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    kept = json.loads(chosen.keep.read_text()) if chosen.keep and chosen.keep.exists() else {}
    table(measured(kept, chosen), chosen.methods, chosen.sizes)


if __name__ == "__main__":
    main()
