"""Cables that are stored with results: checked, drawn, and written for other tools."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import shapely
from pyproj import Transformer

from tests.interop.exports import SOUTH, WEST, campaign
from vindeby.assembly.value import check_cables, eur_of_cables, values_of, with_cables
from vindeby.board.feed import Feed
from vindeby.campaign import Campaign
from vindeby.interop.export.exporting import export
from vindeby.plots.layout import layout
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge

pytest.importorskip("optiwindnet")
pytestmark = pytest.mark.slow  # OptiWindNet compiles for some seconds when it is first used

KEY = "farm0_t0_s0"
SIDE = 6000.0
BOX = [[WEST, SOUTH], [WEST + SIDE, SOUTH], [WEST + SIDE, SOUTH + SIDE], [WEST, SOUTH + SIDE]]
CABLES = {"substations": [[WEST + 3000.0, SOUTH + 3100.0]], "types": [[3, 100.0], [5, 150.0]]}
COSTS = {"discount": 0.05, "years": 20, "turbine": {"capex": 2e6}, "cables": CABLES}


@pytest.fixture(scope="module")
def asked() -> Campaign:
    farm = {"name": "square", "boundary": BOX, "n_turbines": 16}
    return campaign(farms=[farm], costs=COSTS, seeds=[0], crs="EPSG:32631")


@pytest.fixture(scope="module")
def record(asked: Campaign) -> Record:
    """A grid of turbines, with cables as a run stores them."""
    east, north = np.meshgrid(np.linspace(500, 5500, 4), np.linspace(500, 5400, 4))
    arrays = {"layout": np.stack([WEST + east.ravel(), SOUTH + north.ravel()]), "aep": np.array(90.0)}
    cell, task = next(iter(asked.cells())), next(iter(asked.tasks()))
    attributes = {"farm_idx": 0, "type_idx": 0, "ss_seed": 0, "n_turbines": 16, "diameter": 80.0}
    return Record(task.key, task.fingerprint, with_cables(asked, cell, arrays), attributes)


@pytest.fixture(scope="module")
def results(asked: Campaign, record: Record, tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    path = tmp_path_factory.mktemp("cables") / "layouts.h5"
    run = RunDirectory(path).create()
    run.freeze_campaign(asked.dumps())
    ShardWriter(run).publish([record])
    merge(path, MergeOptions(root=asked.root_attributes()))
    return ResultSet(path)


def test_the_cost_of_stored_cables_is_part_of_the_capex(asked: Campaign, record: Record) -> None:
    number, x, y = record.arrays["cable_points"]
    prices = np.array([100.0, 150.0])[record.arrays["cable_types"]]
    lines = [shapely.LineString(np.column_stack([x, y])[number == cable]) for cable in range(16)]
    eur = sum(price * line.length for price, line in zip(prices, lines, strict=True))
    assert eur_of_cables(asked, record.arrays) == pytest.approx(eur, rel=1e-12)
    values = values_of(asked, next(iter(asked.cells())), record.arrays)
    assert values["cables_eur"] == pytest.approx(eur, rel=1e-12)
    assert values["capex_eur"] == pytest.approx(16 * 2e6 + eur, rel=1e-12)


def _check(asked: Campaign, record: Record) -> list[str]:
    return list(check_cables(asked, next(iter(asked.cells())), record))


def _changed(record: Record, name: str, where: Any, value: float) -> Record:
    array = np.array(record.arrays[name])
    array[where] = value
    return Record(record.key, record.fingerprint, {**record.arrays, name: array}, record.attributes)


def test_cables_that_cannot_be_are_named(asked: Campaign, record: Record) -> None:
    assert (_check(asked, record)) == []
    ends = record.arrays["cable_ends"]
    feeder = int(np.argmax(ends[:, 1] < 0))
    broken = {
        "or a turbine has none or two": _changed(record, "cable_ends", (0, 0), 1),
        "do not lead to a substation": _changed(record, "cable_ends", (feeder, 1), ends[feeder, 0]),
        "m beside its turbine": _changed(record, "cable_points", (1, 0), WEST - 100.0),
        "cannot be followed": _changed(record, "cable_types", 0, 7),
    }
    for words, one in broken.items():
        assert words in "; ".join(_check(asked, one))
    heavy = _changed(record, "cable_types", slice(None), 0)
    assert "but its type carries 3" in "; ".join(_check(asked, heavy))
    bare = {name: array for name, array in record.arrays.items() if "cable" not in name}
    assert (_check(asked, Record(KEY, record.fingerprint, bare))) == ["has no cables"]
    assert (_check(asked, Record(KEY, "", bare))) == []


def _with(record: Record, attributes: dict[str, float] | None = None, **arrays: Any) -> Record:
    kept = {name: array for name, array in {**record.arrays, **arrays}.items() if array is not None}
    return Record(record.key, record.fingerprint, kept, {**record.attributes, **(attributes or {})})


def test_arrays_that_are_not_cables_are_named(asked: Campaign, record: Record) -> None:
    ends, types, points = (record.arrays[f"cable_{name}"] for name in ("ends", "types", "points"))
    far, loose = np.array(ends), np.array(points)
    far[0, 1] = -2
    loose[1, 3] = np.nan
    broken: list[dict[str, Any]] = [
        {"cable_ends": ends.ravel()},
        {"cable_ends": ends.astype(float)},
        {"cable_ends": np.array(3)},
        {"cable_ends": far},
        {"cable_types": types[:3]},
        {"cable_types": None},
        {"cable_types": types - 1},
        {"cable_points": points[:, points[0] != 0]},
        {"cable_points": points[:, :0]},
        {"cable_points": points[:, ::-1]},
        {"cable_points": points[:, 1:]},
        {"cable_points": points[0]},
        {"cable_points": loose},
        {"substations": None},
        {"substations": record.arrays["substations"].ravel()},
    ]
    for arrays in broken:
        (said,) = _check(asked, _with(record, **arrays))
        assert "cannot be followed" in said
        values = values_of(asked, next(iter(asked.cells())), _with(record, **arrays).arrays)
        assert "capex_eur" not in values


def test_other_substations_and_another_length_are_named(asked: Campaign, record: Record) -> None:
    number, x, y = record.arrays["cable_points"]
    moved = np.array(record.arrays["substations"])
    moved[0] += 5.0
    there = np.isclose(x, CABLES["substations"][0][0]) & np.isclose(y, CABLES["substations"][0][1])
    points = np.vstack([number, x + 5.0 * there, y])
    wrong = _check(asked, _with(record, substations=moved, cable_points=points))
    assert wrong == ["a substation does not stand where the campaign has it"]
    more = np.column_stack([record.arrays["substations"], [WEST, SOUTH]])
    wrong = _check(asked, _with(record, substations=more))
    assert wrong == ["has 2 substations, but the campaign asks for 1"]
    searched = Campaign.from_data(
        {**asked.to_data(), "costs": {**COSTS, "cables": {**CABLES, "substations": 1}}}
    )
    assert (_check(searched, _with(record, substations=moved, cable_points=points))) == []
    assert _check(searched, _with(record, substations=more))
    length_m = sum(shapely.LineString(np.column_stack([x, y])[number == cable]).length for cable in range(16))
    assert (_check(asked, _with(record, {"cable_length_m": length_m}))) == []
    (said,) = _check(asked, _with(record, {"cable_length_m": 0.99 * length_m}))
    assert "cable_length_m is" in said


def test_crossing_cables_are_named(asked: Campaign, record: Record) -> None:
    number, x, y = np.array(record.arrays["cable_points"])
    far = np.array([[WEST, SOUTH], [WEST + SIDE, SOUTH + SIDE]])  # a detour across the farm
    at = 1 + int(np.searchsorted(number, 0.0))
    points = np.insert(np.vstack([number, x, y]), at, np.vstack([[0.0, 0.0], far.T]).T[::-1], axis=1)
    arrays = {**record.arrays, "cable_points": points}
    assert "cross" in "; ".join(_check(asked, Record(KEY, record.fingerprint, arrays)))


def test_cables_and_substations_are_drawn(results: ResultSet) -> None:
    axes = layout(results, KEY)
    entries = axes.get_legend_handles_labels()[1]
    assert "substation" in entries
    assert [one for one in entries if one.startswith("cables for 3 turbines: ")]
    texts = [text.get_text() for panel in axes.figure.axes for text in panel.texts]
    assert "cables" in texts
    plt.close("all")


def test_the_live_board_gets_every_cable_within_its_frame(results: ResultSet, record: Record) -> None:
    feed = Feed(ResultSet(results.path))
    feed.look()
    sent = feed.layout(KEY)
    assert sent is not None
    left, bottom, width, height = sent["frame"]
    number, x, y = record.arrays["cable_points"]
    for cable, packed in enumerate(sent["cables"]):
        steps = np.frombuffer(base64.b64decode(packed), "<u2").reshape(-1, 2) / 65535
        drawn = np.array([left, bottom]) + steps * [width, height]
        mine = number == cable
        np.testing.assert_allclose(drawn, np.column_stack([x[mine], y[mine]]), atol=0.2)
    assert len(sent["cables"]) == 16


def test_geojson_has_cables_as_lines_and_substations_as_points(
    results: ResultSet, record: Record, tmp_path: Path
) -> None:
    export(results, "geojson", tmp_path / "out.geojson")
    back = Transformer.from_crs("OGC:CRS84", "EPSG:32631", always_xy=True)
    features = json.loads((tmp_path / "out.geojson").read_text())["features"]
    lines = [one for one in features if one["properties"]["kind"] == "cable"]
    stations = [one for one in features if one["properties"]["kind"] == "substation"]
    places = [back.transform(*one["geometry"]["coordinates"]) for one in stations]
    np.testing.assert_allclose(places, CABLES["substations"], rtol=0, atol=1e-3)
    for one, (lower, upper) in zip(lines, record.arrays["cable_ends"].tolist(), strict=True):
        said, drawn = one["properties"], [back.transform(*place) for place in one["geometry"]["coordinates"]]
        assert said["from_turbine"] == lower
        assert said.get("to_turbine", -1 - said.get("to_substation", 0)) == upper
        assert said["length_m"] == pytest.approx(shapely.LineString(drawn).length, abs=0.01)
        assert drawn[0] == pytest.approx(record.arrays["layout"][:, lower].tolist(), abs=1e-3)
