"""Exports and pictures of results that are not of a campaign about wind, and of stored layouts with neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluation.stored import campaign, compute, evaluated
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.results.result_set import ResultSet


def score(task: Any) -> dict[str, Any]:
    return {"score": float(task.seed), "trace": np.arange(3.0), "layout": np.arange(6.0).reshape(2, 3)}


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    call = {"function": f"{__name__}:score", "returns": ["score", "trace", "layout"]}
    asked = Campaign.from_data({"name": "scores", "method": {"call": call}, "seeds": 2})
    return ResultSet(compute(asked, tmp_path_factory.mktemp("scores") / "scores.h5"))


@pytest.mark.parametrize("form", ["windio", "floris", "geojson"])
def test_a_function_without_wind_has_nothing_for_formats_of_wind(
    scores: ResultSet, tmp_path: Path, form: str
) -> None:
    with pytest.raises(ArgumentError, match="netcdf or zarr"):
        export(scores, form, tmp_path / "out", ExportOptions(crs="EPSG:32631"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_export_of_evaluations_says_that_neighbours_are_left_out(tmp_path: Path) -> None:
    source = compute(campaign(count=2, seeds=1), tmp_path / "layouts.h5")
    around = {"together": [{"farm": "farm b", "type": "small"}]}
    evaluated(source, tmp_path / "study.h5", farms="farm a", types="small", neighbours=around)
    told = export(ResultSet(tmp_path / "study.h5"), "windio", tmp_path / "out")
    assert any(note.startswith("stored layouts that stand around a farm") for note in told.chosen.notes)
