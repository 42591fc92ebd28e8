from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import vindeby
from tests.evaluation import stored
from tests.monitor.test_monitor import old_file
from tests.results.examples import EVIL, campaign, events, publish, set_aside
from vindeby.cli.report import command
from vindeby.report import build_report
from vindeby.results.maps import frame_of, pack_layout
from vindeby.results.result_set import ResultSet
from vindeby.store.foreign.door import read_foreign
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read import reading
from vindeby.text import as_ranges

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The elements of a page, with their text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("report") / "o.h5"
    asked = campaign(farm=EVIL)
    run = publish(path, asked, lambda task: task.key != "farm1_t0_s1")
    merge(path, MergeOptions(root=asked.root_attributes()))
    events(run, [set_aside("farm1_t0_s1", f"ValueError: {EVIL}")])
    return path, build_report(ResultSet(path))


def data_of(text: str) -> dict[str, Any]:
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL)
    assert embedded
    data: dict[str, Any] = json.loads(embedded[1])
    return data


def test_the_page_says_everything(made: tuple[Path, str]) -> None:
    page = Page(made[1])
    assert page.texts["h1"] == ["small"]
    headings = page.texts["h2"]
    assert headings[:4] == [
        "The best layout, and how it was found",
        "The best of each farm and type",
        "Pictures",
        "All results",
    ]
    assert "Failures (1)" in headings
    assert "Missing (1)" in headings
    assert "Where this comes from" in headings
    assert "failed" in page.texts["td"]
    assert any("seeds: 3" in text for text in page.texts["pre"])  # the campaign
    assert any('"outcome": "done"' in text for text in page.texts["pre"])  # the audit record
    assert any(re.fullmatch(r"[0-9a-f]{64}", text) for text in page.texts["dd"])  # a digest


def test_every_layout_is_in_the_page_as_it_is_in_the_database(made: tuple[Path, str]) -> None:
    result_set, data = ResultSet(made[0]), data_of(made[1])
    assert len(data["results"]) == 11
    for result in data["results"]:
        farm = data["farms"][result["farm"]]
        numbers = np.frombuffer(base64.b64decode(result["layout"]), "<u2").reshape(-1, 2)
        left, bottom, width, height = farm["frame"]
        places = np.array([left, bottom]) + numbers / 65535 * [width, height]
        assert np.abs(places - result_set.layout(result["key"]).T).max() < 0.2
        assert result["aep"] == pytest.approx(float(result_set.record(result["key"]).aep), abs=1e-3)


def test_names_from_the_database_are_text_and_never_markup(made: tuple[Path, str]) -> None:
    page = Page(made[1])
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}, {}]
    assert EVIL not in made[1]
    assert data_of(made[1])["farms"][0]["name"] == EVIL
    assert EVIL in page.texts["td"]
    assert any(EVIL in text for text in page.texts["summary"])


def test_the_page_needs_nothing_from_elsewhere(made: tuple[Path, str]) -> None:
    page = Page(made[1])
    for tag, attributes in page.elements:
        for name in ("src", "href", "srcset"):
            assert (attributes.get(name) or "data:").startswith(("data:", "#layout-")), tag
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
    (policy,) = [
        attributes["content"]
        for _, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for script in re.findall(r"<script>(.*?)</script>", made[1], flags=re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_page_has_every_picture_that_has_something_to_show(made: tuple[Path, str]) -> None:
    tags = [tag for tag, _ in Page(made[1]).elements]
    assert tags.count("img") == 5  # the best layout, and energy, map, wind and wakes


def test_a_report_of_an_older_file_and_of_an_empty_run(tmp_path: Path) -> None:
    old_file(tmp_path / "old.h5", ["farm0_t0_s0", "alpha"])
    text = build_report(ResultSet(tmp_path / "old.h5"))
    assert {result["key"] for result in data_of(text)["results"]} == {"farm0_t0_s0", "alpha"}
    publish(tmp_path / "o.h5", campaign(), lambda _: False)
    text = build_report(ResultSet(tmp_path / "o.h5"))
    assert "There are none yet." in text
    assert "Missing (12)" in text


def test_three_thousand_results_stay_small() -> None:
    """What a result of 100 turbines takes in the page, times 3,000, is far below 15 MB."""
    layout = np.random.default_rng(0).uniform(0, 3e4, (2, 100))
    packed = pack_layout(layout, frame_of(None, 0, [layout]))
    assert 3000 * (len(packed) + 150) < 4e6


def test_the_command_reads_a_file_of_others_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old_file(tmp_path / "old.h5", ["farm0_t0_s0"])
    read: list[Path] = []

    def counted(path: Path, *arguments: Any, **named: Any) -> Any:
        read.append(path)
        return read_foreign(path, *arguments, **named)

    monkeypatch.setattr(reading, "read_foreign", counted)
    command(output=tmp_path / "old.h5", to=None, where=None, quiet=True)
    assert (tmp_path / "old.html").exists()
    assert read == [tmp_path / "old.h5"]


def test_a_report_of_evaluations_shows_combinations_losses_and_the_series(tmp_path: Path) -> None:
    source = stored.compute(stored.campaign(2, seeds=1), tmp_path / "layouts.h5")
    records = stored.evaluated(
        source,
        tmp_path / "s.h5",
        farms="farm a",
        types="small",
        site=stored.series(600),
        neighbours={"one_by_one": [{"farm": "farm b", "type": "small"}]},
        output="power",
    )
    text = build_report(ResultSet(tmp_path / "s.h5"))
    page = Page(text)
    cells = page.texts["td"]
    for record in records:
        row = cells[cells.index(f"{float(record.aep):,.3f}") - 1 :]
        own, beside = (100 * float(record.arrays[f"loss_{name}"]) for name in ("internal", "external"))
        assert row[1:4] == [f"{float(record.aep):,.3f}", f"{own:.2f}", f"{beside:.2f}"]
        assert row[0] == record.attributes["neighbours"]
        assert row[5] == record.attributes["neighbour_layouts"]
    captions = " ".join(page.texts["figcaption"])
    assert "own and neighbours' wakes" in captions
    assert "power over time" in captions
    seen = re.sub(r"<(script|style|picture)\b.*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
    assert not re.search(r"[A-Za-z0-9+/]{200}", seen), "no base64 of the series"
    assert max(map(len, page.texts["dd"])) < 500


def test_seeds_are_put_in_few_words() -> None:
    assert as_ranges([5, 0, 1, 2, 9, 7, 8]) == "0-2,5,7-9"
    assert as_ranges([3]) == "3"


def test_the_command_writes_a_page_and_says_where(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign())
    done = vindeby(tmp_path, "report", "o.h5", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "o.html\n", "")
    assert (tmp_path / "o.html").read_text().startswith("<!doctype html>")
    done = vindeby(tmp_path, "report", "none.h5")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
