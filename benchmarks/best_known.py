"""The best layout found so far for ten energy-island configurations: a yardstick for every faster search.

    python benchmarks/best_known.py [--seconds 60] [--configurations 0 2 4 6 8] [--keep benchmarks/best_known.json]
    python benchmarks/best_known.py --table

The configurations are those of ``layouts.py``: ten farms with a type each, 360 directions and 23 wind speeds. Each gets
``--seconds`` CPU seconds of one core; with 720 all ten take two hours, or one on 2 cores: start it twice, with other
configurations. Most of the time goes to new searches with one seed after the other: smart starts and lattices, each
refined by a long gradient with many shakes, and ``auto``; in what is left, single turbines of the best are relocated.
What is found is written after every layout, and a second call with more seconds goes on where the first ended, so that
the file only ever gets better. ``--table`` evaluates every layout in the file again.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import energy_island

from vindeby.layout import (
    Auto,
    Gradient,
    Lattice,
    Layout,
    LayoutProblem,
    RandomSearch,
    Result,
    Search,
    SmartStart,
)

START = SmartStart(energy_island.GRID_SIZE, energy_island.RANDOM_PCT)
REGULAR = Lattice(trials=300)
KEPT = Path(__file__).with_suffix(".json")
LONG = Gradient(1500, 16.0)
PORTFOLIO = Auto(seconds=40.0)
SEEDS = 0.85
"""The share of the time for new searches."""

Entry = dict[str, Any]


def configuration(index: int) -> tuple[int, int]:
    """Farm and type."""
    return index % 10, (5 + index) % 6


def search(index: int, seconds: float, path: Path) -> None:
    """Spend what is left of the time on one configuration."""
    entry = kept(path).get(str(index)) or new_entry(index)
    question = energy_island.problem(*configuration(index))
    refine, portfolio = LONG.prepare(question), PORTFOLIO.prepare(question)
    if not entry["x"]:
        start = START.run(question, 0)
        entry["smart_start_gwh"] = start.aep_gwh
        entry["gradient_gwh"] = Gradient(widening=16.0).run(question, 0, start.layout).aep_gwh
    while entry["seconds"] < seconds:
        began, seed = time.process_time(), entry["seeds"]
        anew = entry["seconds_anew"] < SEEDS * seconds
        if anew:
            found = new_search(question, seed, refine, portfolio)
            entry["seeds"] += 1
        else:
            found = RandomSearch(2000, wind="all").run(question, entry["hops"], best_layout(entry))
            entry["hops"] += 1
        if found.aep_gwh > entry["aep_gwh"] and question.is_feasible(found.layout):
            entry.update(aep_gwh=found.aep_gwh, x=found.layout.x.tolist(), y=found.layout.y.tolist())
        spent = time.process_time() - began
        entry["seconds"] += spent
        entry["seconds_anew"] += spent if anew else 0.0
        keep(path, index, entry)


def new_search(question: LayoutProblem, seed: int, refine: Search, portfolio: Search) -> Result:
    """The smart start, a lattice or, for every second seed, the portfolio."""
    if seed % 2:
        return portfolio(seed, None)
    return refine(seed, (REGULAR if seed % 4 else START).run(question, seed).layout)


def kept(path: Path) -> dict[str, Entry]:
    """What the file holds, by configuration."""
    entries: dict[str, Entry] = json.loads(path.read_text()) if path.exists() else {}
    return entries


def keep(path: Path, index: int, entry: Entry) -> None:
    """Write one configuration; those of another process beside this one stay as they are there."""
    beside = path.with_name(f"{path.name}-{os.getpid()}")
    beside.write_text(json.dumps({**kept(path), str(index): entry}) + "\n")
    beside.replace(path)


def best_layout(entry: Entry) -> Layout:
    return Layout.of(entry["x"], entry["y"])


def new_entry(index: int) -> Entry:
    farm, kind = configuration(index)
    spent = {"seconds": 0.0, "seconds_anew": 0.0, "seeds": 0, "hops": 0}
    return {"farm": farm, "type": kind, **spent, "aep_gwh": 0.0, "x": [], "y": []}


def check(question: LayoutProblem, entry: Entry) -> float:
    """The energy of the layout as the engine gives it now; its rules are kept."""
    layout = best_layout(entry)
    assert question.is_feasible(layout)
    return question.aep(layout)


def table(entries: dict[str, Entry]) -> None:
    print(
        "| farm | type | turbines | smart start, GWh | gradient | best known, GWh | gain | CPU s | seeds | hops |"
    )
    print("| ---: |" + " ---: |" * 9)
    gains = []
    for key in sorted(entries, key=int):
        entry = entries[key]
        question = energy_island.problem(entry["farm"], entry["type"])
        aep, first = check(question, entry), entry["smart_start_gwh"]
        refined, most = ((one / first - 1.0) * 100.0 for one in (entry["gradient_gwh"], aep))
        gains.append((refined, most))
        print(
            f"| {entry['farm']} | {entry['type']} | {question.n_turbines} | {first:,.2f} | {refined:+.2f} % | "
            f"{aep:,.2f} | {most:+.2f} % | {entry['seconds']:.0f} | {entry['seeds']} | {entry['hops']} |"
        )
    refined, most = (sum(column) / len(gains) for column in zip(*gains, strict=True))
    print(f"mean gain over smart start: gradient {refined:+.3f} %, best known {most:+.3f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds for each configuration")
    parser.add_argument("--configurations", type=int, nargs="*", default=list(range(10)))
    parser.add_argument("--keep", type=Path, default=KEPT)
    parser.add_argument("--table", action="store_true", help="only show what the file holds")
    chosen = parser.parse_args()

    for index in [] if chosen.table else chosen.configurations:
        search(index, chosen.seconds, chosen.keep)
    table(kept(chosen.keep))


if __name__ == "__main__":
    main()
