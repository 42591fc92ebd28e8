from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.campaign.costed import COSTED
from tests.campaign.examples import SMALL
from tests.command import vindeby
from vindeby import __version__
from vindeby.campaign import presets
from vindeby.cli import COMMANDS

pytestmark = pytest.mark.slow


def test_init_then_check_of_the_energy_island(tmp_path: Path) -> None:
    written = vindeby(tmp_path, "init", "energy-island", "c.yaml")
    assert (written.returncode, written.stdout) == (0, "")
    assert written.stderr == "wrote c.yaml, and vindeby.schema.json for editors; next: vindeby check c.yaml\n"
    checked = vindeby(tmp_path, "check", "c.yaml")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith("energy-island: 3,000 tasks = 10 farms x 6 types x 50 seeds\n")
    assert "dk1e_tender_10" in checked.stdout
    assert "3.52 to 3.57" in checked.stdout


def test_check_states_what_costs_are_of(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(COSTED)
    words = "25 years at 6.61 % per year; foundations in 20 to 40 m of water"
    assert f"costs: {words}\n" in vindeby(tmp_path, "check", "c.yaml").stdout
    assert json.loads(vindeby(tmp_path, "check", "c.yaml", "--json").stdout)["costs"] == words


@pytest.mark.parametrize("preset", presets.names())
def test_init_writes_every_preset_and_check_takes_it(preset: str, tmp_path: Path) -> None:
    assert vindeby(tmp_path, "init", preset).returncode == 0
    text = (tmp_path / f"{preset}.yaml").read_text()
    assert text.count("#") > 5  # it explains itself
    assert vindeby(tmp_path, "check", f"{preset}.yaml").returncode == 0


def test_an_editor_finds_the_schema_that_the_first_line_of_a_new_campaign_file_names(tmp_path: Path) -> None:
    (tmp_path / "vindeby.schema.json").write_text("of an older version")
    assert vindeby(tmp_path, "init", "energy-island-quick", "c.yaml").returncode == 0
    first = (tmp_path / "c.yaml").read_text().splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads((tmp_path / named).read_text())["title"] == "vindeby campaign"


def test_init_refuses_to_overwrite(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("mine")
    done = vindeby(tmp_path, "init", "energy-island", "c.yaml")
    assert done.returncode == 2
    assert "c.yaml: exists and is left as it is" in done.stderr
    assert (tmp_path / "c.yaml").read_text() == "mine"


def test_init_into_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = vindeby(tmp_path, "init", "energy-island", "nowhere/c.yaml")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "nowhere/c.yaml: cannot be written: No such file or directory" in done.stderr


def test_init_of_an_unknown_preset_lists_those_there_are(tmp_path: Path) -> None:
    done = vindeby(tmp_path, "init", "iea37-cs1")
    assert done.returncode == 2
    assert all(name in done.stderr for name in presets.names())
    assert list(tmp_path.iterdir()) == []


def test_check_in_json_is_for_machines(tmp_path: Path) -> None:
    done = vindeby(tmp_path, "check", "energy-island", "--json")
    found = json.loads(done.stdout)
    assert (found["tasks"], found["farms"], found["types"], found["seeds"]) == (3000, 10, 6, 50)
    assert found["valid"] is True
    assert len(found["cells"]) == 60
    assert sum(cell["tasks"] for cell in found["cells"]) == 3000


def test_overrides_count_in_what_is_checked(tmp_path: Path) -> None:
    arguments = ["energy-island", "--seeds", "2", "--set", "method=random-start", "--json"]
    done = vindeby(tmp_path, "check", *arguments)
    assert (json.loads(done.stdout)["tasks"], json.loads(done.stdout)["method"]) == (120, ["random-start"])
    assert (
        vindeby(tmp_path, "check", "energy-island", "--seeds", "3,8", "--json").stdout.count('"tasks": 120')
        == 1
    )


@pytest.mark.parametrize("seeds", ["0", "-1", "two", "1.5", "1,1", "[1", ""])
def test_wrong_seeds_on_the_command_line_are_refused(seeds: str, tmp_path: Path) -> None:
    done = vindeby(tmp_path, "check", "energy-island", "--seeds", seeds)
    assert (done.returncode, done.stdout) == (2, "")
    assert "seeds" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_with_markup_are_printed_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(SMALL.replace("name: north", 'name: "[red]<script>"'))
    assert "[red]<script>" in vindeby(tmp_path, "check", "c.yaml").stdout


def test_a_reader_that_goes_away_is_no_error_to_talk_about(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = vindeby(tmp_path, "check", "energy-island", stdout=writer)
    finally:
        os.close(writer)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("arguments", [["chek"], ["check"], ["check", "energy-island", "--bogus"], ["init"]])
def test_a_wrong_command_line_has_status_2(arguments: list[str], tmp_path: Path) -> None:
    done = vindeby(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_help_lists_every_command_and_version_says_the_version(tmp_path: Path) -> None:
    text = vindeby(tmp_path, "--help").stdout
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert vindeby(tmp_path, "--version").stdout == f"vindeby {__version__}\n"
