"""What the board shows first, and whether it can be read in light and dark. Skipped where there is no Chromium."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.board.serving import board, wait_until
from tests.board.test_browser import CHROMIUM, FLAGS, SLOW
from tests.campaign.examples import small
from tests.plots.contrast import contrast
from tests.results.examples import campaign, events, publish, set_aside
from vindeby.campaign import Campaign

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)"),
]

COLOURS = """(name) => {
  const cell = document.querySelector("#matrix td"), before = cell.className;
  cell.className = name;
  const { color, backgroundColor } = getComputedStyle(cell);
  cell.className = before;
  return [color, backgroundColor, getComputedStyle(document.body).backgroundColor];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("board") / "o.h5"
    run = publish(path, campaign(seeds=8), lambda task: task.seed < 6)
    events(run, [set_aside("farm0_t0_s7", "ValueError: <b>no</b>")])
    with board(path, "--port", "0") as found:
        yield found


def rgb(css: str) -> tuple[float, ...]:
    return tuple(int(part) / 255 for part in css.removeprefix("rgb(").removesuffix(")").split(","))


def test_failures_are_near_the_top_and_in_the_progress_bar(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(address)
    expect(page.locator("#bar .failed")).to_have_text("1 failed", timeout=SLOW)
    expect(page.locator("#bar .done")).to_have_text("24 done")
    expect(page.locator("#bar .open")).to_have_text("7 open")
    assert page.locator("#bar").get_attribute("aria-valuetext") == "24 done, 1 failed, 7 open"
    done, failed = (
        page.evaluate(f"getComputedStyle(document.querySelector('#bar .{name}')).backgroundColor")
        for name in ("done", "failed")
    )
    assert done != failed
    expect(page.locator("#failures-title")).to_have_text("Failures (1)")
    failures, matrix = (page.locator(f"#{name}").bounding_box() for name in ("failures", "matrix"))
    assert failures is not None
    assert matrix is not None
    assert failures["y"] < min(matrix["y"], 400)
    page.close()


def test_the_energy_plot_uses_the_width_and_follows_it(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(address)
    plot = page.locator("#energy svg")
    expect(plot.locator("circle").first).to_be_attached(timeout=SLOW)
    assert int(plot.get_attribute("width") or 0) == page.evaluate(
        "document.getElementById('energy').clientWidth"
    )
    last = page.evaluate(
        "Math.max(...[...document.querySelectorAll('#energy circle')].map((c) => +c.getAttribute('cx')))"
    )
    assert last > 850
    page.set_viewport_size({"width": 700, "height": 900})
    wait_until(
        lambda: (
            int(plot.get_attribute("width") or 0)
            == page.evaluate("document.getElementById('energy').clientWidth")
        ),
        "the plot has the new width",
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_the_ticks_of_the_energy_plot_are_even_and_round(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(address)
    ticks = page.locator("#energy svg text.tick[text-anchor=end]")
    expect(ticks.first).to_be_attached(timeout=SLOW)
    values = [float(text.replace(",", "")) for text in ticks.all_text_contents()]
    steps = {round(later - earlier, 6) for earlier, later in itertools.pairwise(values)}
    assert len(values) >= 2
    assert len(steps) == 1
    assert f"{steps.pop():e}"[0] in "125", "one, two or five times a power of ten"
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_matrix_can_be_read_in_light_and_dark(scheme: str, address: str, browser: Browser) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#matrix td").first).to_be_attached(timeout=SLOW)
    for step in range(5):
        text, cell, paper = (rgb(colour) for colour in page.evaluate(COLOURS, f"c{step}"))
        assert contrast(text, cell) >= 4.5, step
        if step == 4:
            assert contrast(cell, paper) >= 3.0
    assert "t0 five, t1 tabulated" in (page.locator("#types").text_content() or "")
    context.close()


def test_farms_of_the_same_capacity_are_compared_by_energy(address: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(address)
    expect(page.locator("#energy circle").first).to_be_attached(timeout=SLOW)
    expect(page.locator("#quantity")).to_have_text("AEP, GWh")  # 6 x 5 MW and 15 x 2 MW
    page.close()


def test_farms_of_different_capacity_are_compared_by_capacity_factor(
    tmp_path: Path, browser: Browser
) -> None:
    data = small()
    data["capacity_mw"], data["seeds"] = 32.0, 2
    data["method"] = {"call": {"function": "tests.results.scatter:scatter", "energy": "own"}}
    publish(tmp_path / "o.h5", Campaign.from_data(data))  # 6 x 5 MW and 16 x 2 MW
    with board(tmp_path / "o.h5", "--port", "0") as found:
        page = browser.new_page()
        page.goto(found)
        expect(page.locator("#energy circle").first).to_be_attached(timeout=SLOW)
        expect(page.locator("#quantity")).to_have_text("capacity factor, %")
        ticks = [float(text) for text in page.locator("#energy .tick").all_text_contents()[:3]]
        assert all(40 <= tick <= 45 for tick in ticks)  # as scatter makes them
        page.close()
