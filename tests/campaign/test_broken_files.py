from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.campaign.broken import BROKEN
from tests.campaign.examples import SMALL
from tests.command import vindeby

pytestmark = pytest.mark.slow


def check(path: Path) -> subprocess.CompletedProcess[str]:
    return vindeby(path.parent, "check", path.name, timeout_s=60.0)


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_gets_status_2_and_the_words_that_help(case: str, tmp_path: Path) -> None:
    broken = BROKEN[case]
    path = tmp_path / "broken.yaml"
    path.write_bytes(broken.text if isinstance(broken.text, bytes) else broken.text.encode())

    done = check(path)

    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert lines
    assert all(line.startswith("vindeby: broken.yaml:") for line in lines), done.stderr
    assert max(map(len, lines)) < 700
    missing = [word for word in broken.words if word not in done.stderr]
    assert not missing, done.stderr


def test_there_are_more_than_forty_kinds_of_mistakes() -> None:
    assert len(BROKEN) >= 40


def test_the_file_they_are_made_from_is_right(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    done = check(path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("absent.yaml", "absent.yaml: no such file; check the path"),
        ("folder", "folder: this is a folder; name the file in it"),
        ("/dev/null", "/dev/null: this is not a regular file"),
        ("energy-iland", "did you mean 'energy-island'? the presets are: energy-island, "),
        ("x" * 5000 + ".yaml", "cannot be read: File name too long"),
        ("small.yaml/inner.yaml", "cannot be read: Not a directory"),
    ],
)
def test_what_is_no_file_is_said_to_be_none(argument: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "small.yaml").write_text(SMALL)
    done = vindeby(tmp_path, "check", argument, timeout_s=60.0)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        SMALL.replace("workers: 2", "workers: 0").replace("name: north", "name: 5").replace("a: 11", "a: -1")
    )
    path = tmp_path / "three.yaml"
    path.write_text(text)
    fields = [line.split(": ")[2] for line in check(path).stderr.splitlines()]
    assert fields == ["farms[0].name", "site.weibull.sectors[3].a", "run.workers"]
