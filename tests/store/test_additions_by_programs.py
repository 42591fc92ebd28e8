"""Additions as other programs make them, merges that are killed or run out of disk, and the command line."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.store.additions import KEY, ROOT, add_to_record, add_to_root, merged, seen
from tests.store.examples import contents, foreign_file, publish, records, sums
from vindeby.errors import StorageError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.rows import checksum_of
from vindeby.store.merge import carry_additions as carrying
from vindeby.store.merge.merge import merge
from vindeby.store.read.guard import Guard
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow


def checksums(path: Path) -> dict[str, str]:
    return {key: checksum_of(one) for key, one in contents(path).items()}


@pytest.mark.parametrize("form", ["classic", "table"])
def test_what_pytables_adds_is_carried(run: RunDirectory, form: str) -> None:
    tables = pytest.importorskip("tables")
    path = merged(run, file_format=form)
    with tables.open_file(str(path), "a") as file:
        filters = tables.Filters(complevel=1, complib="blosc")
        file.create_carray("/", "mine", obj=np.arange(1000.0), filters=filters)
        file.create_vlarray("/", "ragged", tables.Int32Atom()).append([1, 2, 3])
        file.create_table("/notes", "rows", {"a": tables.Int64Col()}, createparents=True)
        file.set_node_attr("/", "pickled", {"a": 1})
    assert checksums(path) == sums(records(6))
    publish(run, records(1, start=6))
    report = merge(path)
    assert set(report.additions) == {"mine", "ragged", "notes", "@pickled"}
    with tables.open_file(str(path), "r") as file:
        assert file.root.mine[:].tolist() == list(range(1000))
        assert file.root.ragged[0].tolist() == [1, 2, 3]
        assert file.root.notes.rows.colnames == ["a"]
        assert file.get_node_attr("/", "pickled") == {"a": 1}
    assert checksums(path) == sums(records(7))


@pytest.mark.skipif(shutil.which("h5repack") is None, reason="h5repack is not installed")
def test_additions_outlive_h5repack_of_the_carried_file(run: RunDirectory) -> None:
    path = merged(run)
    add_to_root(path)
    merge(path)
    before = seen(path, ROOT)
    repacked = path.with_name("repacked.h5")
    subprocess.run(["h5repack", str(path), str(repacked)], check=True, timeout=60)
    repacked.replace(path)
    assert {str(name) for name in validate(path).additions} >= set(ROOT)
    merge(path)
    assert set(seen(path, ROOT)) == set(before)
    assert seen(path, ("@author", "@weights")) == {name: before[name] for name in ("@author", "@weights")}


def test_what_a_foreign_file_holds_beside_its_records_is_carried(run: RunDirectory) -> None:
    foreign_file(run.output, range(3))
    with h5py.File(run.output, "r+") as file:
        file.attrs["bounds"] = np.array([1.5, 2.5])
        file["farm0_t1_s1/layout"].attrs["units"] = "m"
    merge(run.output)
    with h5py.File(run.output) as file:
        assert file["init"][()] == 0
        assert file.attrs["bounds"].tolist() == [1.5, 2.5]
        assert file["farm0_t1_s1/layout"].attrs["units"] == "m"
    assert sorted(contents(run.output)) == [f"farm0_t1_s{seed}" for seed in range(3)]
    (old,) = (run.path / "replaced").glob("*.h5")
    assert "init" in h5py.File(old)


@pytest.mark.usefixtures("misbehaving")
def test_a_child_that_dies_while_it_copies_changes_nothing(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = merged(run)
    add_to_root(path)
    add_to_record(path)
    data = path.read_bytes()

    class Dying(Guard):
        def call(self, task: str, **arguments: Any) -> Any:
            return super().call("gridded", path="crash", wanted=[])

    publish(run, records(1, start=6))
    with monkeypatch.context() as patches:
        patches.setattr(carrying, "Guard", Dying)
        with pytest.raises(carrying.AdditionsError, match="crashed"):
            merge(path)
    assert path.read_bytes() == data
    assert [item.name for item in path.parent.glob(".*")] == []
    assert merge(path).records == 7


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
    assert list((run.path / "replaced").iterdir()) == []
    merge(path)
    (old,) = (run.path / "replaced").glob("*.h5")
    assert old.read_bytes() == data
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


@pytest.mark.parametrize("moment", ["carry_over", "verify_new", "keep_old_file", "write_audit"])
def test_a_merge_that_is_killed_loses_no_addition(run: RunDirectory, moment: str) -> None:
    path = merged(run)
    add_to_root(path)
    add_to_record(path)
    names = (*ROOT, f"{KEY}/wake_loss", f"{KEY}@reviewed")
    before = seen(path, names)
    publish(run, records(1, start=6))
    child = subprocess.run([sys.executable, "-c", _KILLED, str(path), moment], check=False, timeout=120)
    assert child.returncode == -9
    assert seen(path, names) == before
    merge(path)
    assert seen(path, names) == before
    assert checksums(path) == sums(records(7))


def test_the_command_names_what_it_carried_and_what_it_cannot(run: RunDirectory) -> None:
    path = merged(run)
    add_to_root(path)
    command = [sys.executable, "-m", "vindeby", "merge", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert "additions by others, carried over: " in done.stdout
    assert f"kept as {path}.run/replaced/" in done.stdout
    with h5py.File(path, "r+") as file:
        file["away"] = h5py.ExternalLink("elsewhere.h5", "/x")
    stopped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert stopped.returncode == 1
    assert "away: it is a link to another file" in stopped.stderr
    assert "--drop-additions" in stopped.stderr
    dropped = subprocess.run(
        [*command, "--drop-additions"], capture_output=True, text=True, timeout=120, check=False
    )
    assert dropped.returncode == 0
    assert "additions by others, left out: " in dropped.stdout
