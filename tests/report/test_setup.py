"""What a report shows before its tables, how its keys lead to layouts, and how it fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.board.test_browser import CHROMIUM, FLAGS
from tests.results.examples import EVIL, campaign, events, publish, set_aside
from vindeby.campaign import Campaign
from vindeby.report import build_report
from vindeby.report.page import ResultLink, campaign_facts, table
from vindeby.results.result_set import ResultSet

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "o.h5"
    run = publish(path, campaign(seeds=30, farm=EVIL))
    events(run, [set_aside("farm1_t0_s99", "ValueError: " + "x" * 300)])
    path.with_suffix(".html").write_text(build_report(ResultSet(path)))
    return path.with_suffix(".html")


def test_best_layout_wind_wake_model_and_method_come_before_the_long_table(made: Path) -> None:
    text = made.read_text()
    result_set = ResultSet(made.with_suffix(".h5"))
    key = result_set.key_of(next(iter(result_set.best_of_farm().values())))
    order = [
        text.index(words)
        for words in (
            f"{key}: the layout that loses least to wakes",
            "<dt>how</dt><dd>wake nygaard-2022; search call",
            "The best of each farm and type",
        )
    ]
    assert order == sorted(order)


def test_the_facts_name_every_type_and_step() -> None:
    facts = dict(campaign_facts(campaign(seeds=4)))
    assert facts["turbine types"] == "t0 five, t1 tabulated"
    assert facts["wind"] == campaign().site.about
    assert facts["tasks"] == "16 tasks = 2 farms x 2 types x 4 seeds"


def test_a_key_is_text_and_an_encoded_address_in_a_link() -> None:
    text = table(("key",), [[ResultLink('"><script> %')]])
    assert '<a href="#layout-%22%3E%3Cscript%3E%20%25" class="key">&quot;&gt;&lt;script&gt; %</a>' in text


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.mark.browser
def test_every_column_of_the_results_is_seen_at_1280_pixels(tmp_path: Path, browser: Browser) -> None:
    data = campaign(seeds=3, farm="a-tender-area-far-from-shore").to_data()
    data["turbines"][0]["name"] = "generic-15mw-with-a-long-name"
    publish(tmp_path / "o.h5", Campaign.from_data(data))
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    html = tmp_path / "o.html"
    html.write_text(build_report(ResultSet(tmp_path / "o.h5")))
    page.goto(html.as_uri())
    inside, shown = page.evaluate(
        "(box => [box.scrollWidth, box.clientWidth])(document.querySelector('.both > .scroll'))"
    )
    assert inside <= shown
    page.close()


@pytest.mark.browser
def test_a_report_fits_a_phone_and_its_keys_lead_to_their_layout(made: Path, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", offline=True)
    page = context.new_page()
    page.goto(made.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    link = page.locator("a.key").nth(2)
    key = link.text_content() or ""
    assert link.bounding_box() is not None
    link.click()
    expect(page.locator("#drawing h3")).to_have_text(key)
    expect(page.locator("#drawing svg")).to_be_in_viewport()
    assert page.url.endswith(f"#layout-{key}")
    page.evaluate("scrollTo(0, 0)")
    link.click()  # the address stays the same, and yet the drawing is shown again
    expect(page.locator("#drawing svg")).to_be_in_viewport()
    page.goto(f"{made.as_uri()}#layout-farm1_t1_s7")
    expect(page.locator("#drawing h3")).to_have_text("farm1_t1_s7")
    page.goto(f"{made.as_uri()}#layout-%")  # not an address that can be decoded
    expect(page.locator("#place")).to_contain_text("1 to 50")
    context.close()
