"""Lattices alone, by turbines and trials: AEP over several seeds, and CPU seconds of one of them.

    python benchmarks/lattice_seeds.py [--sizes 50 80 200 300] [--trials 300 1000] [--seeds 6] [--roses coarse fine]

The cases are those of ``open_case_data``: the even area, the two-way rose of 24 directions with one wind speed each
(coarse) or of 120 directions with ten (fine). Loops are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
import open_case_data

from vindeby.layout import Lattice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 80, 200, 300])
    parser.add_argument("--trials", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--roses", nargs="+", default=["coarse"], choices=["coarse", "fine"])
    chosen = parser.parse_args()
    print("| rose | turbines | trials | mean AEP, GWh | least | most | spread, % | CPU s |")
    print("| --- |" + " ---: |" * 7)
    for rose, turbines in product(chosen.roses, chosen.sizes):
        problem = open_case_data.problem("even", turbines, "two-way", fine=rose == "fine")
        Lattice(trials=2).run(problem, 0)
        for trials in chosen.trials:
            search = Lattice(trials=trials).prepare(problem)
            began = time.process_time()
            aep = np.array([search(seed, None).aep_gwh for seed in range(chosen.seeds)])
            seconds = (time.process_time() - began) / chosen.seeds
            spread = 100.0 * np.ptp(aep) / aep.mean()
            print(
                f"| {rose} | {turbines} | {trials} | {aep.mean():,.1f} | {aep.min():,.1f} | {aep.max():,.1f} | "
                f"{spread:.2f} | {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
