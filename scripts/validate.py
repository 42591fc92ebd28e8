"""Compute the figures of docs/validation.md again, and write them into the page if all are within their limits.

    python scripts/validate.py

Names each figure that differs from the page. Exits with 1 where one is beyond its limit. What is compared is what the
tests compare; here the figures themselves are kept.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.layout.test_smart_start_golden import CASES, GOLDEN, method_of, problem_of  # noqa: E402
from tests.physics import (  # noqa: E402
    oracle,
    test_blockage,
    test_floris,
    test_iea37,
    test_pywake,
    test_reference_plants,
)

from vindeby.assembly import search  # noqa: E402
from vindeby.campaign import Campaign  # noqa: E402
from vindeby.cases import all_cases, judged  # noqa: E402
from vindeby.wake import MODELS, UniformSite, WindFarm, iea37_335mw  # noqa: E402

PAGE = ROOT / "docs" / "validation.md"
TITLES = "| oracle | what is compared | largest difference | limit |\n| --- | --- | --- | --- |\n"
UNITS = {"GWh": 1.0, "MWh": 1e3, "kW": 1e6 / 8760}
"""What an AEP in GWh is in the units of open cases that are energies or mean powers."""
READERS = {
    "h5py": "_h5py_", "netCDF4": "_netcdf4_", "xarray": "_xarray_", "pyfive": "_pyfive_", "PyTables": "_pytables_",
    "R (hdf5r)": "_hdf5r_", "R (ncdf4)": "_ncdf4_", "h5wasm": "_h5wasm_", "h5dump and h5ls": "_h5dump_",
    "ncdump": "_ncdump_",
}  # fmt: skip
"""Independent readers of HDF5, with what the names of their tests have in common."""


class Row(NamedTuple):
    oracle: str
    compared: str
    figure: str
    limit: str
    within: bool


def difference(judge: str, compared: str, values: list[float], limit: float, unit: str = "") -> Row:
    """A row with the largest of these differences, as the power of ten above it: rounding differs by machine.

    A limit that is between the two is written instead.
    """
    largest = max(abs(value) for value in values)
    limit_shown = f"{limit:.0e}".replace("e-0", "e-") + unit
    power = int(np.ceil(np.log10(largest))) if largest else 0
    above = limit_shown if largest <= limit < 10.0**power else f"1e{power}{unit}"
    shown = "none" if largest == 0 else f"below {above}"
    return Row(judge, compared, shown, limit_shown, largest <= limit)


def count(judge: str, compared: str, equal: int, of: int) -> Row:
    return Row(judge, compared, f"{equal} of {of}", "all", 0 < equal == of)


def pywake() -> Iterator[Row]:
    directions, kind = np.arange(0, 360, 10.0), np.arange(20) % 2
    for name in sorted(set(MODELS) - test_pywake.OF_FLORIS):
        farm = WindFarm(test_pywake.site(), test_pywake.turbines(), name, directions=directions)
        theirs = oracle.pywake_model(name, oracle.pywake_weibull_site(), test_pywake.pywake_turbines())
        of_farm, of_turbine = [], []
        for seed in range(4):
            x, y = oracle.spread_out(seed, 20, 800, 7000)
            ratio = farm.turbine_aep(x, y, kind), oracle.turbine_aep(theirs, x, y, type=kind, wd=directions)
            of_farm.append(ratio[0].sum() / ratio[1].sum() - 1)
            of_turbine.extend(ratio[0] / ratio[1] - 1)
        limits = test_pywake.TABLE.get(name, test_pywake.EXACT)
        for what, values, limit in zip(("a farm", "a turbine"), (of_farm, of_turbine), limits, strict=True):
            judge = f"PyWake {version('py_wake')}"
            yield difference(judge, f"`{name}`: energy of {what}, relative", values, limit)


def blockage() -> Iterator[Row]:
    directions, kind = np.arange(0, 360, 40.0), np.arange(40) % 2
    for name in ("bastankhah-2014", "iea37", "jensen"):
        model = test_blockage.blocked(name)
        farm = WindFarm(test_pywake.site(), test_pywake.turbines(), model, directions=directions)
        theirs = test_blockage.pywake_blocked(name, test_pywake.pywake_turbines())
        off = []
        for seed, least in ((0, 500), (1, 700)):
            x, y = oracle.spread_out(seed, 40, least, 6000)
            ratio = farm.turbine_aep(x, y, kind), oracle.turbine_aep(theirs, x, y, type=kind, wd=directions)
            off.extend(ratio[0] / ratio[1] - 1)
        compared = f"`{name}` with blockage: energy of a turbine, relative"
        yield difference(f"PyWake {version('py_wake')}", compared, off, 1e-9)


def floris() -> Iterator[Row]:
    rated = 1000.0 * max(test_floris.cases.POWER_KW)
    for name, model in test_floris.MODELS.items():
        farm, figures = test_floris.farm_of(model), test_floris.FIGURES["power_w"][name]
        differences = [
            (farm.power(x, y) - np.array(figures[layout])).ravel() / rated
            for layout, (x, y) in test_floris.cases.LAYOUTS.items()
        ]
        compared = f"`{name}`: power of every turbine, relative to rated power"
        yield difference("FLORIS 4.7", compared, list(np.concatenate(differences)), 1e-11)


def topfarm() -> Iterator[Row]:
    found = ((GOLDEN[case.name], method_of(case).run(problem_of(case), case.seed)) for case in CASES)
    same = [wanted["x"] == got.x.tolist() and wanted["y"] == got.y.tolist() for wanted, got in found]
    yield count("TopFarm 2.7.1", "smart starts that choose the same points", sum(same), len(same))


def published() -> Iterator[Row]:
    farm = WindFarm(UniformSite(test_iea37.FREQUENCY, wind_speed=9.8), iea37_335mw(), "iea37")
    off = [1e3 * farm.aep(case["x"], case["y"]) - case["aep_mwh"] for case in test_iea37.CASES]
    compared = f"case study 1: published energies of {len(off)} published layouts"
    yield difference("IEA Wind Task 37", compared, off, 6e-5, " MWh")
    for preset, limit in test_reference_plants.TOLERANCE.items():
        campaign = Campaign.load(preset)
        farm = search.problem_of(campaign, campaign.cells()[0]).farm
        plants = [plant for plant in test_reference_plants.PLANTS.values() if plant["preset"] == preset]
        off = [farm.turbine_aep(plant["x"], plant["y"]).sum() / plant["aep_gwh"] - 1 for plant in plants]
        compared = f"`{preset}`: published energies of {len(off)} published layouts, relative"
        yield difference("IEA Wind reference plants", compared, off, limit)


def open_cases() -> Iterator[Row]:
    right, off = [], []
    records = [(case, case.record) for case in all_cases() if case.record is not None]
    for case, record in records:
        verdict = judged(case, record.x, record.y)
        right.append(not verdict.problems and abs(verdict.worth / record.worth - 1) <= 1e-9)
        if case.unit in UNITS:
            campaign = Campaign.load(f"case:{case.name}")
            farm = search.problem_of(campaign, campaign.cells()[0]).farm
            off.append(farm.turbine_aep(record.x, record.y).sum() * UNITS[case.unit] / verdict.worth - 1)
    judges = "judges of [open cases](records.md)"
    yield count(judges, "kept layouts that are feasible, and worth what is stated", sum(right), len(right))
    yield difference(judges, f"energy of the kept layouts of {len(off)} cases, relative", off, 1e-6)


def readers() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        tests = "tests/store/test_independent_readers.py"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            tests,
            f"--junitxml={report}",
            "-p",
            "no:cacheprovider",
        ]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        cases = list(ET.parse(report).iter("testcase"))
    for reader, word in READERS.items():
        own = [case for case in cases if word in case.attrib["name"]]
        row = count(
            f"HDF5 reader: {reader}",
            "tests that find every value",
            sum(not len(one) for one in own),
            len(own),
        )
        skipped = any(one.find("skipped") is not None for one in own)
        yield row._replace(figure="", within=True) if skipped else row


def main() -> int:
    warnings.simplefilter("ignore")
    text, began = PAGE.read_text(), time.monotonic()
    on_page = dict(re.findall(r"^\| ([^|]+ \| [^|]+) \| ([^|]+) \| [^|]+ \|$", text, flags=re.MULTILINE))
    table, changed, beyond = TITLES, 0, 0
    for part in (pywake, blockage, floris, topfarm, published, open_cases, readers):
        for row in part():
            was = on_page.get(f"{row.oracle} | {row.compared}", "not measured")
            if not row.figure:
                print(
                    f"{row.oracle}: is not installed, or its libraries are not; the figure of the page stays"
                )
                row = row._replace(figure=was)
            changed += was != row.figure
            beyond += not row.within
            same = "as on the page" if was == row.figure else f"on the page: {was}"
            limit = "" if row.within else f"; BEYOND ITS LIMIT, {row.limit}"
            print(f"{row.oracle}: {row.compared}: {row.figure} ({same}{limit})", flush=True)
            table += f"| {' | '.join(row[:4])} |\n"
    between = r"(?<=<!-- figures -->\n).*(?=<!-- end -->)"
    if not beyond:
        PAGE.write_text(re.sub(between, lambda _: f"\n{table}\n", text, flags=re.DOTALL))
    print(f"{changed} not as on the page, {beyond} beyond their limits, in {time.monotonic() - began:.0f} s")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
