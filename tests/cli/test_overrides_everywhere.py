"""``--set`` and ``--seeds`` change the campaign wherever one is read, the one kept with results too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.results.examples import campaign, finished
from tests.store.examples import foreign_file
from vindeby.cli.app import build

pytestmark = pytest.mark.slow


def say(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), list(words))
    return done.exit_code, done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overrides")
    finished(folder / "o.h5", campaign(seeds=2))
    (folder / "c.yaml").write_text(campaign(seeds=2).dumps())
    return folder


@pytest.mark.parametrize("given", [(), ("--campaign", "c.yaml")], ids=["kept", "named"])
def test_results_are_read_by_the_changed_campaign(
    given: tuple[str, ...], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    more = (*given, "--seeds", "4")
    assert say("missing", "o.h5", *given) == (0, "")
    status, text = say("missing", "o.h5", *more)
    assert (status, text.count("\n")) == (1, 8)
    assert len(json.loads(say("validate", "o.h5", "--json", *more)[1])["missing"]) == 8
    assert json.loads(say("monitor", "o.h5", "--json", *more)[1])["expected"] == 16
    assert json.loads(say("monitor", "o.h5", "--json", *given, "--set", "name=other")[1])["name"] == "other"
    assert say("show", "o.h5", "--picture", "energy", "-o", "a.png", *more) == (0, "a.png\n")
    assert say("report", "o.h5", "-o", "a.html", "-q", *given, "--set", "name=renamed here")[0] == 0
    assert "renamed here" in (place / "a.html").read_text()


def test_merge_and_salvage_take_the_changed_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    finished(tmp_path / "o.h5", campaign(seeds=2))
    assert say("merge", "o.h5", "--seeds", "5")[0] == 0
    (tmp_path / "o.h5").rename(tmp_path / "moved.h5")  # only what the database itself holds goes with it
    assert json.loads(say("monitor", "moved.h5", "--json")[1])["expected"] == 20
    foreign_file(tmp_path / "worker.h5", range(3))
    (tmp_path / "c.yaml").write_text(campaign().dumps())
    status, text = say("salvage", "worker.h5", "-o", "s.h5", "--campaign", "c.yaml", "--seeds", "1", "--json")
    assert (status, len(json.loads(text)["missing"])) == (1, 4)


def test_overriding_without_a_campaign_is_refused(tmp_path: Path) -> None:
    foreign_file(tmp_path / "worker.h5", range(3))
    done = CliRunner().invoke(build(), ["validate", str(tmp_path / "worker.h5"), "--seeds", "2"])
    assert "--set and --seeds need a campaign" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["worker.h5"]
