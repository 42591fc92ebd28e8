"""Stored layouts evaluated by PyWake itself, as the engine of a campaign."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.evaluation.stored import evaluated, series
from tests.evaluation.test_against_pywake import RATED_W, pywake_power


def test_stored_layouts_can_be_evaluated_by_pywake(source: Path, tmp_path: Path) -> None:
    site = series(9)
    (record,) = evaluated(
        source,
        tmp_path / "study.h5",
        farms="farm a",
        types="table",
        seeds=1,
        site=site,
        wake={"pywake": "py_wake.literature:Nygaard_2022"},
        neighbours={"together": [{"farm": "farm b", "type": "small", "seed": 0}]},
        internal_wakes="both",
        output="power",
        power_type="float64",
    )
    neighbours = str(record.attributes["neighbour_layouts"]).split(", ")
    assert len(neighbours) == 1
    theirs = pywake_power(source, record, site, neighbours)
    assert np.abs(record.power - theirs).max() < 1e-9 * RATED_W[1]
    external = pywake_power(source, record, site, neighbours, passive=True)
    assert np.abs(record.power_external - external).max() < 1e-9 * RATED_W[1]
    assert record.aep_external > record.aep
