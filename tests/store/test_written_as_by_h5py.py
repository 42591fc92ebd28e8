"""The classic form, written with low-level calls, shows as what the plain calls of h5py write."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.store.examples import record
from vindeby.store.format.file_format import Content
from vindeby.store.format.formats import FILE_FORMATS
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import checksum_of, segments_of
from vindeby.store.format.seal import FORMAT_VERSION

pytestmark = pytest.mark.slow

ABOUT = {"aep": {"units": "GWh/year"}, "layout": {"units": "m", "long_name": "positions, x then y"}}
ROOT: dict[str, Attribute] = {
    "format_version": FORMAT_VERSION,
    "campaign": "name: x # øst\n" * 10_000,
    "grid_size": 18,
    "random_pct": 30.0,
    "done": True,
    "note": "",
}


def odd_records() -> list[Record]:
    """No fingerprint, empty texts and arrays, every type, many arrays, names of fields outside ASCII."""
    many = {f"array_{number:02}": np.arange(number) for number in range(30)}
    types = {kind: np.zeros(3, kind) for kind in ("i1", "u2", "f4", "b1", "u8", "f8")}
    return [
        Record("odd_1", "", {"aep": np.array(1.5)}, {"empty": "", "ünit": "Ærø\nøst", "ok": True}),
        Record("odd_2", "f" * 64, many | types, {f"n{number}": number for number in range(40)}),
        Record("odd_3", "", {"größe": np.zeros((2, 0))}, {"long": "x" * 5000, "nan": float("nan")}),
    ]


def write_ours(path: Path, batch: Sequence[Record]) -> None:
    segments = segments_of(batch)
    schemas = tuple(sorted({segment.schema for segment in segments}))
    FILE_FORMATS["classic"].write(path, Content(len(batch), schemas, {}, ROOT, segments, ABOUT))
    FILE_FORMATS["classic"].look(path)


def write_with_h5py(path: Path, batch: Sequence[Record]) -> None:
    """The plain way."""
    with h5py.File(path, "w") as file:
        file.attrs.update(ROOT)
        for one in sorted(batch, key=lambda each: each.key.encode()):
            group = file.create_group(one.key)
            for name, array in one.arrays.items():
                dataset = group.create_dataset(name, data=array)
                dataset.attrs.update(ABOUT.get(name, {}))
            marks = {"status": "success", "checksum": checksum_of(one), "fingerprint": one.fingerprint}
            group.attrs.update({**marks, **one.attributes})


def both(folder: Path, batch: Sequence[Record]) -> tuple[Path, Path]:
    ours, theirs = folder / "ours" / "a.h5", folder / "theirs" / "a.h5"
    for path, write in ((ours, write_ours), (theirs, write_with_h5py)):
        path.parent.mkdir()
        write(path, batch)
    return ours, theirs


def tool(name: str, path: Path, *options: str, after: Sequence[str] = ()) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed; it is in the Debian package hdf5-tools")
    command = [name, *options, path.name, *after]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout


def without(pattern: str, text: str) -> str:
    """The lines that say where in the file something stands, which differs, left out."""
    return "\n".join(line for line in text.splitlines() if not re.search(pattern, line))


@pytest.fixture(params=["none", "odd", "9", "400"])
def batch(request: pytest.FixtureRequest) -> list[Record]:
    if request.param == "odd":
        return odd_records()
    count = 0 if request.param == "none" else int(request.param)
    return [record(seed, 4 + seed % 3) for seed in range(count)]


def test_h5dump_shows_what_it_shows_of_a_file_by_h5py(batch: list[Record], tmp_path: Path) -> None:
    ours, theirs = both(tmp_path, batch)
    for options in (["-p", "-m", "%.17g"], ["-B", "-H"]):
        shown = [without(r"^ *OFFSET|_ADDR", tool("h5dump", path, *options)) for path in (ours, theirs)]
        assert shown[0] == shown[1]


def test_h5ls_lists_what_it_lists_of_a_file_by_h5py(batch: list[Record], tmp_path: Path) -> None:
    ours, theirs = both(tmp_path, batch)
    shown = [without("Location:", tool("h5ls", path, "-r", "-v")) for path in (ours, theirs)]
    assert shown[0] == shown[1]


def test_h5py_counts_and_lists_every_attribute(batch: list[Record], tmp_path: Path) -> None:
    ours, theirs = both(tmp_path, batch)
    with h5py.File(ours) as one, h5py.File(theirs) as two:
        names: list[str] = ["/"]
        two.visit(names.append)
        for name in names:
            a, b = one[name], two[name]
            assert len(a.attrs) == len(b.attrs) == h5py.h5a.get_num_attrs(a.id)
            assert list(a.attrs) == list(b.attrs)
            assert [repr(a.attrs[key]) for key in a.attrs] == [repr(b.attrs[key]) for key in b.attrs]
            mine, theirs_info = h5py.h5o.get_info(a.id), h5py.h5o.get_info(b.id)
            for part in ("type", "rc", "num_attrs"):
                assert getattr(mine, part) == getattr(theirs_info, part)
            assert mine.hdr.version == theirs_info.hdr.version
        found: list[str] = ["/"]
        one.visit(found.append)
        assert found == names


def test_attributes_can_be_changed_and_deleted_without_harm_to_others(tmp_path: Path) -> None:
    """No two attributes share the bytes of a text, though many have the same."""
    batch = [record(seed) for seed in range(60)]
    write_ours(tmp_path / "a.h5", batch)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        for seed in range(0, 60, 2):
            group = file[f"farm0_t1_s{seed}"]
            del group.attrs["engine"]
            group.attrs["farm"] = "another farm, with a longer name"
            group["aep"].attrs["units"] = "MWh"
    with h5py.File(tmp_path / "a.h5") as file:
        for seed in range(1, 60, 2):
            group = file[f"farm0_t1_s{seed}"]
            assert (group.attrs["engine"], group.attrs["farm"]) == ("vindeby", "Thor øst")
            assert group["aep"].attrs["units"] == "GWh/year"
