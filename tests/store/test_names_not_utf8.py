"""HDF5 names are bytes: those that Fortran, C or MATLAB write in Latin-1 cost no result."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.store.examples import NAMING, foreign_file, publish, records, sums
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.guard import Guard
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.read.reading import read_any
from vindeby.store.salvage import salvage
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

KEY = "farm0_t1_s1"
NAME = "møllehøjde".encode("latin-1")
TEXT = "Horns Rev sø".encode("latin-1")


def merged(run: RunDirectory, count: int, form: str = "classic") -> Path:
    publish(run, records(count))
    merge(run.output, MergeOptions(file_format=form))
    return run.output


def add_latin_1(holder: h5py.Group) -> None:
    """Add an attribute, texts of both kinds, a dataset and a group."""
    holder.attrs[NAME] = 3.0
    holder.attrs["fixed"] = np.bytes_(TEXT)
    holder.attrs["any_length"] = np.array(TEXT, h5py.string_dtype("ascii"))
    holder[b"all " + NAME] = np.arange(3.0)
    holder.create_group(b"in " + NAME)["values"] = np.arange(3.0)


@pytest.mark.parametrize("form", ["classic", "table"])
def test_what_another_program_adds_under_latin_1_names_costs_no_result(run: RunDirectory, form: str) -> None:
    path = merged(run, 80, form)
    with h5py.File(path, "r+") as file:
        add_latin_1(file)
        group = file[KEY] if form == "classic" else file.create_group("mine")
        group.attrs[NAME] = 1.0
        group[NAME] = np.arange(80.0)
        group[b"soft " + NAME] = h5py.SoftLink("/" + KEY)
        group[b"outside " + NAME] = h5py.ExternalLink("other.h5", "/x")
        file[f"{KEY}/layout" if form == "classic" else "layout"].attrs[NAME] = 1.0
    report = validate(path)
    assert (report.records, report.issues) == (80, [])
    with Database(path) as database:
        assert len(database) == 80
    done = merge(path, MergeOptions(on_bad="skip"))
    assert (done.records, done.bad_files) == (80, [])
    assert not list(run.quarantine.glob("*"))
    assert validate(path).sealed
    with Database(path) as database:
        assert {key: database.checksum(key) for key in database} == sums(records(80))


def test_a_changed_value_is_still_found_beside_latin_1_names(run: RunDirectory) -> None:
    path = merged(run, 6)
    with h5py.File(path, "r+") as file:
        add_latin_1(file[KEY])
        file[KEY]["aep"][()] = 1.0
    report = validate(path)
    assert (report.records, report.issues[0].key) == (5, KEY)


def foreign_latin_1(path: Path) -> None:
    foreign_file(path, range(80))
    with h5py.File(path, "r+") as file:
        for group in list(file.values())[:40]:
            if isinstance(group, h5py.Group):
                add_latin_1(group)
                del group[b"in " + NAME]
        file.attrs[NAME] = 1.0
        file.attrs["by"] = np.bytes_(TEXT)
        file.move("farm0_t1_s79", b"m\xf8lle 79")


def test_a_foreign_file_with_latin_1_names_and_texts_gives_every_record(tmp_path: Path) -> None:
    path = tmp_path / "worker.h5"
    foreign_latin_1(path)
    with Guard() as guard:
        reading = read_any(path, guard)
    assert reading.findings == []
    found = {record.key: record for one in reading.segments for record in one.records()}
    assert found.keys() == {*(f"farm0_t1_s{seed}" for seed in range(79)), r"m\xf8lle 79"}
    one = found["farm0_t1_s0"]
    assert one.attributes[r"m\xf8lleh\xf8jde"] == 3.0
    assert one.arrays[r"all m\xf8lleh\xf8jde"].tolist() == [0.0, 1.0, 2.0]
    assert (one.fixed, one.any_length) == (r"Horns Rev s\xf8", r"Horns Rev s\xf8")


def test_salvage_saves_them_too(tmp_path: Path) -> None:
    path = tmp_path / "worker.h5"
    foreign_latin_1(path)
    report = salvage([path], tmp_path / "new.h5", naming=NAMING)
    assert (report.records, report.complete) == (80, True)
