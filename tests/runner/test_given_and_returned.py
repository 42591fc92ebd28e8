"""What a user's function is given belongs to its task alone, and what cannot be stored is refused when returned."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from tests.runner.campaigns import equal, results
from tests.runner.misbehaving import campaign_of
from vindeby.runner import run
from vindeby.runner.failures import Kind
from vindeby.runner.methods.parameters import frozen
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.validate import validate

REFUSED = {
    "masked": "extra is a masked array",
    "masked inside": "extra is a masked array",
    "17 dimensions": "extra has 17 dimensions, and at most 16",
    "object": "extra is of type object",
    "structured": "extra is of type [('a', '<f8'), ('b', '<i4')]",
    "nan": "extra is not finite: nan at [1]",
    "long double": "array 'extra' has type float128",
    "reserved": "'checksum' cannot be the name of an array",
    "ragged": "extra cannot be made an array",
}
KEPT = {"16 dimensions", "subclass", "nothing", "read-only", "shared"}


def test_a_function_that_counts_in_its_parameters_gives_the_same_results_after_a_resume(
    tmp_path: Path,
) -> None:
    parameters = {"how": "behind its back", "factor": 1.0, "nested": {"list": [1.0]}}
    campaign = campaign_of("changing_parameters", 12, parameters, workers=1)
    assert run(campaign, tmp_path / "straight.h5").complete
    run(campaign, tmp_path / "resumed.h5", part="2/3")
    assert run(campaign, tmp_path / "resumed.h5").complete
    straight = results(tmp_path / "straight.h5")
    assert equal(straight, results(tmp_path / "resumed.h5"))
    added = [float(record.aep - 50.0 - record.ss_seed / 1000) for record in straight.values()]
    assert added == pytest.approx([3.0] * 12)


@pytest.mark.parametrize("how", ["item", "nested"])
def test_a_function_that_would_change_its_parameters_for_other_tasks_fails_and_is_told_why(
    how: str, tmp_path: Path
) -> None:
    parameters = {"how": how, "factor": 1.0, "nested": {"list": [1.0]}}
    summary = run(campaign_of("changing_parameters", 2, parameters), tmp_path / "out.h5")
    assert summary.failures == {Kind.EXCEPTION: 2}
    assert all(
        "TypeError: task.parameters cannot be changed" in failure.reason
        for failure in summary.failed.values()
    )


def test_frozen_parameters_are_plain_dictionaries_and_lists_for_everything_but_a_change() -> None:
    plain = {"a": {"b": [1, [2.5, {"c": None}]]}, "d": "text"}
    given = frozen(plain)
    assert given == plain
    assert isinstance(given, dict)
    assert isinstance(given["a"]["b"], list)
    assert json.loads(json.dumps(given)) == plain
    for copied in (copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert copied == plain
    changed = copy.deepcopy(given)
    changed["a"]["b"][1][1]["c"] = 3
    assert given == plain
    assert type({**given}) is dict
    assert given["a"]["b"] + [7] == [1, [2.5, {"c": None}], 7]


def test_what_cannot_be_stored_is_refused_when_it_is_returned_and_the_rest_is_merged(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    names = [*REFUSED, *sorted(KEPT)]
    extras = {str(seed): name for seed, name in enumerate(names)}
    summary = run(campaign_of("returning", len(names) + 3, {"extras": extras}), output)
    reasons = {names[int(key.rpartition("s")[2])]: failure for key, failure in summary.failed.items()}
    assert reasons.keys() == REFUSED.keys()
    for name, words in REFUSED.items():
        assert (reasons[name].kind, words in reasons[name].reason) == (Kind.INVALID, True), reasons[name]
    found = {name: results(output)[f"farm0_t0_s{names.index(name)}"] for name in KEPT}
    assert found["16 dimensions"].arrays["extra"].ndim == 16
    assert type(found["subclass"].arrays["extra"]) is np.ndarray
    assert found["nothing"].arrays["extra"].shape == (0, 3)
    assert np.array_equal(found["shared"].arrays["extra"], np.full(3, float(names.index("shared"))))
    merge(output, MergeOptions(file_format="table"))
    assert validate(output).valid
    assert len(results(output)) == len(KEPT) + 3
