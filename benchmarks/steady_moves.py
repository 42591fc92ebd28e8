"""What a trial of annealing costs where wakes do not change with the wind: the cases of IEA Wind Task 37.

    python benchmarks/steady_moves.py [CASE ...]

From a random start, at the temperature of the cases. To compare two versions, run it with each:
``PYTHONPATH=OTHER/src``; equal energies mean that both kept the same moves.
"""

from __future__ import annotations

import argparse
import time

from iea37_data import CASES, problem

from vindeby.layout import Annealing, RandomStart

EVALUATIONS = {"cs1-16": 800_000, "cs1-36": 200_000, "cs1-64": 200_000, "cs3": 200_000, "cs4": 20_000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "cases", nargs="*", choices=[*CASES, []], metavar="CASE", help=f"of {', '.join(CASES)}"
    )
    print("| case | evaluations | CPU s | trial, us | AEP, GWh |\n| --- |" + " ---: |" * 4)
    for name in parser.parse_args().cases or CASES:
        case = problem(name)
        start = RandomStart().run(case, 0).layout
        Annealing(10, 0.03).run(case, 0, start)  # compile
        begin = time.process_time()
        result = Annealing(EVALUATIONS[name], 0.03).run(case, 0, start)
        cpu_s = time.process_time() - begin
        print(
            f"| {name} | {EVALUATIONS[name]:,} | {cpu_s:.2f} | {1e6 * cpu_s / result.evaluations:.2f} | "
            f"{result.aep_gwh:.9f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
