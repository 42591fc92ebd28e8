"""AEP against CPU seconds for every search, on a coarse and on a fine rose, from 30 to 300 turbines.

    python benchmarks/curves.py [--sizes 30 80] [--roses coarse] [--seconds 20] [--methods auto ...]
                                [--topfarm] [--iterations 200] [--keep curves.json] [--draw docs/pictures/curves.png]

The cases are those of ``open_case_data``: the even area with the two-way rose, of 24 directions with one wind speed
each (coarse) or of 120 directions with ten (fine). CPU seconds of one core, compiling left out. ``--topfarm`` adds
TopFarm's SGD and SLSQP with PyWake's same model, each from the layout of random-start with seed 0. With ``--keep`` what
is measured is added to a file and not measured again; ``--draw`` makes one picture of all that the file holds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import open_case_data
import open_case_topfarm
from timed_methods import METHODS, best_within

from vindeby.layout import LayoutProblem, RandomStart

Curves = dict[str, dict[str, list[list[float]]]]
"""By case and method: CPU seconds and AEP (GWh) of the best layout by then."""


def measure(curves: Curves, chosen: argparse.Namespace) -> None:
    """Fill in what is not there yet."""
    for rose in chosen.roses:
        for turbines in chosen.sizes:
            problem = open_case_data.problem("even", turbines, "two-way", fine=rose == "fine")
            rows = curves.setdefault(f"{turbines} turbines, {rose} rose", {})
            names = [*chosen.methods, *(open_case_topfarm.DRIVERS if chosen.topfarm else ())]
            for name in names:
                if name not in rows:
                    rows[name] = _points(name, problem, chosen)
                    _tell(turbines, rose, name, rows[name])
                if chosen.keep:
                    chosen.keep.write_text(json.dumps(curves))


def _points(name: str, problem: LayoutProblem, chosen: argparse.Namespace) -> list[list[float]]:
    if name in METHODS:
        return [list(point) for point in best_within(METHODS[name], problem, chosen.seconds)]
    start = RandomStart().run(problem, 0)
    seconds, aep = open_case_topfarm.optimised(name, problem, start.layout, chosen.iterations)
    return [[0.0, start.aep_gwh], [seconds, aep]]


def _tell(turbines: int, rose: str, name: str, points: list[list[float]]) -> None:
    seconds, aep = points[-1]
    print(f"| {turbines} | {rose} | {name} | {aep:,.1f} | {seconds:.1f} |", flush=True)


def draw(curves: Curves, path: Path) -> None:
    """One picture: a row for each rose, a column for each size; losses below the best of all."""
    import matplotlib.pyplot as plt

    cases = sorted(curves, key=lambda case: (case.split(", ")[1], int(case.split()[0])))
    roses = sorted({case.split(", ")[1] for case in cases})
    columns = max(sum(case.endswith(rose) for case in cases) for rose in roses)
    figure, grid = plt.subplots(len(roses), columns, figsize=(3.4 * columns, 3.1 * len(roses)), squeeze=False)
    names = list(dict.fromkeys(name for case in cases for name in curves[case]))
    colours = dict(zip(names, plt.get_cmap("tab10").colors, strict=False)) | {"auto": "black"}
    for row, rose in enumerate(roses):
        own = [case for case in cases if case.endswith(rose)]
        for axes, case in zip(grid[row], own, strict=False):
            _panel(axes, case, curves[case], colours)
        for axes in grid[row][len(own) :]:
            axes.set_axis_off()
    handles = [plt.Line2D([], [], color=colours[name], label=name) for name in names]
    figure.legend(handles=handles, loc="lower center", ncols=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.04 + 0.03 * (len(names) // 4), 1, 1))
    figure.savefig(path, dpi=110)


def _panel(axes: Any, case: str, rows: dict[str, list[list[float]]], colours: dict[str, Any]) -> None:
    best = max(point[1] for points in rows.values() for point in points)
    for name, points in rows.items():
        there = [(max(at, 0.01), 100.0 * (aep / best - 1.0)) for at, aep in points if aep > 0.0]
        if there:
            line = "s" if len(there) == 1 else "-"  # of one point no line would be seen
            style = "o:" if name in open_case_topfarm.DRIVERS else line
            width = 2.2 if name == "auto" else 1.2
            axes.plot(
                *zip(*there, strict=True), style, color=colours[name], lw=width, ms=4, drawstyle="steps-post"
            )
    axes.set(title=case, xscale="log", xlabel="CPU seconds", ylabel="% of the best AEP", ylim=(-3.0, 0.1))
    axes.title.set_fontsize(9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=list(open_case_data.SIZES))
    parser.add_argument("--roses", nargs="+", default=["coarse", "fine"], choices=["coarse", "fine"])
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--topfarm", action="store_true")
    parser.add_argument("--iterations", type=int, default=200, help="of TopFarm's drivers")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--draw", type=Path)
    chosen = parser.parse_args()
    curves: Curves = json.loads(chosen.keep.read_text()) if chosen.keep and chosen.keep.exists() else {}
    print("| turbines | rose | method | AEP, GWh | CPU s |\n| ---: | --- | --- | ---: | ---: |")
    measure(curves, chosen)
    if chosen.draw:
        draw(curves, chosen.draw)


if __name__ == "__main__":
    main()
