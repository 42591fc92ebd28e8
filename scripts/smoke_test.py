"""Use an installed vindeby as a new user would: check, run, validate, look, export; a minute, most of it compiling.

    python scripts/smoke_test.py

It runs in a temporary folder with a cache of its own, with the command beside the Python that runs it, and exits with 1
at the first command that fails. `make test-oldest` and `make release-check` use it in environments of their own.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

CAMPAIGN = """
name: smoke
farms: [{name: north, boundary: [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]}]
turbines: [{name: five, generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}}]
n_turbines: 12
min_spacing: 4 D
site: {weibull: {turbulence_intensity: 0.1, sectors: [{direction: 0, a: 9, k: 2, frequency: 1}]}}
wake: jensen
method: [{smart-start: {grid_size: 12}}, {gradient: {max_iterations: 20}}]
seeds: 2
"""
COMMANDS = (
    "check campaign.yaml",
    "run campaign.yaml --workers 1 --quiet",
    "missing layouts.h5",
    "validate layouts.h5 --deep",
    "show layouts.h5 farm0_t0_s0 -o layout.png",
    "export layouts.h5 --to csv",
    "report layouts.h5 -o report.html",
)
WRITTEN = ("layouts.h5", "layout.png", "layouts.csv", "report.html")
PACKAGES = (
    "contourpy",
    "h5py",
    "matplotlib",
    "numba",
    "numpy",
    "pydantic",
    "pyyaml",
    "rich",
    "shapely",
    "typer",
)


def main() -> int:
    """The exit status."""
    command = Path(sys.executable).with_name("vindeby")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("vindeby", *PACKAGES))
    print(f"Python {platform.python_version()}, {versions}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "campaign.yaml").write_text(CAMPAIGN)
        environment = os.environ | {"XDG_CACHE_HOME": str(Path(folder) / "cache")}
        for words in COMMANDS:
            done = subprocess.run(
                [command, *words.split()],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            failed = done.returncode != 0 or (
                words.startswith("check") and "smoke: 2 tasks" not in done.stdout
            )
            print(f"vindeby {words}: {'failed' if failed else 'passed'}", flush=True)
            if failed:
                print(done.stdout + done.stderr)
                return 1
        absent = [name for name in WRITTEN if not (Path(folder) / name).is_file()]
        if absent:
            print(f"not written: {', '.join(absent)}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
