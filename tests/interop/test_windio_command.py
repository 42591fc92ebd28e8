"""The command on windIO files: init --from, check and run."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.command import vindeby
from tests.interop.windio_examples import ROSE, SERIES, SYSTEM, changed, read, with_resource, write
from vindeby.campaign import Campaign
from vindeby.cli.app import build

pytestmark = pytest.mark.slow


def in_process(*words: str) -> Result:
    return CliRunner().invoke(build(), list(words))


def test_init_from_a_system_writes_a_campaign_that_check_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "system.yaml", changed(SYSTEM, "wind_farm.foundations", {"kind": "monopile"}))
    done = in_process("init", "--from", "system.yaml", "c.yaml")
    assert done.exit_code == 0, done.output
    for line in ("taken: boundary: polygon of 4 vertices", "ignored: system.yaml: wind_farm.foundations"):
        assert f"vindeby: {line}\n" in done.stderr
    assert done.stderr.endswith(
        "wrote c.yaml, and vindeby.schema.json for editors; next: vindeby check c.yaml\n"
    )
    assert done.stdout == ""
    assert Campaign.load("c.yaml").fingerprints() == read(tmp_path / "system.yaml").fingerprints()
    again = in_process("init", "--from", "system.yaml", "c.yaml")
    assert "c.yaml: exists and is left as it is" in str(again.exception)


def test_init_from_a_system_that_says_too_little_writes_what_to_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "system.yaml", with_resource(changed(SERIES, "turbulence_intensity", None)))
    done = in_process("init", "--from", "system.yaml")
    assert done.exit_code == 0, done.output
    assert (
        "missing: site.time_series.turbulence_intensity: turbulence_intensity is not in the file"
        in done.stderr
    )
    assert "add what is missing, then: vindeby check campaign.yaml" in done.stderr
    text = (tmp_path / "campaign.yaml").read_text()
    completed = text.replace("  time_series:\n", "  time_series:\n    turbulence_intensity: 0.08\n")
    (tmp_path / "campaign.yaml").write_text(completed)
    assert Campaign.load("campaign.yaml").site.time_series is not None


def test_init_wants_one_or_the_other(tmp_path: Path) -> None:
    assert "name a preset, or a windIO file with --from" in str(in_process("init").exception)
    told = str(in_process("init", "--from", str(tmp_path / "s.yaml"), "a", "b").exception)
    assert "--from takes one FILE" in told


def test_a_system_is_kept_whole_with_the_results(tmp_path: Path) -> None:
    write(tmp_path / "parts/rose.yaml", {"name": "r", "wind_resource": ROSE})
    write(tmp_path / "system.yaml", changed(SYSTEM, "site.energy_resource", "!include parts/rose.yaml"))
    given = ("method=random-start", "seeds=1")
    words = [word for one in given for word in ("--set", one)]
    assert vindeby(tmp_path, "init", "--from", "system.yaml", "c.yaml").returncode == 0
    done = vindeby(tmp_path, "run", "c.yaml", *words, "-o", "out.h5", "-j", "1")
    assert done.returncode == 0, done.stderr
    kept = Campaign.load(tmp_path / "out.h5.run/campaign.yaml")
    assert kept.fingerprints() == Campaign.load(tmp_path / "c.yaml", given).fingerprints()
    assert kept.site.table is not None  # nothing refers to the files any more
    assert kept.site.table.probability[3] == (0.3, 0.1)


def test_an_include_that_is_needed_and_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "system.yaml", {"name": "s", "site": "!include nowhere.yaml", "wind_farm": {}})
    told = str(in_process("init", "--from", str(path)).exception)
    missing = str(tmp_path / "nowhere.yaml")
    assert told.startswith(f"{path}:2: site: no such file (got {missing!r})")


def test_a_system_in_place_of_a_campaign_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "system.yaml", {"name": "s", "site": "!include site.yaml", "wind_farm": {}})
    told = str(in_process("check", str(path)).exception)
    assert "`vindeby init --from SYSTEM FILE` makes a campaign file of a windIO system" in told
