"""Every open case is a campaign that can be run, and its figures are those of its campaign file."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vindeby.assembly.search import problem_of
from vindeby.campaign import Campaign, presets
from vindeby.campaign.survey import survey
from vindeby.cases import all_cases, case_named, judged, read_layout
from vindeby.errors import InputError
from vindeby.layout import Layout

ROOT = Path(__file__).parents[2]
NAMES = [case.name for case in all_cases()]


@pytest.mark.parametrize("name", NAMES)
def test_a_case_is_a_campaign_with_the_listed_figures(name: str) -> None:
    case, campaign = case_named(name), Campaign.load(f"case:{name}")
    cell = survey(campaign).cells[0]
    assert campaign.name == name
    assert len(campaign.cells()) == 1
    assert case.turbines in (None, cell.n_turbines)
    assert cell.area_km2 == pytest.approx(case.area_km2, abs=0.01)
    assert case.unit in ("MWh", "GWh", "kW", "cost")
    assert case.source
    assert case.published_by


def test_the_page_of_records_has_the_figures_of_the_index_and_of_the_kept_layouts() -> None:
    page = (ROOT / "docs/records.md").read_text()
    for case in all_cases():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| [{case.name}](")]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        worth = None if case.record is None else case.record.worth
        published = case.shown(case.published) or "unknown"
        assert cells[3:6] == [published, case.shown(worth) or "none yet", case.gain_text(worth)]
        assert case.published_by in page


@pytest.mark.parametrize(
    "name", [case.name for case in all_cases() if case.judge == "energy" and case.record]
)
@pytest.mark.slow
def test_the_engine_and_the_judge_agree_on_a_record(name: str) -> None:
    case, campaign = case_named(name), Campaign.load(f"case:{name}")
    assert case.record is not None
    problem = problem_of(campaign, campaign.cells()[0])
    layout = Layout.of(case.record.x, case.record.y)
    assert problem.is_feasible(layout)
    worth = judged(case, case.record.x, case.record.y).worth
    mwh = {"MWh": 1.0, "GWh": 1e3, "kW": 8.76}[case.unit]
    assert 1e3 * problem.aep(layout) == pytest.approx(worth * mwh, rel=1e-9)


def test_a_preset_that_is_a_case_is_one_campaign() -> None:
    assert presets.text("case:iea37-cs1-16") == presets.text("iea37-cs1-16")


def test_a_record_is_read_back_bit_for_bit(tmp_path: Path) -> None:
    case = case_named("iea37-cs3")
    assert case.record is not None
    path = tmp_path / "layout.csv"
    path.write_text(records_script().record_text(case, case.record))
    x, y = read_layout(path)
    assert np.array_equal(x, case.record.x)
    assert np.array_equal(y, case.record.y)


@pytest.mark.parametrize(
    "text",
    [
        "definitions: {position: {items: {xc: [1, 2.5], yc: [3, 4]}}}",
        "definitions: {position: {items: [[1, 3], [2.5, 4]]}, wind_plant: {items: [{$ref: a}]}}",
        "layouts: {a: {coordinates: {x: [1, 2.5], y: [3, 4]}}}\nelectrical_substations: {x: [9], y: [9]}",
        "- layouts: [{coordinates: {x: [1], y: [3]}}]\n- layouts: [{coordinates: {x: [2.5], y: [4]}}]",
    ],
)
def test_layouts_of_iea_task_37_and_windio_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.yaml"
    path.write_text(text)
    x, y = read_layout(path)
    assert (x.tolist(), y.tolist()) == ([1.0, 2.5], [3.0, 4.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1", "holds no layout; name a file with layouts"),
        ("x: [1, 2]\ny: [1]", "x has 2 numbers and y has 1; give an x and a y for each point"),
        ("x: [1]\ny: [one]", r"y\[0\]: must be a number"),
        ("- 1", "must be a mapping"),
        ("x: [.nan]\ny: [1]", r"x\[0\]: is not finite"),
        ("x: null\ny: null", "holds no layout"),
        (
            "definitions: {position: {items: [[1, 2], 5]}}",
            r"definitions\.position\.items: has rows of different lengths",
        ),
        ("definitions: {position: {items: [[1], [3]]}}", "items: is not a list of pairs; give an x and a y"),
        ("definitions: {position: {items: {xc: [1, 2], yc: [3]}}}", "items: xc has 2 numbers and yc has 1"),
        ("definitions: {wind_plant: 3}", "position is missing"),
        ("boundaries: {polygons: [{x: [0, 1, 1], y: [0, 0, 1]}]}", "holds no layout"),
    ],
)
def test_yaml_without_a_layout_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"layout\.yaml.*{words}"):
        read_layout(path)


def test_a_number_of_many_digits_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "layout.yaml"
    path.write_text(f"x: [1{400 * '0'}]\ny: [1]")
    with pytest.raises(InputError, match=r"layout\.yaml.*x\[0\]: a number of 401 digits"):
        read_layout(path)


@pytest.mark.parametrize(
    "layouts",
    [
        "{a: {coordinates: {x: [1], y: [3]}}, b: {coordinates: {x: [2], y: [4]}}}",
        "[{coordinates: {x: [1], y: [3]}}, {coordinates: {x: [2], y: [4]}}]",
    ],
)
def test_several_layouts_of_one_farm_are_refused(layouts: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.yaml"
    path.write_text(f"wind_farm: {{layouts: {layouts}}}")
    with pytest.raises(InputError, match=r"layout\.yaml: holds several layouts of one farm; give one"):
        read_layout(path)


def records_script() -> Any:
    spec = importlib.util.spec_from_file_location("records", ROOT / "scripts/records.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_records_is_the_one_that_the_stored_data_give() -> None:
    script = records_script()
    assert script.PAGE.read_text() == script.page(all_cases())
    drawn = {path.stem for path in script.PICTURES.glob("*.png")}
    assert drawn == {case.name for case in all_cases() if case.record is not None}


@pytest.mark.parametrize(("worth", "kept"), [(-1.0, False), (1.0, True)])
def test_only_a_better_layout_replaces_a_record(
    worth: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, case = records_script(), case_named("iea37-cs2")
    assert case.record is not None
    monkeypatch.setattr(script, "KEPT", tmp_path)
    found = type(case.record)(
        case.record.worth + worth, 7, 1.0, "0a1b2c3d", "run", case.record.x, case.record.y
    )
    script.keep(case, found, ())
    script.keep(case, found, ("turbine 0 is outside",))
    assert (tmp_path / "iea37-cs2.csv").exists() == kept
