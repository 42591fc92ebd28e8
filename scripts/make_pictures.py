"""Make the pictures of README and docs from a real campaign: ``python scripts/make_pictures.py``.

It runs ``vindeby run energy-island`` (or goes on with what is there), so nothing that the pages show is invented. With
Chromium installed, report and board are photographed too. Every picture is reduced to 256 colours to stay small.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from vindeby import plots
from vindeby.errors import DataError
from vindeby.plots.style import as_bytes
from vindeby.results.result_set import ResultSet

ROOT = Path(__file__).parent.parent
COMMAND = str(Path(sys.executable).with_name("vindeby"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
MOST_BYTES = 300_000


def store(data: bytes, path: Path) -> None:
    """Write a PNG with few colours: as few, and then as few points, as it takes to stay small."""
    with Image.open(io.BytesIO(data)) as image:
        opaque = image.convert("RGB")
    for scale, colours in ((1.0, 256), (0.9, 200), (0.8, 200), (0.7, 160), (0.6, 160), (0.5, 160)):
        size = (round(opaque.width * scale), round(opaque.height * scale))
        small = opaque.resize(size, Image.Resampling.LANCZOS) if scale < 1 else opaque
        buffer = io.BytesIO()
        small.quantize(colours, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        if buffer.tell() < MOST_BYTES:
            break
    path.write_bytes(buffer.getvalue())
    print(f"{path}: {size[0]} x {size[1]}, {buffer.tell() / 1000:.0f} kB")


def draw_all(output: Path, folder: Path) -> None:
    result_set = ResultSet(output)
    losses = np.where(np.isnan(result_set.wake_losses()), np.inf, result_set.wake_losses())
    best = result_set.rows[int(np.argmin(losses))]
    key = best["key"].decode()
    store(as_bytes(plots.layout(result_set, key).figure), folder / "layout.png")
    for name, (picture, _) in plots.PICTURES.items():
        with contextlib.suppress(DataError):  # of a study, or of other searches
            store(as_bytes(picture(result_set).figure), folder / f"{name}.png")


@contextlib.contextmanager
def board(output: Path) -> Iterator[str]:
    command = [
        COMMAND,
        "board",
        output.name,
        "--port",
        "0",
    ]  # by its name: the page shows the path it was given
    process = subprocess.Popen(command, cwd=output.parent, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def photograph(output: Path, work: Path, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    report = work / "report.html"
    subprocess.run([COMMAND, "report", str(output), "-o", str(report), "--quiet"], check=True)
    with sync_playwright() as playwright, board(output) as address:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 760})
        page.goto(report.as_uri())
        page.locator("#drawing svg").scroll_into_view_if_needed()
        page.evaluate("document.getElementById('filter').closest('section').scrollIntoView()")
        store(page.screenshot(), folder / "report.png")
        page = browser.new_page(viewport={"width": 1100, "height": 1500}, color_scheme="dark")
        page.goto(address)
        page.wait_for_selector("#best figure", timeout=60_000)
        page.wait_for_timeout(500)
        store(page.screenshot(), folder / "board.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", default="energy-island", help="a campaign file or a preset's name")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "pictures", help="where the campaign runs"
    )
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures", help="where the pictures go")
    options = parser.parse_args()
    for folder in (options.work, options.to):
        folder.mkdir(parents=True, exist_ok=True)
    output = options.work / "layouts.h5"
    # What an earlier version of the campaign left there must not get into the pictures.
    subprocess.run([COMMAND, "run", options.campaign, "-o", str(output), "--replace-stale"], check=True)
    draw_all(output, options.to)
    if CHROMIUM is None:
        print("there is no Chromium here: report.png and board.png stay as they are")
    else:
        photograph(output, options.work, options.to)


if __name__ == "__main__":
    main()
