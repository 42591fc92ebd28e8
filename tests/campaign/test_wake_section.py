from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.broken_wake_models import BROKEN_WAKE_MODELS
from tests.campaign.examples import changed
from tests.campaign.test_broken_files import check
from vindeby.campaign import Campaign
from vindeby.campaign.sections.wake_model import WakeSection


def test_a_method_that_does_not_suit_the_wake_model_gets_status_2(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(str(BROKEN_WAKE_MODELS["gradient with a model that has none"].text))

    done = check(path)

    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("vindeby: broken.yaml:35:"), done.stderr


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({"jensen": {"k": 0.05}}, {"jensen": {"k": 0.05, "induction": "madsen", "rotor": "overlap"}}),
        ("turbopark-2020", {"turbopark-2020": {"a": 0.6}}),
    ],
)
def test_defaults_that_are_written_out_leave_the_fingerprint_as_it_is(plain: object, said: object) -> None:
    one, other = (Campaign.from_data(changed("wake", wake)) for wake in (plain, said))
    assert one.fingerprints() == other.fingerprints()


@pytest.mark.parametrize(
    ("part", "plain", "beside_null"),
    [
        ("wake", {"jensen": {"k": 0.05}}, {"jensen": {"k": 0.05}, "iea37": None}),
        ("wake", "nygaard-2022", {"nygaard-2022": {}, "floris": None}),
        ("wake", "jensen", {"jensen": None}),
        ("method.1", "gradient", {"gradient": {}, "annealing": None}),
        ("method.1", "gradient", {"gradient": None}),
    ],
)
def test_null_beside_an_alternative_stands_for_nothing(part: str, plain: object, beside_null: object) -> None:
    one, other = (Campaign.from_data(changed(part, value)) for value in (plain, beside_null))
    assert one.fingerprints() == other.fingerprints()


def test_null_beside_a_wake_model_is_taken_from_python_too() -> None:
    assert WakeSection(jensen={"k": 0.05}, iea37=None) == WakeSection(jensen={"k": 0.05})


@pytest.mark.parametrize(
    "wake",
    [
        {"jensen": {"k": 0.05, "induction": "momentum"}},
        {"jensen": {"k": 0.05, "rotor": "centre"}},
        {"jensen": {"k": 0.05}, "blockage": "self-similar-2020"},
    ],
)
def test_every_option_of_a_wake_model_changes_the_fingerprint_and_survives_storing(wake: object) -> None:
    plain = Campaign.from_data(changed("wake", {"jensen": {"k": 0.05}}))
    campaign = Campaign.from_data(changed("wake", wake))
    assert campaign.fingerprints() != plain.fingerprints()
    assert Campaign.loads(campaign.dumps()).fingerprints() == campaign.fingerprints()
