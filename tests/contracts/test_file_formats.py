"""What every file format of the database must do, each held to the same."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.examples import record, records
from tests.store.test_record import any_record
from vindeby.store.format.classic import read_group
from vindeby.store.format.file_format import Content, FileFormat
from vindeby.store.format.formats import FILE_FORMATS
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import checksum_of, segments_of
from vindeby.store.format.seal import FORMAT_VERSION, SealError, open_sealed

pytestmark = pytest.mark.slow

ROOT: dict[str, Attribute] = {
    "format_version": FORMAT_VERSION,
    "campaign": "name: x\n" * 20_000,
    "grid_size": 18,
    "random_pct": 30.0,
    "done": True,
}


def content(batch: list[Record]) -> Content:
    segments = segments_of(batch)
    widths: dict[str, int] = {}
    for segment in segments:
        for field in segment.schema.text_fields:
            widths[field] = max(widths.get(field, 1), segment.rows.dtype[field].itemsize)
    return Content(len(batch), tuple(sorted({s.schema for s in segments})), widths, ROOT, segments)


def read(file_format: FileFormat, path: Path) -> dict[str, Record]:
    found: dict[str, Record] = {}
    with open_sealed(path) as file:
        for number in range(file_format.chunk_count(file.seal.directory)):
            segments = file_format.read_chunk(file, number)
            assert all(segment.intact().all() for segment in segments)
            keys = sorted(key for segment in segments for key in segment.rows["key"].tolist())
            assert keys == sorted(file_format.read_keys(file, number).tolist())
            found |= {one.key: one for segment in segments for one in segment.records()}
    return found


@pytest.fixture(params=FILE_FORMATS.values(), ids=lambda file_format: file_format.name)
def file_format(request: pytest.FixtureRequest) -> FileFormat:
    chosen: FileFormat = request.param
    return chosen


@pytest.mark.parametrize("count", [0, 1, 7, 33, 1500, 3000])
@pytest.mark.core
def test_it_gives_back_what_was_written(file_format: FileFormat, count: int, tmp_path: Path) -> None:
    batch = records(count)
    file_format.write(tmp_path / "a.h5", content(batch))
    file_format.look(tmp_path / "a.h5")
    assert read(file_format, tmp_path / "a.h5") == {one.key: one for one in batch}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batch=st.lists(any_record(), max_size=8, unique_by=lambda one: one.key))
def test_it_gives_back_any_records(file_format: FileFormat, batch: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "any.h5"
    path.unlink(missing_ok=True)
    file_format.write(path, content(batch))
    file_format.look(path)
    assert read(file_format, path) == {one.key: one for one in batch}


def test_damage_is_found(file_format: FileFormat, tmp_path: Path) -> None:
    file_format.write(tmp_path / "a.h5", content(records(1000)))
    with open_sealed(tmp_path / "a.h5") as file:
        rows = file_format.read_chunk(file, 0)[0].rows
    data = bytearray((tmp_path / "a.h5").read_bytes())
    middle = rows["array:layout"][len(rows) // 2]
    data[data.index(middle[0, :2].tobytes()) + 3] ^= 4
    (tmp_path / "a.h5").write_bytes(data)
    with open_sealed(tmp_path / "a.h5") as file, pytest.raises(SealError, match="checksum mismatch"):
        file_format.read_chunk(file, 0)


def test_the_root_attributes_are_there_for_hdf5(file_format: FileFormat, tmp_path: Path) -> None:
    file_format.write(tmp_path / "a.h5", content(records(3)))
    with h5py.File(tmp_path / "a.h5") as file:
        assert {name: file.attrs[name] for name in ROOT} == ROOT


def test_nothing_is_left_when_writing_fails(file_format: FileFormat, tmp_path: Path) -> None:
    good = content(records(5))

    def failing() -> object:
        yield from good.segments
        raise OSError(28, "No space left on device")

    broken = Content(6, good.schemas, good.widths, good.root, failing())  # type: ignore[arg-type]
    with pytest.raises(OSError, match="No space left"):
        file_format.write(tmp_path / "a.h5", broken)
    assert list(tmp_path.iterdir()) == []


def test_it_never_writes_over_a_file(file_format: FileFormat, tmp_path: Path) -> None:
    (tmp_path / "a.h5").write_text("mine")
    with pytest.raises(FileExistsError):
        file_format.write(tmp_path / "a.h5", content(records(1)))
    assert (tmp_path / "a.h5").read_text() == "mine"


def test_a_damaged_chunk_is_refused(file_format: FileFormat, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    file_format.write(path, content(records(3)))
    data = bytearray(path.read_bytes())
    at = bytes(data).index(record(1, 5).layout.tobytes()[:8])
    data[at] ^= 1
    path.write_bytes(data)
    with open_sealed(path) as file, pytest.raises(SealError, match="checksum mismatch in bytes"):
        file_format.read_chunk(file, 0)


def test_old_readers_find_the_classic_form(tmp_path: Path) -> None:
    """What scripts of this field do with such a file, through plain h5py."""
    batch = records(40)
    FILE_FORMATS["classic"].write(tmp_path / "a.h5", content(batch))
    with h5py.File(tmp_path / "a.h5") as file:
        assert sorted(file) == sorted(one.key for one in batch)
        for one in batch:
            group = file[one.key]
            assert group["layout"].dtype == np.float64
            assert group["layout"].shape == one.layout.shape
            np.testing.assert_array_equal(group["layout"][:], one.layout)
            assert group["aep"][()] == one.aep
            assert group["aep"].shape == ()
            assert group.attrs["farm_idx"] == 0
            assert group.attrs["status"] == "success"
            assert group.attrs["farm"] == "Thor øst"
            assert read_group(one.key, group) == (one, checksum_of(one))
        assert file.visititems(lambda name, item: None) is None


def test_the_classic_form_can_be_copied_and_extended_by_hdf5(tmp_path: Path) -> None:
    FILE_FORMATS["classic"].write(tmp_path / "a.h5", content(records(100)))
    with h5py.File(tmp_path / "a.h5") as source, h5py.File(tmp_path / "b.h5", "w") as target:
        for name in source:
            source.copy(name, target)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.create_group("more").attrs["x"] = 1
        del file["farm0_t1_s7"]
        file.attrs["note"] = "changed"
    with h5py.File(tmp_path / "a.h5") as file, h5py.File(tmp_path / "b.h5") as copied:
        assert len(file) == 100
        assert len(copied) == 100
        for name in file:
            if name != "more":
                one, stated = read_group(name, file[name])
                assert checksum_of(one) == stated
                assert read_group(name, copied[name]) == (one, stated)


def test_the_table_form_is_one_row_a_record(tmp_path: Path) -> None:
    batch = records(30)
    FILE_FORMATS["table"].write(tmp_path / "a.h5", content(batch))
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["layout"].shape == (30, 2, 6)
        row = [b"".join(key) for key in file["key"]].index(b"farm0_t1_s3")
        np.testing.assert_array_equal(file["layout"][row, :, :4], record(3, 4).layout)
        assert np.isnan(file["layout"][row, :, 4:]).all()
        assert file["ss_seed"][row] == 3
        assert file["aep"][row] == 103.0


def test_a_table_keeps_names_apart_that_netcdf_would_mix_up(tmp_path: Path) -> None:
    """The name of an axis, that of a column of the table, and one that is an array in some records only."""
    batch = [
        Record("a", "", {"x": np.arange(6.0).reshape(2, 3)}, {"x_axis0": 7, "schema": "s", "y": 1.5}),
        Record("b", "", {"x": np.arange(4.0), "y": np.array([True, False])}, {"x_axis1": "text"}),
    ]
    path = tmp_path / "a.h5"
    FILE_FORMATS["table"].write(path, content(batch))
    FILE_FORMATS["table"].look(path)
    assert read(FILE_FORMATS["table"], path) == {one.key: one for one in batch}
    with h5py.File(path) as file:
        assert file["x_axis0@int"][:].tolist() == [7, 0]
        assert file["y@b1x1"][:].tolist() == [[0, 0], [1, 0]]
        for name in ("x@f8x1", "x@f8x2"):
            sizes = [axis[0].shape[0] for axis in file[name].dims]
            assert sizes == list(file[name].shape)
