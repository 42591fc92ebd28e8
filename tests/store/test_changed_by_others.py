"""A database that another program changed: read, compared, and kept whole when a merge replaces it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.store.examples import contents, foreign_file, publish, record, records, sums
from vindeby.errors import StorageError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.rows import checksum_of
from vindeby.store.format.seal import SealedFile
from vindeby.store.merge.merge import BadFilesError, MergeOptions, merge
from vindeby.store.read.reading import read_any
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

KEY = "farm0_t1_s1"


def merged(run: RunDirectory, count: int = 6, file_format: str = "classic") -> Path:
    publish(run, records(count))
    merge(run.output, MergeOptions(file_format=file_format))
    return run.output


def add_to_root(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["mine"] = np.arange(24.0).reshape(4, 6)
        file["a group/of numbers"] = np.arange(5.0)
        file["outside"] = h5py.ExternalLink("elsewhere.h5", "/x")
        file["gone"] = h5py.SoftLink("/nowhere")
        file["loop/root"] = file["/"]
        file.attrs["author"] = "A. User"
        file.attrs["weights"] = np.array([1, 2, 3], ">i2")
        file.attrs["nothing"] = h5py.Empty("S1")


def add_to_record(path: Path, key: str = KEY) -> None:
    add_to_root(path)
    with h5py.File(path, "r+") as file:
        group = file[key]
        group["wake_loss"] = np.linspace(0.0, 1.0, 5)
        group["extra/by_turbine"] = np.arange(5, dtype="i2")
        group["referring"] = np.array([group.ref], dtype=h5py.ref_dtype)
        group.attrs["reviewed"] = "yes, twice"
        group["layout"].attrs["datum"] = "EPSG:25832"
        file["second name"] = group


def add_to_table(path: Path) -> None:
    add_to_root(path)
    with h5py.File(path, "r+") as file:
        rows = len(file["key"])
        file["wake_loss"] = np.linspace(0.0, 1.0, rows)
        file["reviewed"] = np.array([b"yes"] * rows)
        file["layout"].attrs["datum"] = "EPSG:25832"
        file["key"].attrs["datum"] = 3


FORMS: dict[str, Callable[[Path], None]] = {"classic": add_to_record, "table": add_to_table}


def is_sealed(path: Path) -> bool:
    file = SealedFile.open(path)
    if file is None:
        return False
    with file:
        file.verify()
    return True


def checksums(path: Path) -> dict[str, str]:
    return {key: checksum_of(one) for key, one in contents(path).items()}


def kept(run: RunDirectory) -> list[Path]:
    return sorted(path for path in run.replaced.glob("*") if path.suffix == ".h5")


@pytest.mark.parametrize("form", FORMS)
def test_a_merge_keeps_the_changed_file_whole_and_seals_its_records(run: RunDirectory, form: str) -> None:
    path = merged(run, file_format=form)
    FORMS[form](path)
    data = path.read_bytes()
    assert not is_sealed(path)
    assert checksums(path) == sums(records(6))
    before = validate(path)
    assert before.valid, before.issues
    assert not before.sealed
    assert f"keeps this one whole, with all that was added to it, in {run.replaced}" in "".join(before.notes)
    publish(run, records(3, start=6))
    said: list[str] = []
    report = merge(path, MergeOptions(progress=said.append))
    assert not report.bad_files
    assert is_sealed(path)
    assert checksums(path) == sums(records(9))
    assert validate(path).notes == []
    (old,) = kept(run)
    assert old.read_bytes() == data
    note = json.loads(old.with_name(old.name + ".why.json").read_text())
    assert note["why"] == "another program changed it since it was merged"
    (line,) = [text for text in said if "another program" in text]
    assert line == f"{path}: {note['why']}; kept whole as {old}, the new file has its verified records"
    assert all(
        str(old) in audit.read_text() for audit in run.audit.iterdir() if note["why"] in audit.read_text()
    )
    assert [entry.fate for entry in report.files if str(old) in entry.fate] == [
        line.removeprefix(f"{path}: ")
    ]


def test_a_merge_without_new_results_keeps_a_changed_file_once(run: RunDirectory) -> None:
    path = merged(run)
    merge(path)
    assert kept(run) == []
    add_to_record(path)
    merge(path)
    (old,) = kept(run)
    with h5py.File(path) as file:
        assert sorted(file) == sorted(sums(records(6)))
        assert "author" not in file.attrs
    merge(path)
    publish(run, [record(7)])
    merge(path)
    assert kept(run) == [old]


@pytest.mark.parametrize("form", FORMS)
def test_a_change_of_form_keeps_the_changed_file(run: RunDirectory, form: str) -> None:
    path = merged(run, file_format=form)
    FORMS[form](path)
    data = path.read_bytes()
    merge(path, MergeOptions(file_format=next(iter(FORMS.keys() - {form}))))
    assert checksums(path) == sums(records(6))
    assert [old.read_bytes() for old in kept(run)] == [data]


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


def test_a_result_may_have_the_name_of_something_added(run: RunDirectory) -> None:
    path = merged(run)
    with h5py.File(path, "r+") as file:
        file["farm0_t1_s9"] = np.arange(3)
    publish(run, [record(9)])
    merge(path)
    assert contents(path)["farm0_t1_s9"] == record(9)
    (old,) = kept(run)
    with h5py.File(old) as file:
        assert file["farm0_t1_s9"][:].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "own_fields", [None, "{", '{"root": [], "records": [{"arrays": ["x"], "attributes": []}]}']
)
def test_a_root_that_does_not_say_which_fields_are_own_costs_only_what_was_added_to(
    run: RunDirectory, own_fields: str | None
) -> None:
    """Such a record cannot be told from a damaged one: it is a finding, and nothing is merged unless asked for."""
    path = merged(run)
    add_to_record(path)
    with h5py.File(path, "r+") as file:
        del file.attrs["own_fields"]
        if own_fields is not None:
            file.attrs["own_fields"] = own_fields
    with Guard() as guard:
        reading = read_any(path, guard)
    found = {one.key: checksum_of(one) for segment in reading.segments for one in segment.records()}
    assert found == {key: checksum for key, checksum in sums(records(6)).items() if key != KEY}
    assert KEY in {finding.key for finding in reading.findings}
    with pytest.raises(BadFilesError):
        merge(path)


@pytest.mark.parametrize("form", FORMS)
def test_what_pytables_adds_harms_no_record(run: RunDirectory, form: str) -> None:
    tables = pytest.importorskip("tables")
    path = merged(run, file_format=form)
    with tables.open_file(str(path), "a") as file:
        filters = tables.Filters(complevel=1, complib="blosc")
        file.create_carray("/", "mine", obj=np.arange(1000.0), filters=filters)
        file.create_vlarray("/", "ragged", tables.Int32Atom()).append([1, 2, 3])
        file.create_table("/notes", "rows", {"a": tables.Int64Col()}, createparents=True)
        file.set_node_attr("/", "pickled", {"a": 1})
    publish(run, records(1, start=6))
    assert not merge(path).bad_files
    assert checksums(path) == sums(records(7))
    with tables.open_file(str(kept(run)[0]), "r") as file:
        assert file.root.ragged[0].tolist() == [1, 2, 3]


def test_a_file_of_another_program_is_kept_whole_and_its_root_attributes_are_taken(run: RunDirectory) -> None:
    foreign_file(run.output, range(3))
    with h5py.File(run.output, "r+") as file:
        file.attrs.update(bounds=np.array([1.5, 2.5]), grid_size=np.int32(50))
        file["farm0_t1_s1/layout"].attrs["units"] = "m"
    data = run.output.read_bytes()
    said: list[str] = []
    merge(run.output, MergeOptions(progress=said.append))
    with h5py.File(run.output) as file:
        assert (file.attrs["bounds"], file.attrs["grid_size"]) == ("[1.5, 2.5]", 50)
    assert sorted(contents(run.output)) == [f"farm0_t1_s{seed}" for seed in range(3)]
    assert [old.read_bytes() for old in kept(run)] == [data]
    assert any("another program made it; kept whole as" in text for text in said)


def test_nothing_is_replaced_when_the_old_file_cannot_be_kept(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = merged(run)
    add_to_root(path)
    data = path.read_bytes()

    link, fsync = os.link, os.fsync

    def refuse(source: Path, target: Path, **more: Any) -> None:
        if "/replaced/" in str(target):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        link(source, target, **more)

    def full(descriptor: int) -> None:
        if "/replaced/.out-" in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    publish(run, records(1, start=6))
    monkeypatch.setattr(os, "link", refuse)
    with monkeypatch.context() as patches:
        patches.setattr(os, "fsync", full)
        patches.setattr("vindeby.store.disk.run_directory.replace_text", lambda *_: None)
        with pytest.raises(StorageError, match="No space left"):
            merge(path)
    assert path.read_bytes() == data
    assert run.shard_paths()
    assert list(run.replaced.iterdir()) == []
    merge(path)
    assert [old.read_bytes() for old in kept(run)] == [data]
    assert checksums(path) == sums(records(7))


_KILLED = """
import os, signal, sys
from pathlib import Path
import vindeby.store.merge.merge as merging
def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(merging, sys.argv[2], killed)
merging.merge(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("moment", ["verify_new", "keep_old_file", "write_audit", "keep_results"])
def test_a_merge_that_is_killed_loses_no_addition(run: RunDirectory, moment: str) -> None:
    path = merged(run)
    add_to_record(path)
    data = path.read_bytes()
    publish(run, records(1, start=6))
    child = subprocess.run([sys.executable, "-c", _KILLED, str(path), moment], check=False, timeout=120)
    assert child.returncode == -9
    assert path.read_bytes() == data
    merge(path)
    assert data in [old.read_bytes() for old in kept(run)]
    assert checksums(path) == sums(records(7))


def test_the_command_says_in_one_line_where_the_changed_file_is(run: RunDirectory) -> None:
    path = merged(run)
    add_to_root(path)
    command = [sys.executable, "-m", "vindeby", "merge", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    (old,) = kept(run)
    (line,) = [text for text in done.stderr.splitlines() if "another program" in text]
    assert line.startswith(
        f"vindeby: {path}: another program changed it since it was merged; kept whole as {old}"
    )
