"""Records of the open cases: search for better layouts, keep them, and write ``docs/records.md`` from what is kept.

    python scripts/records.py                                  write the page and its pictures
    python scripts/records.py iea37-cs3 --seconds 600 --seeds 0-3  search with auto, 600 CPU seconds per seed
    python scripts/records.py iea37-cs3 --seeds 1              search with the method of the case's campaign file
    python scripts/records.py iea37-cs3 --set n_turbines=25 ...    with fields overridden, as in vindeby run

The search is ``vindeby run case:NAME``. Each result is judged by the judge of the case. The best feasible one is kept
as ``src/vindeby/campaign/presets/cases/NAME.csv`` where it is better than the one kept there.
"""

from __future__ import annotations

import argparse
import io
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import vindeby
from vindeby.cases import Case, PublishedLayout, all_cases, case_named, judged
from vindeby.cases.catalogue import FloatArray

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "src/vindeby/campaign/presets/cases"
PAGE = ROOT / "docs/records.md"
PICTURES = ROOT / "docs/pictures/records"

INTRODUCTION = """# Open cases and records

Public cases of wind-farm layout optimisation, each with its data, a judge, the best published layout and the best
layout that vindeby has found. `vindeby cases` lists them, `vindeby run case:NAME` searches one, and `vindeby check
case:NAME` and `vindeby init case:NAME` show its campaign file.

Each case has a judge that shares no code with the engine that searches (`src/vindeby/cases`): formulas of the case,
written again in NumPy; PyWake for the reference plants; a port of the competition's evaluator for the GECCO cases.
`vindeby cases --check` judges every layout that is kept here. A layout is feasible if every turbine is inside the area
and every pair keeps its distance, to 1e-6 m (the GECCO cases: exactly).

To submit a layout, write a table with the columns x and y in metres and score it. The exit status is 0 for a feasible
layout, 1 for one that is not, and 2 for a file that cannot be read:

```
vindeby cases --score iea37-cs3 layout.csv
```

Energies are per year, and kW are mean powers; for a cost, lower is better and a gain is a lower cost. Seconds are CPU
seconds per seed, of the whole command (iea37-cs1: of the search), on two cores shared with other heavy jobs. The
command of a record gives its layout with the code of the commit beside it: searches change, and with them what a seed
leads to. Where the method is `auto` with a budget in seconds, what is found also depends on the machine.

This page and its pictures are written by `python scripts/records.py` from the
layouts that are kept; `python scripts/records.py CASE --seconds S --seeds 0-3` searches for better ones.

"""
STANDING = """
## Where this stands

Our layout is at or above the best published one in {ahead} of the {known} cases whose published figure could be read,
and below it in {behind}. Two of these comparisons are weaker than the others: Mosetti's published layouts stand on a
grid and ours anywhere, and for Horns Rev 1 the published layout is the farm itself, since the figures of Feng and
Shen's layouts could not be read. For the ten cases of the GECCO competitions the figures of the competitors could not
be read, and nobody else has tried the open cases of our own: what we have there is a first layout of each, and not
known to be good.

In the GECCO cases the number of turbines is one that was judged on regular lattices; numbers around it were not
searched.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="search these; without any, write the page")
    parser.add_argument(
        "--seconds", type=float, help="CPU seconds of auto per seed; default: the case's own method"
    )
    parser.add_argument("--seeds", default="0", help="a seed, or a range such as 0-3")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-page", action="store_true", help="keep what is found, and leave the page")
    chosen = parser.parse_args()
    for name in chosen.cases:
        search(case_named(name), chosen)
    if not chosen.no_page:
        PAGE.write_text(page(all_cases()))
        PICTURES.mkdir(parents=True, exist_ok=True)
        for case in all_cases():
            if not chosen.cases or case.name in chosen.cases:
                draw(case)


def search(case: Case, chosen: argparse.Namespace) -> None:
    """Run the case, and keep the best feasible layout where it is better than the one kept."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    before = used.ru_utime + used.ru_stime
    first, _, last = chosen.seeds.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    options = list(chosen.overrides)
    if chosen.seconds:
        options.append(f"method=[{{auto: {{seconds: {chosen.seconds:g}}}}}]")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "found.h5"
        words = ["run", f"case:{case.name}", "-o", str(output), "--workers", str(chosen.workers), "--quiet"]
        for option in [*options, f"seeds={seeds}"]:
            words += ["--set", option]
        subprocess.run([str(Path(sys.executable).with_name("vindeby")), *words], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = (used.ru_utime + used.ru_stime - before) / len(seeds)
        commit = subprocess.check_output(
            ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, text=True
        ).strip()
        database = vindeby.open(output)
        for key in database:
            result = database[key]
            seed = int(result.attributes["ss_seed"])
            sets = "".join(f" --set {shlex.quote(option)}" for option in [*options, f"seeds=[{seed}]"])
            command = f"vindeby run case:{case.name}{sets}"
            x, y = result.layout
            verdict = judged(case, x, y)
            print(
                f"{case.name}, seed {seed}: {case.shown(verdict.worth)} {' '.join(verdict.problems)}",
                flush=True,
            )
            keep(case, PublishedLayout(verdict.worth, seed, seconds, commit, command, x, y), verdict.problems)


def keep(case: Case, found: PublishedLayout, problems: tuple[str, ...]) -> None:
    """Write a record that is feasible and better than the one on the disk."""
    path = KEPT / f"{case.name}.csv"
    before = case_named(case.name).record
    if problems or (
        before and (found.worth >= before.worth if case.lower_is_better else found.worth <= before.worth)
    ):
        return
    path.write_text(record_text(case, found))
    print(f"{path}: {case.shown(found.worth)} {case.unit}")


def record_text(case: Case, record: PublishedLayout) -> str:
    """The table of a record, as ``Case.record`` reads it."""
    head = {
        "case": case.name,
        "worth": repr(record.worth),
        "seed": record.seed,
        "seconds": f"{record.seconds:.0f}",
    }
    lines = [
        f"# {key}: {value}"
        for key, value in (head | {"commit": record.commit, "command": record.command}).items()
    ]
    pairs = zip(record.x.tolist(), record.y.tolist(), strict=True)
    return "\n".join([*lines, "x [m],y [m]", *(f"{x!r},{y!r}" for x, y in pairs)]) + "\n"


def page(cases: list[Case]) -> str:
    """The page, from the index and the records."""
    rows = [
        "| case | turbines | unit | best published | ours | gain | seconds | seed |",
        "| --- |" + " ---: |" * 7,
    ]
    for case in cases:
        record = case.record
        cells = [
            f"[{case.name}](#{case.name})",
            str(case.turbines or (len(record.x) if record else "free")),
            case.unit,
        ]
        cells += [case.shown(case.published) or "unknown", *_ours(case, record)]
        rows.append("| " + " | ".join(cells) + " |")
    gains = {case.name: case.gain(case.record.worth) for case in cases if case.record and case.published}
    behind = [f"[{name}](#{name})" for name, gain in gains.items() if gain is not None and gain < 0.0]
    standing = STANDING.format(
        known=len(gains), ahead=len(gains) - len(behind), behind=" and ".join(behind) or "none"
    )
    return INTRODUCTION + "\n".join(rows) + "\n" + standing + "".join(map(section, cases))


def _ours(case: Case, record: PublishedLayout | None) -> list[str]:
    if record is None:
        return ["none yet", "", "", ""]
    return [case.shown(record.worth), case.gain_text(record.worth), f"{record.seconds:.0f}", str(record.seed)]


def section(case: Case) -> str:
    """What a case is, its record, and the picture of it."""
    best = (
        f"{case.shown(case.published)} {case.unit}: {case.published_by}"
        if case.published
        else case.published_by
    )
    count = "a free number of turbines" if case.turbines is None else f"{case.turbines} turbines"
    text = f"\n## {case.name}\n\n{case.title}: {count} in {case.area_km2:g} km2; wakes: {case.wakes}; "
    text += f"judge: `{case.judge}`.\n"
    text += f"Source: {case.source}. Best published: {best}. {case.note}".rstrip() + "\n"
    if case.record is None:
        return text
    return text + (
        f"\nFound with commit {case.record.commit}:\n\n```\n{case.record.command}\n```\n\n"
        f"![The layout of {case.name}](pictures/records/{case.name}.png)\n"
    )


def draw(case: Case) -> None:
    """The area and the turbines of a record."""
    if case.record is None:
        return
    farm = case.document["farms"][0]
    figure, axes = plt.subplots(figsize=(4.5, 4.5), dpi=80, layout="constrained")
    for zone in farm.get("zones", [farm]):
        for ring, excluded in rings(zone["boundary"]):
            axes.fill(
                *ring.T, facecolor="#dddddd" if excluded else "none", edgecolor="#555555", linewidth=0.8
            )
    axes.plot(
        case.record.x, case.record.y, "o", color="#1f5fa8", markersize=3 if len(case.record.x) < 150 else 1.6
    )
    axes.set(aspect="equal", title=f"{case.name}: {case.shown(case.record.worth)} {case.unit}")
    axes.tick_params(labelsize=7)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    with Image.open(buffer) as image:
        image.convert("RGB").quantize(32, dither=Image.Dither.NONE).save(
            PICTURES / f"{case.name}.png", optimize=True
        )


def rings(boundary: object, excluded: bool = False) -> list[tuple[FloatArray, bool]]:
    """The outlines of an area of a campaign file, and whether each is left out of it."""
    if not isinstance(boundary, dict):
        return [(np.array(boundary, float), excluded)]
    if "circle" in boundary:
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        circle = boundary["circle"]["radius_m"] * np.c_[np.cos(turn), np.sin(turn)]
        return [(circle + np.array(boundary["circle"]["center"]), excluded)]
    inner = boundary["polygons"] if "polygons" in boundary else [boundary["polygon"]]
    found = [ring for one in inner for ring in rings(one, excluded)]
    return found + [ring for one in boundary.get("exclusions", []) for ring in rings(one, True)]


if __name__ == "__main__":
    main()
