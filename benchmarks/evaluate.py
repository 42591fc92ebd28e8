"""How fast stored layouts are evaluated among neighbours, beside PyWake, and whether a kill changes anything.

    python benchmarks/evaluate.py                       200 combinations of nine neighbours, 365 steps, PyWake on ten
    python benchmarks/evaluate.py --capacity 1000       larger farms; --pywake 1 --pywake-steps 20: less of PyWake
    python benchmarks/evaluate.py --kills 0             without the kills

The ten areas of the preset energy-island, with layouts at random places: one is evaluated, the other nine stand or do
not, each with one of six types and one of two seeds. Powers of all turbines at all steps, ``nygaard-2022``. Times are
processor times of one thread: of vindeby that of a task, of PyWake that of the same combination. Every power is
compared. Then the command itself runs with two workers, is killed with -9 as often as asked, is resumed, and every
record is compared with the first ones.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Before NumPy is imported, or it is too late.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from vindeby.runner.methods.stored import StoredMethod  # noqa: E402

from vindeby.campaign import Campaign  # noqa: E402
from vindeby.campaign.reading.yaml_text import write  # noqa: E402
from vindeby.runner import run  # noqa: E402
from vindeby.store.disk.run_directory import RunDirectory  # noqa: E402
from vindeby.store.read.database import Database  # noqa: E402

TYPE = 5


def layouts(folder: Path, capacity_mw: float) -> Path:
    data = Campaign.load("energy-island").to_data()
    data |= {"method": "random-start", "seeds": 2, "capacity_mw": capacity_mw}
    run(Campaign.from_data(data), folder / "layouts.h5")
    return folder / "layouts.h5"


def evaluation(source: Path, combinations: int, steps: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    with Database(source) as database:
        campaign = Campaign.loads(str(database.campaign_text))
    types = [turbine.name for turbine in campaign.turbines]
    rows: list[dict[str, Any]] = []
    for number in range(combinations):
        rows.append({"combination": number})
        standing = [farm.name for farm in campaign.farms[1:] if rng.random() < 0.7]
        if standing:
            rows.pop()
        for name in standing:
            row = {"farm": name, "type": types[rng.integers(6)], "seed": int(rng.integers(2))}
            rows.append({"combination": number, **row})
    series = {
        "wind_direction": np.round(rng.uniform(0, 359.9, steps), 2).tolist(),
        "wind_speed": np.round(np.clip(11.0 * rng.weibull(2.2, steps), 3.0, 25.0), 2).tolist(),
        "turbulence_intensity": np.round(rng.uniform(0.04, 0.15, steps), 3).tolist(),
    }
    return {
        "name": "benchmark",
        "method": {
            "stored": {"farms": campaign.farms[0].name, "types": types[TYPE], "seeds": 0, "output": "power"}
        },
        "site": {"time_series": series},
        "vary": {"neighbours": {"table": rows}},
        "run": {"flush_s": 0.0},
    }


def in_this_process(asked: Campaign) -> tuple[list[dict[str, Any]], list[float]]:
    """The arrays of every combination, and the processor time of each; the first also builds what all share."""
    method, found, seconds = StoredMethod(asked), [], []
    for cell in asked.cells():
        began = time.process_time()
        result = method.prepare(cell)(next(cell.tasks(asked.seeds)))
        seconds.append(time.process_time() - began)
        found.append({**result.arrays, "neighbours": result.attributes["neighbour_layouts"]})
    return found, seconds


def pywake(
    source: Path, arrays: dict[str, Any], wind: dict[str, Any], steps: int
) -> tuple[np.ndarray, float, int]:
    """Power of the evaluated farm's turbines, processor time, and how many turbines stood."""
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.site import UniformSite
    from py_wake.wind_turbines import WindTurbines
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    with Database(source) as database:
        campaign = Campaign.loads(str(database.campaign_text))
        others = [database[key] for key in str(arrays["neighbours"]).split(", ") if key]
    sizes = [turbine.generic for turbine in campaign.turbines if turbine.generic is not None]
    machines = WindTurbines.from_WindTurbine_lst(
        [GenericWindTurbine("", s.rotor_diameter_m, s.hub_height_m, s.rated_power_mw * 1e3) for s in sizes]
    )
    x, y = np.concatenate([arrays["layout"], *(one.arrays["layout"] for one in others)], axis=1)
    own = arrays["layout"].shape[1]
    types = [TYPE] * own + [int(one.attributes["type_idx"]) for one in others for _ in range(one.n_turbines)]
    model = Nygaard_2022(UniformSite([1.0], 0.1), machines)
    chosen = {
        key: np.array(wind[key][:steps]) for key in ("wind_direction", "wind_speed", "turbulence_intensity")
    }
    given = dict(zip(("wd", "ws", "TI"), chosen.values(), strict=True))
    began = time.process_time()
    power = model(x, y, type=types, time=True, **given).Power.values[:own]
    return power, time.process_time() - began, len(x)


def beside_pywake(source: Path, asked: Campaign, wind: dict[str, Any], how_many: int, steps: int) -> None:
    found, seconds = in_this_process(asked)
    sizes = [str(one["neighbours"]).count(",") + 1 for one in found]
    rated = asked.turbines[0].rated_power_mw * 1e6
    print(f"{len(found)} combinations of {np.mean(sizes):.1f} neighbours in the mean, {len(wind['wind_speed'])} steps, "
          f"{found[0]['layout'].shape[1]} turbines evaluated")  # fmt: skip
    print(
        f"vindeby: {1e3 * np.mean(seconds[1:]):.1f} ms per combination ({1e3 * seconds[0]:.0f} ms for the first)"
    )
    chosen: Any = np.linspace(1, len(found) - 1, how_many).astype(int) if how_many else []
    worst, ratios = 0.0, []
    for number in chosen:
        theirs, took, count = pywake(source, found[number], wind, steps)
        apart = float(np.abs(found[number]["power"][:, :steps] - theirs).max()) / rated
        whole = took * len(wind["wind_speed"]) / steps
        worst = max(worst, apart)
        ratios.append(whole / seconds[number])
        print(f"  {number:4d}: {count} turbines; vindeby {seconds[number]:.3f} s, PyWake {whole:.1f} s; "
              f"largest difference {apart:.1e} of rated power")  # fmt: skip
    if ratios:
        print(
            f"PyWake takes {np.median(ratios):.0f} times as long (median); largest difference {worst:.1e} of rated"
        )


def killed(folder: Path, source: Path, kills: int, expected: Campaign) -> None:
    words = [
        sys.executable,
        "-m",
        "vindeby",
        "evaluate",
        str(source),
        "--with",
        "study.yaml",
        "-o",
        "study.h5",
        "-j",
        "2",
    ]
    directory = RunDirectory(folder / "study.h5")
    total, began = expected.total_configs, time.monotonic()
    for kill in range(kills):
        enough = (kill + 1) * total // (kills + 1)
        process = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True)
        while len(directory.shard_names()) < enough and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        print(f"killed with -9: {len(directory.shard_names())} of {total} results were safe")
    subprocess.run([*words, "--quiet"], cwd=folder, check=True)
    print(f"resumed, merged, validated: {time.monotonic() - began:.0f} s in all")
    subprocess.run([*words[:-3], "whole.h5", "-j", "2", "--quiet"], cwd=folder, check=True)
    with Database(folder / "study.h5") as one, Database(folder / "whole.h5") as other:
        same = sum(_content(one[key]) == _content(other[key]) for key in other)
        print(f"{same} of {len(other)} records equal those of a run without kills")


def _content(record: Any) -> Any:
    attributes = {name: value for name, value in record.attributes.items() if name != "seconds"}
    return {name: array.tobytes() for name, array in record.arrays.items()}, attributes, record.fingerprint


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--combinations", type=int, default=200)
    parser.add_argument("--steps", type=int, default=365)
    parser.add_argument("--capacity", type=float, default=200.0, help="MW of each farm")
    parser.add_argument("--pywake", type=int, default=10, help="combinations that PyWake computes too")
    parser.add_argument("--pywake-steps", type=int, default=0, help="only so many steps of each")
    parser.add_argument("--kills", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = layouts(folder, options.capacity)
        data = evaluation(source, options.combinations, options.steps)
        (folder / "study.yaml").write_text(write(data))
        asked = Campaign.of_stored(source, data)
        wind = data["site"]["time_series"]
        beside_pywake(source, asked, wind, options.pywake, options.pywake_steps or options.steps)
        if options.kills:
            killed(folder, source, options.kills, asked)


if __name__ == "__main__":
    main()
