"""Requests that are made to get past the board's gate, or to make it fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.board.serving import board
from tests.board.test_board import ask
from tests.command import vindeby
from tests.results.examples import campaign, events, publish, set_aside
from vindeby.board.access import COOKIE

pytestmark = pytest.mark.slow

TOKEN = "a-token for;tests"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("board") / "o.h5"
    publish(path, campaign(seeds=1))
    return path


@pytest.fixture(scope="module")
def local(output: Path) -> Iterator[str]:
    with board(output, "--port", "0") as address:
        yield address


@pytest.fixture(scope="module")
def guarded(output: Path) -> Iterator[str]:
    with board(output, "--port", "0", "--token", TOKEN.replace(" ", "-")) as address:
        yield address


@pytest.mark.parametrize(
    "host",
    ["[::1]evil", "[::1].evil.example", "[::1]:80.evil.example", "localhost:80:evil", "localhost@evil", "::1evil",
     "[::1", "localhost:x", "", " localhost.evil", "127.0.0.1.evil.example", "[::1%evil]", "localhost/evil"],
)  # fmt: skip
def test_a_host_that_only_begins_like_this_machine_is_refused(host: str, local: str) -> None:
    assert ask(local, "/", Host=host)[0] in {400, 421}


def test_names_of_this_machine_are_answered_in_any_case(local: str) -> None:
    port = urlsplit(local).port
    for host in ("LOCALHOST", f"LocalHost:{port}", f"[::1]:{port}", "[::1]", "127.0.0.1:"):
        assert ask(local, "/", Host=host)[0] == 200, host


@pytest.mark.parametrize(
    "path",
    ["//evil.com/", "///evil.com", "/%2Fevil.com", "/\\evil.com/", "/%5Cevil.com", "//evil.com/%2e%2e"],
)
def test_the_token_never_leads_to_another_machine(path: str, guarded: str) -> None:
    token = guarded.partition("?token=")[2]
    status, headers, _ = ask(guarded, f"{path}?token={token}&a=b")
    assert status == 303
    assert headers["location"][0] == "/"
    assert headers["location"][1:2] not in {"/", "\\"}


@pytest.mark.parametrize(
    "cookie", ["a b=c", "@{}=1", "=", ";;;", 'a="', "vindeby-board", 'vindeby-board="', "x[1]=2; ä=ö"]
)
def test_cookies_of_others_with_illegal_names_do_no_harm(cookie: str, guarded: str) -> None:
    assert ask(guarded, "/", Cookie=cookie)[0] == 401
    token = guarded.partition("?token=")[2]
    mine = ask(guarded, f"/?token={token}")[1]["set-cookie"].partition("; ")[0]
    assert mine.startswith(f"{COOKIE}=")
    assert ask(guarded, "/", Cookie=f"{cookie}; {mine}")[0] == 200
    assert ask(guarded, "/", Cookie=f"{mine}; {cookie}")[0] == 200


def test_a_token_that_no_header_can_hold_is_refused(output: Path) -> None:
    for token in ("ænglisch-token", "with\nline-end"):
        done = vindeby(output.parent, "board", output.name, "--token", token)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert "--token: must have 8 characters or more, all of them printable ASCII" in done.stderr


def test_a_report_shows_a_surrogate_in_the_text_of_an_error(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(seeds=1), lambda task: task.farm_idx == 0)
    events(run, [set_aside("farm1_t0_s0", "UnicodeError: \udcff and \u202e and \x1b[31m", log="\udc80.log")])
    done = vindeby(tmp_path, "report", "o.h5", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "o.html").read_text()
    assert r"UnicodeError: \udcff and \u202e and \x1b[31m" in text
    assert "\x1b" not in text
