"""What other programs add to OUT.h5 outlives every merge, or the merge stops and names it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.store.additions import (
    IN_COLUMNS,
    IN_RECORDS,
    KEY,
    ROOT,
    add_to_columns,
    add_to_record,
    add_to_root,
    merged,
    seen,
)
from tests.store.examples import contents, publish, record, records, sums
from vindeby.errors import DataError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.rows import Segment, checksum_of
from vindeby.store.format.seal import SealedFile
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Verdict
from vindeby.store.read.reading import Reading, read_any, read_guarded
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow


def add_everywhere(path: Path) -> None:
    add_to_root(path)
    add_to_record(path)


def add_to_table(path: Path) -> None:
    add_to_root(path)
    add_to_columns(path)


FORMS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "classic": (add_everywhere, ROOT + IN_RECORDS),
    "table": (add_to_table, ROOT + IN_COLUMNS),
}


def is_sealed(path: Path) -> bool:
    file = SealedFile.open(path)
    if file is None:
        return False
    with file:
        file.verify()
    return True


def kept(run: RunDirectory) -> list[Path]:
    return sorted(path for path in (run.path / "replaced").glob("*") if path.suffix == ".h5")


@pytest.mark.parametrize("form", FORMS)
def test_what_a_user_adds_outlives_merges_byte_for_byte(run: RunDirectory, form: str) -> None:
    add, names = FORMS[form]
    path = merged(run, file_format=form)
    add(path)
    assert not is_sealed(path)
    before = seen(path, names)
    publish(run, records(3, start=6))
    report = merge(path)
    assert not report.bad_files
    assert is_sealed(path)
    assert seen(path, names) == before
    publish(run, records(2, start=9))
    merge(path)
    assert is_sealed(path)
    assert seen(path, names) == before
    found = contents(path)
    assert {key: checksum_of(one) for key, one in found.items()} == sums(records(11))
    assert validate(path).valid


@pytest.mark.parametrize("form", FORMS)
def test_a_database_with_additions_reads_as_before_and_is_valid(run: RunDirectory, form: str) -> None:
    add, _ = FORMS[form]
    path = merged(run, file_format=form)
    add(path)
    assert {key: checksum_of(one) for key, one in contents(path).items()} == sums(records(6))
    report = validate(path)
    assert report.valid, report.issues
    assert not report.sealed
    text = "\n".join(report.notes)
    assert "additions by others" in text
    assert "mine" in text
    assert "notes" in report.to_json()["additions"]
    merge(path)
    after = validate(path)
    assert after.valid
    assert after.sealed
    assert after.to_json()["additions"] == report.to_json()["additions"]


def test_every_record_of_a_file_can_have_additions(run: RunDirectory) -> None:
    path = merged(run, count=40)
    with h5py.File(path, "r+") as file:
        for name in file:
            file[name].attrs["reviewed"] = name
            file[name]["rank"] = 3
            for item in ("layout", "aep"):
                file[name][item].attrs["unit"] = "m"
    publish(run, records(3, start=40))
    merge(path)
    with h5py.File(path) as file:
        assert all(file[f"farm0_t1_s{seed}"].attrs["reviewed"] == f"farm0_t1_s{seed}" for seed in range(40))
        assert all(file[f"farm0_t1_s{seed}/layout"].attrs["unit"] == "m" for seed in range(40))
        assert "rank" not in file["farm0_t1_s41"]
    assert {key: checksum_of(one) for key, one in contents(path).items()} == sums(records(43))


def test_root_additions_outlive_a_change_of_form_and_back(run: RunDirectory) -> None:
    path = merged(run)
    add_to_root(path)
    before = seen(path, ROOT)
    merge(path, MergeOptions(file_format="table"))
    assert seen(path, ROOT) == before
    merge(path, MergeOptions(file_format="classic"))
    assert seen(path, ROOT) == before
    assert {key: checksum_of(one) for key, one in contents(path).items()} == sums(records(6))


def test_what_has_no_place_in_the_other_form_stops_the_merge_by_name(run: RunDirectory) -> None:
    path = merged(run)
    add_to_record(path)
    data = path.read_bytes()
    with pytest.raises(DataError, match="nothing was changed") as error:
        merge(path, MergeOptions(file_format="table"))
    assert f"{KEY}/wake_loss" in str(error.value)
    assert f"{KEY}@reviewed" in str(error.value)
    assert path.read_bytes() == data


def add_what_cannot_be_copied(file: h5py.File) -> None:
    file["reference"] = np.array([file[KEY].ref], dtype=h5py.ref_dtype)
    file["referring"] = 1
    file["referring"].attrs["to"] = file[KEY].ref
    file[KEY].attrs["inside"] = file["referring"].ref
    file["outside"] = h5py.ExternalLink("elsewhere.h5", "/x")
    file["group/outside"] = h5py.ExternalLink("elsewhere.h5", "/x")
    file.create_dataset("stored_outside", (4,), "i4", external=[("elsewhere.bin", 0, 16)])
    plan = h5py.VirtualLayout((2,), "f8")
    plan[:] = h5py.VirtualSource("elsewhere.h5", "x", (2,))
    file.create_virtual_dataset("virtual", plan)
    file["second_name"] = file[KEY]
    file["loop/root"] = file["/"]
    file["kind"] = np.dtype("i4")
    file.create_dataset("of_kind", (3,), file["kind"])


REASONS = {
    "reference": "references",
    "referring@to": "references",
    f"{KEY}@inside": "references",
    "outside": "another file",
    "group/outside": "another file",
    "stored_outside": "external storage",
    "virtual": "virtual dataset",
    "second_name": "several names",
    "loop/root": "several names",
    "kind": "several names",
    "of_kind": "named datatype",
}


def test_what_cannot_be_carried_stops_the_merge_by_name(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        add_what_cannot_be_copied(file)
    assert {key: checksum_of(one) for key, one in contents(path).items()} == sums(records(6))
    data = path.read_bytes()
    publish(run, records(2, start=6))
    with pytest.raises(DataError, match="nothing was changed") as error:
        merge(path)
    assert not isinstance(error.value, BadFilesError)
    lines = str(error.value).splitlines()
    for name, reason in REASONS.items():
        assert any(line.startswith(f"  {name}: ") and reason in line for line in lines), (name, lines)
    assert len(lines) == len(REASONS) + 2
    assert path.read_bytes() == data
    assert run.shard_paths()
    report = merge(path, MergeOptions(drop_additions=True))
    assert report.records == 8
    assert "group" in report.additions_left
    assert is_sealed(path)
    with h5py.File(path) as file:
        assert sorted(file) == sorted(sums(records(8)))
    (old,) = kept(run)
    assert old.read_bytes() == data


def test_soft_links_to_records_are_carried(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        file["best"] = h5py.SoftLink(f"/{KEY}")
        file["gone"] = h5py.SoftLink("/nowhere")
    assert validate(path).valid
    merge(path)
    with h5py.File(path) as file:
        assert file["best"].name == "/best"
        assert file["best/aep"][()] == 101.0
        assert file.get("gone", getlink=True).path == "/nowhere"
    assert sorted(contents(path)) == sorted(sums(records(6)))


def test_a_file_that_another_program_wrote_last_is_kept_when_it_is_replaced(run: RunDirectory) -> None:
    path = merged(run)
    merge(path)
    assert kept(run) == []
    add_to_root(path)
    data = path.read_bytes()
    publish(run, [record(6)])
    merge(path)
    (old,) = kept(run)
    assert old.read_bytes() == data
    note = json.loads(old.with_name(old.name + ".why.json").read_text())
    assert "seal" in note["why"]
    assert note["time"]
    publish(run, [record(7)])
    merge(path)
    assert kept(run) == [old]


def test_a_changed_value_is_still_damage(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        file[KEY]["aep"][...] = 999.0
        file[KEY]["mine"] = 1
    report = validate(path)
    assert [(issue.key, issue.what) for issue in report.issues if issue.key] == [(KEY, "checksum mismatch")]
    with pytest.raises(BadFilesError):
        merge(path)
    assert KEY not in contents(path)


def test_a_field_taken_away_or_an_attribute_changed_is_damage(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        del file[KEY].attrs["diameter"]
        file["farm0_t1_s2"].attrs["diameter"] = 127.0
        del file["farm0_t1_s3/aep"]
        file.attrs["total_configs"] = 7
    found = {issue.key for issue in validate(path).issues}
    assert {KEY, "farm0_t1_s2", "farm0_t1_s3", ""} <= found


def test_a_new_result_never_takes_the_name_of_an_addition(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        file["farm0_t1_s9"] = np.arange(3)
    publish(run, [record(9)])
    with pytest.raises(DataError, match="farm0_t1_s9"):
        merge(path)
    with h5py.File(path) as file:
        assert file["farm0_t1_s9"][:].tolist() == [0, 1, 2]


def test_additions_to_a_result_that_is_replaced_are_kept_with_the_old_file(run: RunDirectory) -> None:
    path = merged(run)
    add_to_record(path)
    merge(path)
    data = path.read_bytes()
    new = record(1, shift=3.0)
    answer = type(new)(new.key, "f" * 64, new.arrays, new.attributes)
    publish(run, [answer])
    report = merge(path, MergeOptions(asked={KEY: "f" * 64}))
    assert contents(path)[KEY] == answer
    with h5py.File(path) as file:
        assert "wake_loss" not in file[KEY]
    assert any(f"{KEY}/wake_loss" in name for name in report.additions_left)
    assert data in {old.read_bytes() for old in kept(run)}


def test_a_column_of_a_user_stays_beside_its_rows(run: RunDirectory) -> None:
    path = merged(run, file_format="table")
    with h5py.File(path, "r+") as file:
        file["rank"] = np.arange(6)
        order = file["key"][:].tolist()
    publish(run, [record(6)])
    merge(path)
    publish(run, [record(7)])
    merge(path)
    with h5py.File(path) as file:
        assert file["rank"][:].tolist() == list(range(6))
        assert file["key"][:6].tolist() == order
    new = record(1, shift=3.0)
    publish(run, [type(new)(new.key, "f" * 64, new.arrays, new.attributes)])
    with pytest.raises(DataError, match="rank"):
        merge(path, MergeOptions(asked={KEY: "f" * 64}))
    with pytest.raises(DataError, match="rank"):
        merge(path, MergeOptions(file_format="classic"))


@pytest.mark.parametrize("form", FORMS)
def test_an_addition_that_was_damaged_is_not_sealed_as_if_it_were_right(run: RunDirectory, form: str) -> None:
    path = merged(run, file_format=form)
    with h5py.File(path, "r+") as file:
        file["ranking"] = np.arange(40.0) + 0.125
    publish(run, [record(6)])
    merge(path)
    assert is_sealed(path)
    data = bytearray(path.read_bytes())
    at = data.index((np.arange(40.0) + 0.125).tobytes())
    data[at + 7] ^= 1
    path.write_bytes(data)
    publish(run, [record(7)])
    with pytest.raises(BadFilesError, match="checksum mismatch"):
        merge(path)
    assert path.read_bytes() == bytes(data)


@pytest.mark.parametrize(
    "own_fields", [None, "{", '{"root": [], "records": [{"arrays": ["x"], "attributes": []}]}']
)
@pytest.mark.parametrize("number", [0, 3])
def test_records_with_additions_are_read_when_the_root_does_not_say_which_fields_are_own(
    run: RunDirectory, own_fields: str | None, number: int
) -> None:
    """Also the first one, which is read before any record that nobody added to."""
    path = merged(run)
    key = sorted(contents(path))[number]
    add_to_record(path, key)
    with h5py.File(path, "r+") as file:
        file["a group/of numbers"] = np.arange(5.0)
        file["another name"] = file[sorted(sums(records(6)))[1]]
        del file.attrs["own_fields"]
        if own_fields is not None:
            file.attrs["own_fields"] = own_fields
    with Guard() as guard:
        reading = read_any(path, guard)
    found = {one.key: checksum_of(one) for segment in reading.segments for one in segment.records()}
    assert found == sums(records(6))
    assert [finding.detail for finding in reading.findings] == ["in the root attributes"]
    added = set(map(str, reading.additions))
    assert added > {name.replace(KEY, key) for name in IN_RECORDS if "/" in name}
    assert added > {"a group", "another name", f"{key}@reviewed"}


def test_a_damaged_record_is_one_finding_when_nothing_says_which_fields_are_own(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        del file.attrs["own_fields"]
        file[KEY]["aep"][...] = 1.0
    damaged: list[Segment] = []
    reading = Reading()
    reading.doubt = damaged.append  # type: ignore[method-assign,assignment]
    with Guard() as guard:
        read_guarded(path, guard, reading, real_size=path.stat().st_size)
    assert [(finding.verdict, finding.key) for finding in reading.findings] == [(Verdict.CHECKSUM, KEY)]
    assert [segment.rows["key"].tolist() for segment in damaged] == [[KEY.encode()]]
