"""A function from outside the installed packages is named before anything of it is executed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.campaign.examples import small
from tests.command import vindeby
from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import file_of
from vindeby.cli.app import build
from vindeby.runner.methods.call import warning

pytestmark = pytest.mark.slow

CODE = """
import pathlib
pathlib.Path(__file__).with_name("executed").touch()
def fail(task):
    raise ValueError("as asked")
"""


def calling(function: str) -> Campaign:
    return Campaign.from_data(small() | {"method": {"call": function}, "seeds": 1})


def test_run_says_once_which_file_it_will_execute(tmp_path: Path) -> None:
    (tmp_path / "strange.py").write_text(CODE)
    (tmp_path / "c.yaml").write_text(calling("strange:fail").dumps())
    done = vindeby(tmp_path, "run", "c.yaml", "-j", "1")
    told = [line for line in done.stderr.splitlines() if "will be executed" in line]
    assert len(told) == 1
    assert told[0].startswith("vindeby: method.call: strange:fail is not from an installed package: ")
    assert str(tmp_path / "strange.py") in told[0]
    assert (tmp_path / "executed").exists()
    again = vindeby(tmp_path, "run", "c.yaml", "-j", "1")
    assert "will be executed" not in again.stderr  # everything failed before, and nothing is executed


def test_looking_at_a_campaign_and_at_its_results_executes_nothing(tmp_path: Path) -> None:
    (tmp_path / "strange.py").write_text(CODE)
    (tmp_path / "c.yaml").write_text(calling("strange:fail").dumps())
    assert vindeby(tmp_path, "check", "c.yaml").returncode == 0
    warning(calling("strange:fail"), [str(tmp_path)])
    assert vindeby(tmp_path, "run", "c.yaml", "-j", "1", "--quiet").returncode == 1
    (tmp_path / "executed").unlink()
    for command in (["monitor"], ["missing"], ["validate", "--deep"], ["report"]):
        CliRunner().invoke(build(), [*command, str(tmp_path / "layouts.h5")])
    assert not (tmp_path / "executed").exists()


def test_installed_packages_and_the_standard_library_are_not_named() -> None:
    for function in (
        "json:dumps",
        "os.path:join",
        "numpy.linalg:norm",
        "vindeby.layout.area.limits:x",
        "time:time",
    ):
        assert warning(calling(function), sys.path) == "", function
    assert warning(calling("no_such_module_anywhere:f"), sys.path) == ""


def test_a_package_is_named_by_what_is_executed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer" / "__init__.py").write_text("raise SystemExit('executed')")
    (inner / "work.py").write_text("raise SystemExit('executed')")
    assert file_of("outer.inner.work", [str(tmp_path)]) == tmp_path / "outer" / "__init__.py"
    (tmp_path / "outer" / "__init__.py").unlink()
    found = file_of("outer.inner.work", [str(tmp_path)])
    assert found is not None
    assert tmp_path in found.parents
    monkeypatch.syspath_prepend(tmp_path)
    assert "outer" not in sys.modules


def test_a_module_that_hides_an_installed_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    assert str(tmp_path / "json.py") in warning(calling("json:dumps"), [str(tmp_path), *sys.path])
