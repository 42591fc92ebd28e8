"""The campaign file as a JSON schema: what is right is never refused, and mistakes that a schema can see are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError
from typer.testing import CliRunner

from tests.campaign.broken import BROKEN
from tests.campaign.broken_local_wind import BROKEN_LOCAL_WIND
from tests.campaign.broken_neighbours import BROKEN_NEIGHBOURS
from tests.campaign.broken_sites import BROKEN_SITES
from tests.campaign.broken_slurm import BROKEN_SLURM
from tests.campaign.broken_wake_models import BROKEN_WAKE_MODELS
from tests.campaign.broken_winds_and_tables import BROKEN_WINDS_AND_TABLES
from tests.campaign.broken_zones_and_mixes import BROKEN_ZONES_AND_MIXES
from tests.campaign.examples import small
from vindeby.campaign import Campaign, presets
from vindeby.campaign.json_schema import json_schema
from vindeby.campaign.reading.yaml_text import read
from vindeby.cli.app import build
from vindeby.errors import CampaignError

pytestmark = pytest.mark.slow

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
        {"site": {"weibull": {"file": "sectors.csv", "turbulence_intensity": 0.06}}},
        {"site": {"time_series": {"file": "wind.csv.gz", "gaps": "drop"}}},
        {"wake": {"pywake": "py_wake.literature:Nygaard_2022"}},
        {"wake": {"floris": "gch.yaml"}},
        {"wake": {"floris": "gch.yaml", "options": {"solver": {"turbine_grid_points": 1}}}},
        {"run": {"workers": 2, "max_failures": 5, "slurm": {"nodes": 4, "time": "12:00:00"}}},
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
        ({"run": {"retries": "often"}}, "'often' is not of type 'integer'"),
        ({"wake": "nygard"}, "not valid under any"),
        ({"seeds": "one"}, "not valid under any"),
        ({"seeds": []}, "not valid under any"),
        ({"method": "smartstart"}, "not valid under any"),
        ({"farms": [{"name": "a", "n_turbines": 3}]}, "not valid under any"),
        ({"min_spacing": "3 feet"}, "not valid under any"),
        ({"wake": {"jensen": {"k": -0.1}}}, "not valid under any"),
        ({"run": {"workers": "many"}}, "not valid under any"),
        ({"name": 3}, "3 is not of type 'string'"),
    ],
    ids=str,
)
def test_mistakes_are_refused(change: dict[str, Any], told: str, validator: Any) -> None:
    (error,) = validator.iter_errors({**small(), **change})
    assert told in error.message


@pytest.mark.parametrize("corners", [2, 3])
def test_a_bare_polygon_has_at_least_three_corners(corners: int, validator: Any) -> None:
    triangle = [[0, 0], [4000, 0], [4000, 3000]]
    hole = [[3000, 100], [3100, 100], [3100, 200]]
    bare = triangle[:corners]
    with_hole = {"polygon": triangle, "exclusions": [hole[:corners]]}
    for boundary in (bare, with_hole):
        data = {**small(), "farms": [{"name": "a", "boundary": boundary}]}
        assert validator.is_valid(data) == (corners == 3)


TABLES = (
    BROKEN, BROKEN_LOCAL_WIND, BROKEN_NEIGHBOURS, BROKEN_SITES, BROKEN_SLURM, BROKEN_WAKE_MODELS,
    BROKEN_WINDS_AND_TABLES, BROKEN_ZONES_AND_MIXES,
)  # fmt: skip
NO_JSON = {"not a number", "infinite"}
"""Numbers that JSON does not have."""


def _wrong_by_form(text: str | bytes) -> Any:
    """The data of a broken campaign file that check refuses for the type, range or key of a single value."""
    if isinstance(text, bytes) or "file:" in text or "database:" in text:
        return None
    try:
        data = read(text, "broken").data
        Campaign.model_validate(data)
    except ValidationError as error:
        return None if "refused" in {one["type"] for one in error.errors(include_url=False)} else data
    except CampaignError:
        return None
    return None


def test_what_check_refuses_by_form_the_schema_refuses(validator: Any) -> None:
    broken = {name: case.text for table in TABLES for name, case in table.items()}
    wrong = {name: data for name, text in broken.items() if (data := _wrong_by_form(text)) is not None}
    assert len(wrong) > 100
    assert {name for name, data in wrong.items() if validator.is_valid(data)} == NO_JSON


def test_every_property_has_a_description() -> None:
    def properties(part: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(part, dict):
            yield from part.get("properties", {}).items()
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from properties(inner)

    schema = json_schema()
    named = [*schema["properties"].items(), *properties(schema["$defs"])]
    assert len(named) > 200
    assert [name for name, about in named if not about.get("description")] == []


def test_the_command_prints_it() -> None:
    printed = CliRunner().invoke(build(), ["schema"])
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == json_schema()
