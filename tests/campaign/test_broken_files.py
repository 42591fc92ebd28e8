"""Every kind of mistake in a campaign file is refused with its place, its value and a remedy."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.broken import BROKEN
from tests.campaign.broken_costs import BROKEN_COSTS
from tests.campaign.broken_local_wind import BROKEN_LOCAL_WIND
from tests.campaign.broken_neighbours import BROKEN_NEIGHBOURS
from tests.campaign.broken_scenarios import BROKEN_SCENARIOS
from tests.campaign.broken_sites import BROKEN_SITES
from tests.campaign.broken_slurm import BROKEN_SLURM
from tests.campaign.broken_wake_models import BROKEN_WAKE_MODELS
from tests.campaign.broken_winds_and_tables import BROKEN_WINDS_AND_TABLES
from tests.campaign.broken_zones_and_mixes import BROKEN_ZONES_AND_MIXES
from tests.campaign.examples import SMALL
from tests.command import vindeby
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError

Write = Callable[[Path], object]


def check(path: Path) -> subprocess.CompletedProcess[str]:
    return vindeby(path.parent, "check", path.name, timeout_s=60.0)


def _text(text: str) -> Write:
    return lambda path: path.write_text(text)


def _cases() -> Iterator[Any]:
    plain = (
        BROKEN, BROKEN_LOCAL_WIND, BROKEN_SCENARIOS, BROKEN_SLURM, BROKEN_WAKE_MODELS, BROKEN_WINDS_AND_TABLES,
        BROKEN_ZONES_AND_MIXES,
    )  # fmt: skip
    for table in plain:
        for case, wrong in table.items():
            yield pytest.param(wrong.text, {}, wrong.words, id=case)
    for case, costs in BROKEN_COSTS.items():
        files = {costs.name: costs.write} if costs.name else {}
        yield pytest.param(costs.text, files, costs.words, id=f"costs: {case}")
    for case, near in BROKEN_NEIGHBOURS.items():
        yield pytest.param(near.text, {"east.csv": _text(near.table)}, near.words, id=f"neighbours: {case}")
    for case, site in BROKEN_SITES.items():
        files = {f"{name}.csv": _text(text) for name, text in site.tables.items()}
        yield pytest.param(site.text, files, site.words, id=f"site: {case}")


@pytest.mark.parametrize(("text", "files", "words"), [*_cases()])
def test_a_mistake_is_refused_with_the_words_that_help(
    text: str | bytes,
    files: dict[str, Write],
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, write in files.items():
        write(Path(name))

    with pytest.raises(CampaignError) as refused:
        Campaign.load("broken.yaml")

    lines = str(refused.value).splitlines()
    assert all(line.startswith(tuple(f"{name}:" for name in ("broken.yaml", *files))) for line in lines), (
        lines
    )
    assert max(map(len, lines)) < 700
    assert not [word for word in words if word not in str(refused.value)], lines
    assert "secret" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["binary", "deep nesting", "unknown key", "crossing polygon"])
def test_the_command_gives_status_2_and_no_traceback(case: str, tmp_path: Path) -> None:
    text = BROKEN[case].text
    path = tmp_path / "broken.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    done = check(path)

    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = done.stderr.splitlines()
    assert all(line.startswith("vindeby: broken.yaml:") for line in lines), done.stderr
    assert not [word for word in BROKEN[case].words if word not in done.stderr], done.stderr


@pytest.mark.slow
def test_the_file_they_are_made_from_is_right(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    done = check(path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
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


@pytest.mark.slow
def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        SMALL.replace("workers: 2", "workers: 0").replace("name: north", "name: 5").replace("a: 11", "a: -1")
    )
    path = tmp_path / "three.yaml"
    path.write_text(text)
    fields = [line.split(": ")[2] for line in check(path).stderr.splitlines()]
    assert fields == ["farms[0].name", "site.weibull.sectors[3].a", "run.workers"]
