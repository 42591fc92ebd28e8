"""The campaign file as a JSON schema: what is right is never refused, and mistakes that a schema can see are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tests.campaign.examples import small
from vindeby.campaign import presets
from vindeby.campaign.json_schema import json_schema
from vindeby.cli.app import build
from vindeby.errors import ArgumentError

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", sorted(Path(presets.__path__[0]).glob("*.yaml")), ids=lambda path: path.stem)
def test_every_preset_is_accepted(path: Path, validator: Any) -> None:
    assert [error.message for error in validator.iter_errors(yaml.safe_load(path.read_text()))] == []


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"seeds": [0, 7, 12]},
        {"method": "random-start"},
        {"method": [{"lattice": {"rows": True}}, "annealing"]},
        {"method": {"call": "my.module:function"}},
        {"min_spacing": {"metres": 700}},
        {"wake": "jensen"},
        {"farms": [{"name": "a", "n_turbines": 3, "boundary": {"file": "a.csv"}}]},
        {"turbines": [{"file": "turbine.yaml"}]},
        {"farms": {"file": "areas.gpkg", "name": "AREA", "n_turbines": 4}},
        {"site": {"file": "rose.csv", "turbulence_intensity": 0.06}},
        {"wake": {"pywake": "py_wake.literature:Nygaard_2022"}},
        {"wake": {"floris": "gch.yaml"}},
        {"wake": {"floris": "gch.yaml", "options": {"solver": {"turbine_grid_points": 1}}}},
        {"run": {"workers": 2, "max_failures": "5%", "slurm": {"nodes": 4, "time": "12:00:00"}}},
    ],
    ids=str,
)
def test_short_forms_and_files_are_accepted(change: dict[str, Any], validator: Any) -> None:
    assert [error.message for error in validator.iter_errors({**small(), **change})] == []


def test_a_function_without_wind_may_leave_out_everything_about_it(validator: Any) -> None:
    call = {"function": "function:minimise", "returns": ["x", "value"]}
    short = {"name": "minimum", "method": {"call": call}, "seeds": 20}
    assert [error.message for error in validator.iter_errors(short)] == []
    assert [*validator.iter_errors({**short, "method": "random-start"})] != []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 3}, "'seed' was unexpected"),
        ({"farms": []}, "not valid under any"),
        ({"method": [{"gradiant": {}}]}, "not valid under any"),
        ({"wake": {"jenson": {}}}, "not valid under any"),
        ({"min_spacing": {"feet": 3}}, "not valid under any"),
        ({"run": {"retries": "often"}}, "not valid under any"),
        ({"name": 3}, "3 is not of type 'string'"),
    ],
    ids=str,
)
def test_mistakes_are_refused(change: dict[str, Any], told: str, validator: Any) -> None:
    (error,) = validator.iter_errors({**small(), **change})
    assert told in error.message


def test_the_command_prints_it_or_writes_it(tmp_path: Path) -> None:
    printed = CliRunner().invoke(build(), ["schema"])
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == json_schema()
    written = CliRunner().invoke(build(), ["schema", "-o", str(tmp_path / "campaign.json")])
    assert f"# yaml-language-server: $schema={tmp_path}/campaign.json" in written.stdout
    assert json.loads((tmp_path / "campaign.json").read_text()) == json_schema()
    nowhere = CliRunner().invoke(build(), ["schema", "-o", str(tmp_path / "absent" / "campaign.json")])
    assert isinstance(nowhere.exception, ArgumentError)
    assert "cannot be written: No such file or directory" in str(nowhere.exception)
