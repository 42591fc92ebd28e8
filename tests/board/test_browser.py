"""The board and the report in a real browser. Skipped where there is no Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.board.serving import board, running, wait_until
from tests.results.examples import EVIL, campaign, events, finished, set_aside
from vindeby.report import build_report
from vindeby.results.result_set import ResultSet

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SLOW = 60_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


class Watched:
    """A page with everything that it complains about and asks for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on(
            "console",
            lambda line: self.errors.append(line.text) if line.type in {"error", "warning"} else None,
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    yield Watched(context.new_page())
    context.close()


def figure(page: Page, name: str) -> int:
    found = page.locator(f'#figures li[data-name="{name}"] b')
    return int((found.text_content() or "0").replace(",", "")) if found.count() else 0


def test_the_board_follows_a_real_campaign(tmp_path: Path, watched: Watched) -> None:
    file, output, page = tmp_path / "c.yaml", tmp_path / "o.h5", watched.page
    file.write_text(campaign(seeds=80, seconds=0.25, fails_at=5, farm=EVIL).dumps())
    with running(file, output):
        wait_until(
            lambda: any(output.with_name("o.h5.run").glob("shards/*/*.shard")), "a shard was published"
        )
        with board(output, "--port", "0") as address:
            page.goto(address)
            expect(page.locator("#connection")).to_have_text("live", timeout=SLOW)
            wait_until(lambda: figure(page, "done") > 0, "results are counted")
            before = figure(page, "done")
            wait_until(lambda: figure(page, "done") > before, "the count rises without a reload")
            expect(page.locator("#newest figure svg circle.turbine").first).to_be_attached(timeout=SLOW)
            expect(page.locator("#energy circle.point").first).to_be_attached(timeout=SLOW)
            expect(page.locator("#workers tr")).to_have_count(3, timeout=SLOW)
            assert "undefined" not in (page.locator("#workers").text_content() or "")
            newest = page.locator("#newest figure").first.get_attribute("data-key") or ""
            page.fill("#wanted", newest)
            page.keyboard.press("Enter")
            expect(page.locator("#found figure svg .turbine").first).to_be_attached(timeout=SLOW)
            assert page.locator("#name").text_content() == "small"
            assert EVIL in (page.locator("#matrix").text_content() or "")
            assert page.title() != "owned"
        port = str(urlsplit(address).port)
        expect(page.locator("#connection")).to_contain_text("connection lost", timeout=SLOW)
        done = figure(page, "done")
        with board(output, "--port", port):
            expect(page.locator("#connection")).to_have_text("live", timeout=SLOW)
            wait_until(
                lambda: figure(page, "done") > done, "the count rises again after the server came back"
            )
            failure = page.locator("#failures details").first  # tried again first, after everything else
            expect(failure).to_be_attached(timeout=2 * SLOW)
            assert "<script>alert(1)</script> cannot be placed" in (
                failure.locator("summary").text_content() or ""
            )
            failure.locator("summary").click()
            failure.get_by_role("button", name="open the log").click()
            expect(page.locator("#log-text")).to_contain_text("the wind <b>turned</b>", timeout=SLOW)
            page.keyboard.press("Escape")
            expect(page.locator("#log")).not_to_be_visible()
            assert page.title() != "owned"
        refused = [text for text in watched.errors if "Failed to load resource" in text or "net::" in text]
        assert watched.errors == refused, "only requests while there was no server fail"
    assert {urlsplit(url).hostname for url in watched.requests if not url.startswith("data:")} == {
        "127.0.0.1"
    }


@pytest.mark.core
def test_the_board_works_on_a_phone_in_the_dark_and_by_keyboard(tmp_path: Path, browser: Browser) -> None:
    run = finished(tmp_path / "o.h5", campaign())
    events(run, [set_aside("farm0_t0_s0")])
    with board(tmp_path / "o.h5", "--port", "0") as address:
        context = browser.new_context(
            viewport={"width": 360, "height": 740}, color_scheme="dark", has_touch=True
        )
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#newest figure")).to_have_count(6, timeout=SLOW)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 29)"
        reached = set()
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert {"energy", "wanted", "BUTTON"} <= reached
        context.close()


def test_the_report_works_from_disk_with_no_network(tmp_path: Path, browser: Browser) -> None:
    path = tmp_path / "o.h5"
    run = finished(path, campaign(seeds=40, farm=EVIL))
    events(run, [set_aside("farm0_t0_s99")])
    (tmp_path / "r.html").write_text(build_report(ResultSet(path)))
    context = browser.new_context(offline=True, viewport={"width": 1100, "height": 900})
    watched = Watched(context.new_page())
    page = watched.page
    page.goto((tmp_path / "r.html").as_uri())
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(50)
    expect(page.locator("#place")).to_have_text("1 to 50 of 160")
    energies = [
        float(text.replace(",", "")) for text in page.locator("#rows tr td:nth-child(2)").all_text_contents()
    ]
    assert energies == sorted(energies, reverse=True)
    page.get_by_role("button", name="AEP, GWh").click()
    assert page.locator('th[data-name="aep"]').get_attribute("aria-sort") == "ascending"
    later = [
        float(text.replace(",", "")) for text in page.locator("#rows tr td:nth-child(2)").all_text_contents()
    ]
    assert later == sorted(later)
    assert later[0] <= energies[-1]
    page.fill("#filter", "farm1_t1_s7")
    expect(rows).to_have_count(1)
    page.locator("#rows").get_by_role("link", name="farm1_t1_s7").press("Enter")
    expect(page.locator("#drawing h3")).to_have_text("farm1_t1_s7")
    assert page.locator("#drawing svg circle.turbine").count() == 15
    assert page.locator("#drawing svg path.area").count() == 3
    page.fill("#filter", EVIL)
    expect(page.locator("#place")).to_have_text("1 to 50 of 80")
    page.get_by_role("button", name="next").click()
    expect(page.locator("#place")).to_have_text("51 to 80 of 80")
    assert EVIL in (page.locator("#rows").text_content() or "")
    assert page.title() == "small: report"
    loaded = page.evaluate(
        "[...document.images].every((image) => image.complete && image.naturalWidth > 300)"
    )
    assert loaded
    assert watched.errors == []
    assert [url for url in watched.requests if not url.startswith(("file:", "data:"))] == []
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    context.close()
