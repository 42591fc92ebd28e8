"""Layouts to start from: every form of the section, whose layout it is, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluation.stored import TYPES, campaign, compute, farms
from vindeby.assembly.starts import refuse_starts
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import write
from vindeby.campaign.starts import start_of
from vindeby.errors import ArgumentError, CampaignError
from vindeby.layout import Layout
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database

X, Y = [100.0, 700.0, 1400.0, 200.0, 1300.0], [100.0, 800.0, 100.0, 1400.0, 1400.0]
GIVEN = {"x": X, "y": Y}


def starting(start: Any = None, count: int = 1, **changes: Any) -> Campaign:
    return campaign(count, **{"method": "gradient", "start": start, "turbines": TYPES[:1]} | changes)


def written(folder: Path, start: str, method: str = "gradient", seeds: int = 2) -> Campaign:
    """A campaign file with a start, read with the files that it names."""
    data = starting(GIVEN).to_data() | {"seeds": seeds, "method": method, "run": {}}
    data.pop("start")
    data["start"] = "START"
    (folder / "c.yaml").write_text(
        write(data).replace("start: START", f"start: {start}" if start[:4] != "none" else start[5:])
    )
    return Campaign.load(folder / "c.yaml")


def places(
    found: Campaign, farm: int = 0, kind: int = 0, seed: int | None = 0
) -> tuple[list[float], list[float]]:
    cell = next(one for one in found.cells() if (one.farm_idx, one.type_idx) == (farm, kind))
    given = start_of(found, cell, seed)
    assert given is not None
    return list(given.x), list(given.y)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compute(campaign(2), tmp_path_factory.mktemp("older") / "older.h5")


def test_a_start_is_part_of_the_campaign_and_of_its_text() -> None:
    found = starting(GIVEN)
    assert places(found) == (X, Y)
    assert Campaign.loads(found.dumps()) == found


def test_the_start_decides_results_and_no_start_leaves_fingerprints_as_they_were() -> None:
    (first,) = {*starting(GIVEN, seeds=1).fingerprints().values()}
    moved = starting({"x": [*X[:4], 1300.5], "y": Y}, seeds=1)
    repaired = starting(GIVEN | {"repair": True}, seeds=1)
    without = campaign(1, method="auto", seeds=1)
    assert len({first, *moved.fingerprints().values(), *repaired.fingerprints().values()}) == 3
    assert without.to_data().get("start") is None
    cell = without.cells()[0]
    assert "start" not in str(cell)


def test_a_farm_has_a_start_of_its_own() -> None:
    own = [farms(2)[0], farms(2)[1] | {"start": {"x": [x + 2000.0 for x in X], "y": Y}}]
    found = starting(GIVEN, farms=own)
    assert places(found, 0) == (X, Y)
    assert places(found, 1)[0] == [x + 2000.0 for x in X]


def test_a_table_gives_the_layout(tmp_path: Path) -> None:
    rows = "\n".join(f"{x},{y}" for x, y in zip(X, Y, strict=True))
    (tmp_path / "ours.csv").write_text(f"x,y\n{rows}\n")
    found = written(tmp_path, "{file: ours.csv}")
    assert places(found) == (X, Y)
    assert found.start is not None
    assert found.start.source == "ours.csv"
    assert Campaign.loads(found.dumps()) == found


def test_a_table_gives_each_farm_its_layout_and_types(tmp_path: Path) -> None:
    rows = [f"{x},{y},farm a,small" for x, y in zip(X, Y, strict=True)]
    rows += [f"{x + 2000},{y},farm b,small" for x, y in zip(X, Y, strict=True)]
    (tmp_path / "ours.csv").write_text("\n".join(["x,y,farm,type", *rows]) + "\n")
    assert places(written(tmp_path, "{file: ours.csv}")) == (X, Y)
    assert places(written(tmp_path, "{file: ours.csv, farms: {farm a: farm b}}"))[0] == [
        x + 2000.0 for x in X
    ]
    with pytest.raises(CampaignError, match="none of them for farm 'farm a'"):
        written(tmp_path, "{file: ours.csv, farms: {farm a: farm c}}")
    (tmp_path / "ours.csv").write_text("x,y,type\n1000,2000,large\n")
    with pytest.raises(CampaignError, match=r"ours\.csv:2: start\.file: names a type that is not described"):
        written(tmp_path, "{file: ours.csv}")


def test_a_windio_file_gives_the_layout(tmp_path: Path) -> None:
    (tmp_path / "only.yaml").write_text(f"coordinates: {{x: {X}, y: {Y}}}\n")
    (tmp_path / "farm.yaml").write_text(f"name: plant\nlayouts:\n  - coordinates: {{x: {X}, y: {Y}}}\n")
    for name in ("only.yaml", "farm.yaml"):
        assert places(written(tmp_path, f"{{file: {name}}}")) == (X, Y)


def test_geojson_points_give_the_layout(tmp_path: Path) -> None:
    pytest.importorskip("pyproj")
    points = ",".join(
        f'{{"type":"Feature","properties":{{}},"geometry":{{"type":"Point","coordinates":[{x},{y}]}}}}'
        for x, y in zip(X, Y, strict=True)
    )
    crs = '"crs":{"type":"name","properties":{"name":"EPSG:25832"}}'
    (tmp_path / "ours.geojson").write_text(f'{{"type":"FeatureCollection",{crs},"features":[{points}]}}')
    found = written(tmp_path, "{file: ours.geojson}\ncrs: EPSG:25832")
    assert np.allclose(places(found), (X, Y), atol=1e-3)


def test_a_database_gives_the_best_the_same_or_one_seed(database: Path, tmp_path: Path) -> None:
    with Database(database) as opened:
        stored = {seed: opened[f"farm0_t0_s{seed}"] for seed in (0, 1)}
    best = max(stored, key=lambda seed: float(stored[seed].arrays["aep"]))
    asked = {
        "seeds: best": (best, best),
        "seeds: same": (0, 1),
        "seeds: 1": (1, 1),
        "repair: false": (best, best),
    }
    marks = set()
    for text, expected in asked.items():
        found = written(tmp_path, f"{{database: {database}, {text}}}")
        for seed, stored_seed in enumerate(expected):
            assert places(found, seed=seed) == tuple(stored[stored_seed].arrays["layout"].tolist())
        marks.add(tuple(found.fingerprints().values()))
        assert Campaign.loads(found.dumps()).fingerprints() == found.fingerprints()
    assert len(marks) == 3


def test_seeds_of_their_own_starts_keep_their_fingerprints_when_seeds_are_added(
    database: Path, tmp_path: Path
) -> None:
    one, two = (written(tmp_path, f"{{database: {database}, seeds: same}}", seeds=seeds) for seeds in (1, 2))
    assert one.fingerprints().items() <= two.fingerprints().items()


def test_other_names_are_mapped(database: Path, tmp_path: Path) -> None:
    found = written(tmp_path, f"{{database: {database}, farms: {{farm a: farm b}}, types: {{small: table}}}}")
    assert found.start is not None
    (layout,) = found.start.layouts
    assert (layout.farm, layout.turbine) == ("farm a", "small")
    assert min(layout.x) >= 2000.0  # of farm b


def test_starts_are_values_of_an_axis(database: Path, tmp_path: Path) -> None:
    (tmp_path / "ours.csv").write_text("\n".join(["x,y", *(f"{x},{y}" for x, y in zip(X, Y, strict=True))]))
    values = f"{{ours: {{file: ours.csv}}, older: {{database: {database}}}, none: none}}"
    found = written(tmp_path, f"none\nvary:\n  start: {values}", method="auto", seeds=1)
    assert [variant.start is None for variant in found.variants] == [False, False, True]
    assert places(found.variants[0]) == (X, Y)
    alone = written(tmp_path, "{file: ours.csv}", method="auto", seeds=1)
    assert [*alone.fingerprints().values()] == [found.cells()[0].fingerprint(0)]
    refuse_starts(found)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"x": [*X[:4], float("nan")], "y": Y}, "start.x[4]: must be a finite number"),
        ({"x": [*X, 1.0], "y": Y}, "has 5 entries, but x has 6"),
        ({"x": X}, "start.y: is missing"),
        ({"x": [0.0] * 1_000_000, "y": [0.0] * 1_000_000}, "at most 10000 entries, but has 1000000"),
        ({"x": [], "y": []}, "at least 1 entries"),
        ({"x": [*X[:4], 1e300], "y": Y}, "start.x[4]: is farther than 1e+08 m"),
        (GIVEN | {"type": "nosuch"}, "there is no type 'nosuch'"),
        ({"layouts": [GIVEN | {"farm": "nosuch"}]}, "there is no farm 'nosuch'"),
        ({"layouts": [GIVEN | {"seed": 0}]}, "no layout for farm 'farm a' with type 'small' and seed 1"),
        ({"database": "older.h5"}, "start.database: is not a known key"),
        (
            GIVEN | {"seed": 3},
            "start.seed: is not a known key (got 3); did you mean 'seeds'? known here: database,",
        ),
        (GIVEN | {"fiel": "a.csv"}, "start.fiel: is not a known key (got 'a.csv'); did you mean 'file'?"),
    ],
)
def test_what_is_no_layout_is_refused(start: dict[str, Any], words: str) -> None:
    with pytest.raises(CampaignError) as refused:
        starting(start)
    assert words in str(refused.value.problems[0]) + str(refused.value)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ({"x": [*X[:4], 1600.0], "y": Y}, ("turbine 4 by 100 m", "at (1600, 1400)")),
        (
            {"x": [*X[:4], 101.0], "y": [*Y[:4], 100.0]},
            ("turbines 0 and 4 are 1 m apart", "must be 240 m", "(100, 100)"),
        ),
        ({"x": X[:4], "y": Y[:4]}, ("has 4 turbines", "asks for 5")),
    ],
)
def test_a_start_that_is_not_allowed_is_refused_with_turbine_place_and_distance(
    layout: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(CampaignError) as refused:
        refuse_starts(starting(layout))
    assert all(word in str(refused.value) for word in ("start", "farm 'farm a' with type 'small'", *words))


def test_a_start_in_an_exclusion_is_refused() -> None:
    (farm,) = farms(1)
    farm["boundary"] = {
        "polygon": farm["boundary"],
        "exclusions": [{"circle": {"center": [700, 800], "radius_m": 50}}],
    }
    with pytest.raises(CampaignError, match=r"turbine 1 by 50 m, at \(700, 800\)"):
        refuse_starts(starting(GIVEN, farms=[farm]))


def test_a_farm_that_mixes_types_needs_to_know_them() -> None:
    mixed = {"turbines": TYPES, "mix": {"small": 2, "table": 3}, "n_turbines": None}
    data = {
        key: value
        for key, value in (starting(GIVEN, turbines=TYPES).to_data() | mixed).items()
        if value is not None
    }
    with pytest.raises(CampaignError, match="does not say which turbine is of which type"):
        Campaign.from_data(data)
    data["start"] = GIVEN | {"type": ["small", "small", "small", "table", "table"]}
    with pytest.raises(CampaignError, match="has 3 turbines of type 'small', but the mix asks for 2"):
        refuse_starts(Campaign.from_data(data))
    data["start"] = GIVEN | {"type": ["small", "small", "table", "table", "table"]}
    refuse_starts(Campaign.from_data(data))


def test_a_first_step_that_makes_a_layout_is_refused_beside_a_start() -> None:
    with pytest.raises(CampaignError, match=r"method\[0\]: begins with random-start, .* start gives one"):
        starting(GIVEN, method="random-start")
    own = [farms(1)[0] | {"start": GIVEN}]
    with pytest.raises(CampaignError, match=r"begins with lattice, .* farms\[0\]\.start gives one"):
        starting(None, farms=own, method="lattice")
    with pytest.raises(CampaignError, match="begins with gradient, which needs a layout"):
        starting(None, farms=[*own, farms(2)[1]])
    assert starting(None, farms=[*own, farms(2)[1]], method="auto").total_configs == 4


def test_files_that_hold_no_layout_are_refused(database: Path, tmp_path: Path) -> None:
    rows = "\n".join(f"{x},{y}" for x, y in zip(X, Y, strict=True))
    (tmp_path / "nan.csv").write_text(f"x,y\n{rows}\nnan,3\n")
    (tmp_path / "column.csv").write_text("x\n" + "\n".join(map(str, X)) + "\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "damaged.h5").write_bytes(database.read_bytes()[:3000])
    (tmp_path / "text.h5").write_text("this is text")
    (tmp_path / "farm.yaml").write_text("name: none\n")
    for start, words in {
        "{file: nan.csv}": ("nan.csv", ":7"),
        "{file: column.csv}": ("column.csv", "start.file"),
        "{file: empty.csv}": ("empty.csv", "start.file", "has no rows"),
        "{file: nosuch.csv}": ("start.file", "no such file"),
        "{file: farm.yaml}": ("farm.yaml", "no layout"),
        "{file: nan.csv, database: a.h5}": ("start.database", "is given beside file"),
        "{file: nan.csv, x: [1]}": ("start.x", "is given beside file"),
        "{file: nan.csv, seeds: best}": ("start.seeds", "is for a database"),
        "{seeds: best, x: [1], y: [1]}": ("start.seeds", "is not a known key"),
        "{database: nosuch.h5}": ("start.database", "nosuch.h5"),
        "{database: damaged.h5}": ("start.database", "damaged.h5"),
        "{database: text.h5}": ("start.database", "text.h5"),
        f"{{database: {database}, seeds: worst}}": ("start.seeds", "write best, same"),
        f"{{database: {database}, seeds: 7}}": ("start.database", "seed 7", "is not a task"),
        f"{{database: {database}, farms: {{farm a: nowhere}}}}": (
            "start.database",
            "no farm 'nowhere'",
            "farm a, farm b",
        ),
        f"{{database: {database}, farms: {{nosuch: farm a}}}}": ("start.farms", "nosuch"),
        f"{{database: {database}, types: {{small: large}}}}": (
            "start.database",
            "no type large",
            "small, table",
        ),
    }.items():
        with pytest.raises(CampaignError) as refused:
            written(tmp_path, start)
        assert len(refused.value.problems) == 1, start
        assert all(word in str(refused.value) for word in words), (start, str(refused.value))


def test_a_database_that_is_being_written_is_refused(database: Path, tmp_path: Path) -> None:
    with (
        RunDirectory(database).lock("run"),
        pytest.raises(CampaignError, match="is being written by process"),
    ):
        written(tmp_path, f"{{database: {database}}}")
    assert written(tmp_path, f"{{database: {database}}}").start is not None


def test_python_takes_arrays_layouts_and_tables() -> None:
    class Frame(dict[str, Any]):
        """A table with columns, as pandas has."""

    plain = campaign(1, turbines=TYPES[:1])
    given: list[Any] = [
        (X, Y),
        np.array([X, Y]),
        Layout.of(X, Y),
        {"x": X, "y": Y},
        Frame(x=np.array(X), y=np.array(Y)),
    ]
    expected = starting(GIVEN).fingerprints()
    assert all(plain.with_start(layout, "gradient").fingerprints() == expected for layout in given)
    two = campaign(2, turbines=TYPES[:1]).with_start(
        {"x": X + [x + 2000.0 for x in X], "y": Y * 2, "farm": ["farm a"] * 5 + ["farm b"] * 5}, "gradient"
    )
    assert places(two, 1)[0] == [x + 2000.0 for x in X]
    for wrong in ((X,), {"x": X}, 5, "x", (1, 2), {"x": 1, "y": 2}):
        with pytest.raises(ArgumentError, match="the layout has no x and y"):
            plain.with_start(wrong, "gradient")
    with pytest.raises(CampaignError, match="must be a finite number"):
        plain.with_start((X, [*Y[:4], np.nan]), "gradient")
