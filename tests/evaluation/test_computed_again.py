"""``validate --deep`` of an evaluation: its results are computed again, as those of any campaign are."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import vindeby
from tests.evaluation.stored import PLACE, asked_of, campaign, compute, results, series
from vindeby.assembly.evaluation import EvaluationCheck
from vindeby.errors import DataError

GIVEN: dict[str, Any] = {
    "farms": "farm a",
    "types": "small",
    "site": series(12),
    "neighbours": {"one_by_one": [{"farm": "farm b", "type": "small"}]},
    "internal_wakes": "both",
    "output": "power",
}


@pytest.mark.slow
def test_evaluations_are_computed_again(tmp_path: Path) -> None:
    source = compute(campaign(2), tmp_path / "layouts.h5")
    asked = asked_of(source, **GIVEN)
    output = compute(asked, tmp_path / "study.h5")
    done = vindeby(tmp_path, "validate", "study.h5", "--deep")
    assert (done.returncode, done.stdout) == (0, "study.h5: valid: 2 records in 1 file\n")

    check, found = EvaluationCheck(asked, output), results(output)
    assert [text for record in found.values() for text in check(record)] == []
    (first, *_) = found.values()
    for name, array in first.arrays.items():
        wrong = replace(first, arrays={**first.arrays, name: np.asarray(array) * 1.001 + 0.001})
        assert list(check(wrong)) == [f"{name} is not what its layout gives"]
    lacking = replace(
        first, arrays={name: array for name, array in first.arrays.items() if name != "loss_total"}
    )
    assert list(check(lacking)) == ["loss_total is not what its layout gives"]

    moved = shutil.move(source, tmp_path / "elsewhere.h5")
    shutil.rmtree(tmp_path / "layouts.h5.run", ignore_errors=True)
    done = vindeby(tmp_path, "validate", "study.h5", "--deep")
    words = "2 not computed again (without the layouts of layouts.h5)"
    assert (done.returncode, done.stdout) == (0, f"study.h5: valid: 2 records in 1 file, {words}\n")
    assert moved


def test_the_best_layouts_of_all_combinations_are_evaluated_whatever_they_started_from(
    tmp_path: Path,
) -> None:
    other = {"call": {**PLACE["call"], "parameters": {"other": 1}}}
    start = {"x": [100.0, 700.0, 1400.0, 200.0, 1300.0], "y": [100.0, 800.0, 100.0, 1400.0, 1400.0]}
    asked = campaign(1, vary={"method": {"one": PLACE, "two": other}}, start=start)
    source = compute(asked, tmp_path / "layouts.h5")
    found = results(source)
    best = max((key for key in found if "_t0_" in key), key=lambda key: float(found[key].arrays["aep"]))
    (record,) = results(compute(asked_of(source, types="small"), tmp_path / "study.h5")).values()
    assert record.attributes["layout_key"] == best
    assert "aep_start" not in record.attributes
    with pytest.raises(DataError, match="several combinations, of which only best"):
        asked_of(source, types="small", seeds=0)
