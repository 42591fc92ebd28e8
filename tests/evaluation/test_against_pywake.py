"""Powers of evaluated layouts beside PyWake's, which is given all turbines that stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.evaluation.stored import TYPES, evaluated, results, series
from vindeby.store.format.record import Record

pytestmark = pytest.mark.oracle

RATED_W = (2e6, 4e6)


def pywake_power(
    source: Path,
    record: Record,
    site: dict[str, Any],
    neighbours: list[str],
    *,
    passive: bool = False,
) -> npt.NDArray[np.float64]:
    """Power of the record's turbines; ``passive``: evaluated one by one, each alone among the neighbours."""
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.site import UniformSite
    from py_wake.wind_turbines import WindTurbine, WindTurbines
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine
    from py_wake.wind_turbines.power_ct_functions import PowerCtTabular

    table: Any = TYPES[1]["table"]
    curve = PowerCtTabular(table["wind_speed"], np.array(table["power_kw"]) * 1e3, "W", table["ct"])
    machines = WindTurbines.from_WindTurbine_lst(
        [GenericWindTurbine("", 80, 70, 2000), WindTurbine("", 120, 100, curve)]
    )
    farm = Nygaard_2022(UniformSite([1.0], 0.1), machines)
    stored, wind = results(source), site["time_series"]
    own, kind = (
        record.arrays["layout"],
        int(stored[str(record.attributes["layout_key"])].attributes["type_idx"]),
    )
    others = [stored[key] for key in neighbours]
    x, y = np.concatenate([np.empty((2, 0)), *(one.arrays["layout"] for one in others)], axis=1)
    types = [int(one.attributes["type_idx"]) for one in others for _ in range(5)]
    groups = [[index] for index in range(own.shape[1])] if passive else [list(range(own.shape[1]))]
    found = []
    for group in groups:
        power = farm(
            np.append(own[0, group], x),
            np.append(own[1, group], y),
            type=[kind] * len(group) + types,
            wd=wind["wind_direction"],
            ws=wind["wind_speed"],
            TI=wind["turbulence_intensity"],
            time=True,
        ).Power.values
        found.append(power[: len(group)])
    return np.concatenate(found)


def test_power_among_nine_neighbours_is_pywakes(source: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [
        {
            "combination": c,
            "farm": f"farm {chr(ord('a') + f)}",
            "type": TYPES[(c + f) % 2]["name"],
            "seed": (c + f) % 2,
        }
        for c in range(6)
        for f in range(1, 10)
        if rng.random() < 0.6
    ]
    site = series(21)  # with as many steps as turbines, PyWake would take turbulence for that of each turbine
    records = evaluated(
        source,
        tmp_path / "study.h5",
        farms="farm a",
        types="table",
        seeds=1,
        site=site,
        neighbours={"table": rows},
        internal_wakes="both",
        output="power",
    )
    assert [record.attributes["neighbours"] for record in records] == [str(c) for c in range(6)]
    for record in records[::2]:
        neighbours = str(record.attributes["neighbour_layouts"]).split(", ")
        theirs = pywake_power(source, record, site, neighbours)
        assert np.abs(record.power - theirs).max() < 1e-5 * RATED_W[1]
        assert record.aep == pytest.approx(theirs.mean(axis=1).sum() * 8760 / 1e9, rel=1e-6)
        external = pywake_power(source, record, site, neighbours, passive=True)
        assert np.abs(record.power_external - external).max() < 1e-5 * RATED_W[1]
        assert record.aep_external == pytest.approx(external.mean(axis=1).sum() * 8760 / 1e9, rel=1e-6)
        assert record.aep_external > record.aep


def test_a_neighbour_stands_from_its_date_on(source: Path, tmp_path: Path) -> None:
    site = series(22, times=True)
    rows = [
        {"farm": "farm b", "type": "small", "seed": 0, "from": "2020-01-13"},
        {"farm": "farm d", "type": "table", "seed": 1, "from": "2020-01-06T00:00"},
        {"farm": "farm e", "type": "small", "seed": 1, "from": "2021-01-01"},
    ]
    (record,) = evaluated(
        source,
        tmp_path / "study.h5",
        farms="farm a",
        types="small",
        seeds=0,
        site=site,
        neighbours={"together": rows},
        output="power",
        power_type="float64",
    )
    standing: list[list[str]] = [[], ["farm3_t1_s1"], ["farm3_t1_s1", "farm1_t0_s0"]]
    for steps, keys in zip((slice(0, 5), slice(5, 12), slice(12, 22)), standing, strict=True):
        theirs = pywake_power(source, record, site, keys)
        assert np.abs(record.power - theirs)[:, steps].max() < 1e-5 * RATED_W[0]
    assert np.abs(record.power - pywake_power(source, record, site, []))[:, 12:].max() > 0.01 * RATED_W[0]
