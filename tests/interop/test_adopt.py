"""The run of an older script becomes a run of vindeby: what is right is taken, the rest is listed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest

from tests.campaign.examples import small
from tests.interop.script_files import bytes_of, crashed_run, cut, write_group, write_worker
from tests.runner.campaigns import results
from vindeby.assembly.physics import CampaignCheck
from vindeby.campaign import Campaign
from vindeby.errors import BusyError, InputError
from vindeby.interop.adopt import AdoptReport, adopt
from vindeby.runner import run
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow


class Undisturbed(NamedTuple):
    """A campaign, and what vindeby computes for it when nothing goes wrong."""

    campaign: Campaign
    records: list[Record]

    def energy_gwh(self, record: Record) -> float:
        found = CampaignCheck(self.campaign).energy_gwh(record)
        assert found is not None
        return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    data = small()
    data.update(
        farms=data["farms"][:1],
        turbines=data["turbines"][:1],
        method="random-start",
        seeds=16,
        run={"workers": 1},
    )
    campaign = Campaign.from_data(data)
    output = tmp_path_factory.mktemp("undisturbed") / "layouts.h5"
    assert run(campaign, output).complete
    found = results(output)
    return Undisturbed(campaign, [found[task.key] for task in campaign.tasks()])


def same_results(output: Path, expected: list[Record]) -> None:
    """Every layout to the bit, and every energy to the last digits of a sum in another order."""
    found = results(output)
    assert sorted(found) == sorted(record.key for record in expected)
    for record in expected:
        assert np.array_equal(found[record.key].arrays["layout"], record.arrays["layout"])
        assert found[record.key].aep == pytest.approx(float(record.aep), rel=1e-12)


def adopted(tmp_path: Path, given: Undisturbed, *, recompute_aep: bool = False) -> AdoptReport:
    return adopt([tmp_path / "t"], tmp_path / "o.h5", given.campaign, recompute_aep=recompute_aep)


def one_group(tmp_path: Path, record: Record, **changes: Any) -> None:
    (tmp_path / "t").mkdir()
    write_worker(tmp_path / "t" / "worker_1.h5", [record], **changes)


def test_a_crashed_run_is_adopted_completed_and_equal_to_an_undisturbed_one(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    campaign, records = undisturbed
    temporary, output, merged = crashed_run(tmp_path, records), tmp_path / "new.h5", tmp_path / "layouts.h5"
    before, partial = bytes_of(temporary), merged.read_bytes()
    report = adopt([temporary, merged], output, campaign)
    assert (bytes_of(temporary), merged.read_bytes()) == (before, partial)
    found = results(output)
    sure = {0, 1, 2, 3, 8, 9, 10, 11, 12}  # of files that were cut, some
    assert {record.key for number, record in enumerate(records) if number in sure} <= found.keys()
    assert report.adopted == len(found) == report.total - len(report.missing) < 16
    assert {Path(one.file).name for one in report.left_out} <= {"layouts.h5", "worker_105.h5"}  # those cut
    origins = {key: record.attributes["aep_origin"] for key, record in found.items()}
    anew = {key for key, origin in origins.items() if origin == "recomputed"}
    assert {records[number].key for number in (2, 3, 10, 11)} == anew & {records[n].key for n in sure}
    told = {Path(one.path).name: " ".join(one.findings) for one in report.files}
    assert told["worker_102.h5"] == "empty (0 bytes)"
    assert told["worker_103.h5"] == "holds no results"
    assert "truncated" in told["worker_105.h5"]
    assert "left open by a writer" in told["worker_106.h5"]
    assert "no HDF5 signature" in told["worker_107.h5"]

    summary = run(campaign, output)
    assert (summary.complete, summary.done) == (True, 16 - len(found))
    same_results(output, records)
    assert validate(output, expected=campaign.fingerprints()).valid
    again = adopt([temporary], output, campaign)
    assert (again.complete, again.adopted) == (True, 0)
    same_results(output, records)


def test_every_adopted_record_says_where_it_comes_from(tmp_path: Path, undisturbed: Undisturbed) -> None:
    record = undisturbed.records[3]
    one_group(tmp_path, record, aep=0.0, note="by hand")
    adopted(tmp_path, undisturbed)
    attributes = results(tmp_path / "o.h5")[record.key].attributes
    path = tmp_path / "t" / "worker_1.h5"
    expected = {
        "adopted_file": str(path),
        "adopted_group": record.key,
        "adopted_size": path.stat().st_size,
        "aep_origin": "recomputed",
        "origin": "salvaged",
        "note": "by hand",
        "farm": "north",
        "turbine": "five",
        "ss_seed": 3,
    }
    assert expected.items() <= attributes.items()
    assert len(str(attributes["adopted_sha256"])) == 64


def test_a_stored_energy_near_the_computed_one_is_kept_and_passes_a_deep_look(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    record = undisturbed.records[0]
    stored = float(record.aep) * 0.9995
    one_group(tmp_path, record, aep=stored)
    report = adopted(tmp_path, undisturbed)
    assert (report.adopted, report.changed) == (1, {})
    found = results(tmp_path / "o.h5")[record.key]
    assert (float(found.aep), found.attributes["aep_origin"]) == (stored, "stored")
    deep = CampaignCheck(undisturbed.campaign, deep=True)
    assert list(deep(found)) == []
    computed = Record(record.key, record.fingerprint, dict(found.arrays), dict(found.attributes))
    assert [
        text for text in deep(computed) if "but the layout gives" in text
    ]  # what vindeby computed is exact


@pytest.mark.parametrize("factor", [0.998, 1.002, -1.0])
def test_another_stored_energy_is_doubtful_and_adopted_only_with_an_option(
    factor: float, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    record = undisturbed.records[0]
    stored = float(record.aep) * factor
    one_group(tmp_path, record, aep=stored)
    report = adopted(tmp_path, undisturbed)
    assert (report.adopted, report.complete, report.unanswered) == (0, False, 1)
    (left,) = report.left_out
    assert f"({factor - 1:+.3%})" in left.reason
    assert not (tmp_path / "o.h5").exists()
    assert adopted(tmp_path, undisturbed, recompute_aep=True).adopted == 1
    found = results(tmp_path / "o.h5")[record.key]
    assert found.aep == pytest.approx(float(record.aep), rel=1e-12)
    assert found.attributes["stated_aep"] == stored


def _outside(layout: Any) -> Any:
    return np.concatenate([layout[:, :1] + [[90_000.0], [0.0]], layout[:, 1:]], axis=1)


def _too_close(layout: Any) -> Any:
    return np.concatenate([layout[:, 1:2] + 1.0, layout[:, 1:]], axis=1)


BAD: list[tuple[Callable[[Any], Any], dict[str, Any], str]] = [
    (_outside, {}, "outside"),
    (_too_close, {}, "m apart, but must be"),
    (lambda layout: layout[:, 1:], {"n_turbines": 5}, "has 5 turbines, but the campaign asks for 6"),
    (lambda layout: layout, {"n_turbines": 5}, "n_turbines is 5, but the layout has 6"),
    (lambda layout: layout, {"diameter": 127.0}, "diameter is 127.0"),
    (lambda layout: layout, {"ss_seed": 4}, "its attribute ss_seed is 4, but its name says 0"),
    (lambda layout: layout.ravel(), {}, "not (2, n)"),
]


@pytest.mark.parametrize(("change", "attributes", "reason"), BAD)
def test_a_record_that_is_no_result_of_the_campaign_is_left_out_with_the_reason(
    change: Callable[[Any], Any],
    attributes: dict[str, Any],
    reason: str,
    tmp_path: Path,
    undisturbed: Undisturbed,
) -> None:
    record = undisturbed.records[0]
    one_group(tmp_path, record, layout=change(record.arrays["layout"]), aep=0.0, **attributes)
    report = adopted(tmp_path, undisturbed, recompute_aep=True)
    assert (report.adopted, report.unanswered, len(report.missing)) == (0, 1, 16)
    assert reason in report.left_out[0].reason
    kept = json.loads(Path(report.path).read_text())
    assert kept["left_out"][0]["reason"] == report.left_out[0].reason


def test_a_configuration_that_the_campaign_does_not_have_is_left_out(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    (tmp_path / "t").mkdir()
    with h5py.File(tmp_path / "t" / "w.h5", "w") as file:
        write_group(file, undisturbed.records[0])
        file.move("farm0_t0_s0", "farm7_t0_s0")
        write_group(file, undisturbed.records[1])
        file.move("farm0_t0_s1", "farm00_t0_s001")
        write_group(file, undisturbed.records[2])
        file.move("farm0_t0_s2", "best")
    report = adopted(tmp_path, undisturbed)
    assert [one.reason for one in report.left_out] == ["the campaign has no configuration farm7_t0_s0"]
    assert sorted(results(tmp_path / "o.h5")) == [
        "farm0_t0_s1",
        "farm0_t0_s2",
    ]  # by number, and by attributes


def test_a_layout_stored_as_rows_of_points_is_transposed(tmp_path: Path, undisturbed: Undisturbed) -> None:
    record = undisturbed.records[0]
    one_group(tmp_path, record, layout=record.arrays["layout"].T)
    report = adopted(tmp_path, undisturbed)
    assert report.adopted == 1
    assert "layout transposed: 1" in str(report)
    found = results(tmp_path / "o.h5")[record.key]
    assert np.array_equal(found.layout, record.layout)
    assert found.attributes["adopted_layout"] == "transposed"


def test_the_first_good_record_of_a_key_wins_and_others_are_said(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    first, second, other = undisturbed.records[:3]
    (tmp_path / "t").mkdir()
    for number, layout in enumerate([_outside(first.layout), first.layout, first.layout, other.layout]):
        path = tmp_path / "t" / f"worker_{number}.h5"
        write_worker(path, [first], layout=layout, aep=0.0)
    write_worker(tmp_path / "t" / "worker_9.h5", [second])
    report = adopted(tmp_path, undisturbed)
    assert (report.adopted, report.unanswered) == (2, 0)
    assert [Path(one.file).name for one in report.left_out] == ["worker_0.h5", "worker_3.h5"]
    assert "another layout than the one adopted from" in report.left_out[1].reason
    assert [one.duplicates for one in report.files] == [0, 0, 1, 1, 0]
    assert np.array_equal(results(tmp_path / "o.h5")[first.key].layout, first.layout)


def test_what_a_run_has_computed_already_stays(tmp_path: Path, undisturbed: Undisturbed) -> None:
    campaign, records = undisturbed
    part = Campaign.from_data(campaign.to_data() | {"seeds": 2})
    run(part, tmp_path / "o.h5")
    before = results(tmp_path / "o.h5")
    (tmp_path / "t").mkdir()
    write_worker(tmp_path / "t" / "worker_1.h5", records[1:4])
    report = adopted(tmp_path, undisturbed)
    assert (report.adopted, report.there_already, len(report.missing)) == (2, 1, 12)
    after = results(tmp_path / "o.h5")
    assert {key: after[key] for key in before} == before
    assert sorted(after) == sorted(record.key for record in records[:4])


def test_invalid_results_that_were_salvaged_before_are_replaced(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    from vindeby.store.salvage import salvage

    record = undisturbed.records[0]
    one_group(tmp_path, record, aep=0.0)
    salvage([tmp_path / "t"], tmp_path / "o.h5")
    assert adopted(tmp_path, undisturbed).adopted == 1
    found = results(tmp_path / "o.h5")
    assert found[record.key].aep == pytest.approx(float(record.aep), rel=1e-12)


def test_nothing_is_adopted_while_a_run_holds_the_lock(tmp_path: Path, undisturbed: Undisturbed) -> None:
    one_group(tmp_path, undisturbed.records[0])
    directory = RunDirectory(tmp_path / "o.h5").create()
    with directory.lock("run"), pytest.raises(BusyError):
        adopted(tmp_path, undisturbed)
    assert not (tmp_path / "o.h5").exists()
    assert adopted(tmp_path, undisturbed).adopted == 1


def test_a_database_of_another_campaign_or_program_is_refused_and_left(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    campaign, records = undisturbed
    one_group(tmp_path, records[0])
    write_worker(tmp_path / "o.h5", records[:1])
    before = (tmp_path / "o.h5").read_bytes()
    with pytest.raises(InputError, match=r"vindeby did not make this file.*choose another name with -o"):
        adopted(tmp_path, undisturbed)
    assert (tmp_path / "o.h5").read_bytes() == before
    data = campaign.to_data() | {"name": "other"}
    data["farms"][0] |= {"name": "west", "boundary": [[0, 0], [9000, 0], [9000, 9000], [0, 9000]]}
    adopt([tmp_path / "t"], tmp_path / "p.h5", campaign)
    with pytest.raises(InputError, match="shares nothing"):
        adopt([tmp_path / "t"], tmp_path / "p.h5", Campaign.from_data(data))


def test_a_folder_without_files_is_refused(tmp_path: Path, undisturbed: Undisturbed) -> None:
    (tmp_path / "t").mkdir()
    with pytest.raises(InputError, match="there are no HDF5 files"):
        adopted(tmp_path, undisturbed)
    with pytest.raises(InputError, match="no such file or folder"):
        adopt([tmp_path / "nowhere"], tmp_path / "o.h5", undisturbed.campaign)


def test_a_cut_file_never_gives_a_wrong_layout(tmp_path: Path, undisturbed: Undisturbed) -> None:
    right = {record.key: record.arrays["layout"] for record in undisturbed.records}
    for number, share in enumerate((0.3, 0.6, 0.9)):
        folder = tmp_path / f"t{number}"
        folder.mkdir()
        cut(write_worker(folder / "worker_1.h5", undisturbed.records), share)
        report = adopt([folder], tmp_path / f"o{number}.h5", undisturbed.campaign)
        if report.adopted:
            with Database(tmp_path / f"o{number}.h5") as database:
                assert all(np.array_equal(database[key].layout, right[key]) for key in database)
    assert report.adopted > 0
