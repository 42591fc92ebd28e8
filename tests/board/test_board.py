from __future__ import annotations

import http.client
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.board.serving import board
from tests.command import vindeby
from tests.results.examples import EVIL, campaign, events, finished, publish, record, set_aside
from vindeby.board.access import is_loopback
from vindeby.board.app import read_log
from vindeby.board.feed import Feed
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter
from vindeby.store.read.database import open_database


def ask(address: str, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    """One request, exactly as it is written here."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def news(address: str, generation: str = "", count: int = 0) -> dict[str, Any]:
    """Return what a viewer with so many rows of a generation gets."""
    status, headers, text = ask(address, f"/news?generation={generation}&count={count}")
    assert (status, headers["content-type"]) == (200, "application/json")
    data: dict[str, Any] = json.loads(text)
    return data


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, RunDirectory]]:
    output = tmp_path_factory.mktemp("board") / "o.h5"
    run = publish(output, campaign(farm=EVIL), lambda task: task.key != "farm1_t0_s1")
    events(run, [set_aside("farm1_t0_s1")])
    (run.logs / "node-1-aaaa-worker0.log").write_text("what happened\n")
    (run.logs / "passwords.txt").write_text("secret")
    (run.logs / "link.log").symlink_to(run.campaign_file)
    with board(output, "--port", "0") as address:
        yield address, run


def test_a_viewer_is_told_everything(served: tuple[str, RunDirectory]) -> None:
    told = news(served[0])
    assert [farm["name"] for farm in told["areas"]["farms"]] == [EVIL, "south"]
    assert len(told["areas"]["farms"][1]["rings"]) == 3
    assert (len(told["rows"]), told["left"], told["problem"]) == (11, 0, "")
    state = told["state"]
    assert (state["done"], state["expected"], state["failed"]) == (11, 12, 1)
    assert state["failures"][0]["key"] == "farm1_t0_s1"
    best = max(told["rows"], key=lambda row: row[4])
    assert told["shown"]["best"][0]["key"] == best[0]
    assert [entry["farm"] for entry in told["shown"]["best"]] in ([0, 1], [1, 0])
    with open_database(served[1].output) as database:
        energies = {key: float(record.arrays["aep"]) for key, record in database.items()}
    assert all(abs(row[4] - energies[row[0]]) <= 5e-7 for row in told["rows"])
    assert len(told["shown"]["newest"]) == 6
    later = news(served[0], told["generation"], 9)
    assert (later["areas"], later["rows"]) == (None, told["rows"][9:])
    again = news(served[0], "another", 9)
    assert (again["areas"], again["rows"]) == (told["areas"], told["rows"])
    for count in ("x", "-1", "9" * 5000):
        assert ask(served[0], f"/news?count={count}")[0] == 200


def test_the_policy_is_strict_and_on_every_answer(served: tuple[str, RunDirectory]) -> None:
    for path in ("/", "/board.js", "/look.css", "/layout?key=farm0_t0_s0", "/nothing"):
        _, headers, _ = ask(served[0], path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    _, _, page = ask(served[0], "/")
    assert "<script>" not in page
    assert "style=" not in page


def test_a_layout_can_be_asked_for_and_others_not(served: tuple[str, RunDirectory]) -> None:
    status, headers, text = ask(served[0], "/layout?key=farm0_t0_s0")
    assert (status, headers["content-type"], json.loads(text)["n"]) == (200, "application/json", 6)
    assert ask(served[0], "/layout?key=" + quote("farm0_t0_s0/../x"))[0] == 404
    assert ask(served[0], "/layout")[0] == 404


@pytest.mark.parametrize(
    "name",
    [
        "../campaign.yaml", "..%2Fcampaign.yaml", "/etc/passwd", "passwords.txt", "link.log", "", ".", "..",
        "%00", "node-1-aaaa-worker0.log%00", "../logs/node-1-aaaa-worker0.log", "nothing.log", "a" * 5000 + ".log",
    ],
)  # fmt: skip
def test_nothing_but_logs_of_the_run_is_served(name: str, served: tuple[str, RunDirectory]) -> None:
    assert ask(served[0], f"/log?name={name}")[0] == 404
    for path in (f"/{name}", f"/log/{name}", f"/static/{name}"):
        status, _, text = ask(served[0], path)
        assert status == 404 or text.startswith("<!doctype html>")


def test_a_log_is_served_as_text(served: tuple[str, RunDirectory]) -> None:
    status, headers, text = ask(served[0], "/log?name=node-1-aaaa-worker0.log")
    assert (status, headers["content-type"], text) == (200, "text/plain; charset=utf-8", "what happened\n")


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * 300_000 + b"the end")
    text = read_log(tmp_path, "a.log")
    assert text is not None
    assert text.startswith("... the last 200000 bytes of 300007 ...\n")
    assert text.endswith("the end")
    os.mkfifo(tmp_path / "pipe.log")
    assert read_log(tmp_path, "pipe.log") is None
    (tmp_path / "way").symlink_to(tmp_path, target_is_directory=True)
    assert read_log(tmp_path / "way", "a.log") is None


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_the_board_is_read_only(method: str, served: tuple[str, RunDirectory]) -> None:
    assert ask(served[0], "/", method)[0] == 405


def test_on_this_machine_only_its_own_names_are_answered(served: tuple[str, RunDirectory]) -> None:
    port = urlsplit(served[0]).port
    assert ask(served[0], "/", Host="evil.example")[0] == 421
    assert ask(served[0], "/", Host=f"evil.example:{port}")[0] == 421
    for name in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost"):
        assert ask(served[0], "/", Host=name)[0] == 200


def test_elsewhere_a_token_is_asked_for(tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign())
    with board(tmp_path / "o.h5", "--host", "0.0.0.0", "--port", "0") as address:
        token = address.partition("?token=")[2]
        assert len(token) >= 32
        for path in ("/", "/news", "/board.js", "/log?name=a.log", "/?token=wrong", "/?token="):
            status, _, text = ask(address, path)
            assert status == 401
            assert "the address that `vindeby board` printed" in text
        status, headers, _ = ask(address, f"/?token={token}")
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert ask(address, "/", Cookie=cookie.partition(";")[0])[0] == 200
        assert ask(address, "/", Authorization=f"Bearer {token}")[0] == 200
        assert ask(address, "/", Authorization="Bearer no")[0] == 401


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.8.8", True), ("0.0.0.0", False),
     ("::", False), ("192.168.1.5", False), ("example.org", False)],
)  # fmt: skip
def test_which_addresses_are_of_this_machine_alone(host: str, here: bool) -> None:
    assert is_loopback(host) is here


def test_bad_input_is_said_without_a_traceback(tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign())
    cases = [
        (("none.h5",), "there is no such database"),
        (("o.h5", "--token", "short"), "--token: must have 8 characters"),
        (("o.h5", "--host", "nowhere.invalid"), "--host: 'nowhere.invalid' is not an address"),
    ]
    for arguments, message in cases:
        done = vindeby(tmp_path, "board", *arguments)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert message in done.stderr
    with board(tmp_path / "o.h5", "--port", "0") as address:
        done = vindeby(tmp_path, "board", "o.h5", "--port", str(urlsplit(address).port))
        assert done.returncode == 2
        assert "another board may be running" in done.stderr


def test_a_feed_grows_and_begins_again_when_results_are_gone(tmp_path: Path) -> None:
    asked = campaign()
    run = publish(tmp_path / "o.h5", asked, lambda task: task.seed == 0)
    feed = Feed(ResultSet(run.output))
    feed.look()
    generation = feed.generation
    assert {row[0] for row in feed.rows} == {task.key for task in asked.tasks() if task.seed == 0}
    ShardWriter(run).publish([record(asked, task) for task in asked.tasks() if task.seed == 1])
    feed.look()
    assert (len(feed.rows), feed.generation) == (8, generation)
    told = feed.news(generation, 4)
    assert (told["areas"], [row[3] for row in told["rows"]]) == (None, [1, 1, 1, 1])
    shutil.rmtree(run.path)
    feed.look()
    assert "it is gone" in feed.problem
    publish(tmp_path / "o.h5", asked, lambda task: task.seed == 2)
    feed.look()
    assert ([row[3] for row in feed.rows], feed.problem) == ([2, 2, 2, 2], "")
    assert feed.generation != generation


def test_twenty_viewers_cost_one_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(tmp_path / "o.h5", campaign())
    looks = 0
    original = ResultSet.look

    def counting(self: ResultSet) -> object:
        nonlocal looks
        looks += 1
        return original(self)

    monkeypatch.setattr(ResultSet, "look", counting)
    feed = Feed(ResultSet(tmp_path / "o.h5"), interval_s=600.0)
    assert looks == 0  # nobody is watching
    assert {len(feed.news("", 0)["rows"]) for _ in range(20)} == {12}
    assert looks == 1
