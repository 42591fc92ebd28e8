"""The documentation site: it is built without a warning, and a reader finds the way through it in a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

import vindeby
from vindeby.campaign.json_schema import json_schema
from vindeby.cli import COMMANDS

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PARTS = ["Start", "Do", "Understand", "Look up"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``make docs`` builds it: a warning, such as a link that leads nowhere, is an error."""
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    return built


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name that the library gives it
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    """A page of the width of a phone in dark mode, which may log nothing and load nothing from elsewhere."""
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        opened = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark").new_page()
        opened.on(
            "console", lambda line: problems.append(line.text) if line.type in {"error", "warning"} else None
        )
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.on(
            "request",
            lambda one: None if one.url.startswith((address, "data:")) else problems.append(one.url),
        )
        yield opened
        browser.close()
    assert problems == []


def fits_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_a_reader_finds_the_way_on_a_phone(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".sidebar-tree .caption-text")).to_have_text(PARTS)
    expect(page.get_by_alt_text("A layout of 66 turbines with its wakes")).to_be_visible()
    expect(page.locator("article pre").first).to_contain_text("make run")
    for name, heading in (
        ("layout-search.html", "How a layout is found"),
        ("running.html", "Running a campaign"),
        ("api.html", "Classes and functions"),
        ("tutorial-pywake.html", "From PyWake to a campaign"),
    ):
        page.goto(address + name)
        expect(page.locator("h1")).to_contain_text(heading)
        assert fits_the_screen(page), name
    page.goto(address + "api.html#vindeby.WindFarm.aep")
    expect(page.locator("[id='vindeby.WindFarm.aep']")).to_be_in_viewport()


def test_search_finds_a_word(page: Page, address: str) -> None:
    page.goto(address + "search.html?q=quarantine")
    found = page.locator("ul.search li a").first
    expect(found).to_be_visible(timeout=60_000)
    found.click()
    expect(page.locator("article")).to_contain_text("quarantine")


def test_the_reference_is_generated_from_the_source(site: Path) -> None:
    names = (site / "api.html").read_text()
    missing = [name for name in vindeby.__all__ if f'id="vindeby.{name}"' not in names]
    assert missing == [
        "VindebyError",
        "__version__",
        "errors",
        "plots",
    ]  # what modules hold is under their names
    for name in ("errors.VindebyError", "errors.InputError", "plots.layout"):
        assert f'id="vindeby.{name}"' in names
    commands = (site / "commands.html").read_text()
    assert [name for name in COMMANDS if f'id="vindeby-{name}"' not in commands] == []
    fields = (site / "campaign-fields.html").read_text()
    schema = json_schema()
    keys = {key for part in [schema, *schema["$defs"].values()] for key in _keys(part)}
    assert len(keys) > 150
    assert [key for key in sorted(keys) if f">{key}</span>" not in fields] == []
    assert json.loads((site / "schema" / "campaign.json").read_text()) == schema


def _keys(part: dict[str, Any]) -> set[str]:
    return {key for form in [part, *part.get("anyOf", [])] for key in form.get("properties", {})}
