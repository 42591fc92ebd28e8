"""A disk that is really full, and a limit on file size."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.tools import ROOT, acknowledged, assert_nothing_lost, command
from tests.kernel import is_refusal, skip_for
from tests.store.examples import publish, records, sums
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import merge

INSIDE = """
set -e
mount -t tmpfs -o size=$1 none "$2"
cd "$3"
if [ -n "$4" ]; then cp -r "$4"/. "$2"/; fi
shift 4
set +e
"$@" >"$KEEP/stdout" 2>"$KEEP/stderr"
echo $? >"$KEEP/status"
cp -r "$MOUNT"/. "$KEEP/disk"/
"""


def on_small_disk(
    tmp_path: Path, size: str, start: Path | None, arguments: list[str]
) -> tuple[int, str, str, Path]:
    """Run a command on a file system of this size; its status, stdout, stderr and what is on the disk after."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    mount, keep = tmp_path / "mount", tmp_path / "keep"
    for folder in (mount, keep, keep / "disk"):
        folder.mkdir()
    environment = {**os.environ, "KEEP": str(keep), "MOUNT": str(mount), "PYTHONDONTWRITEBYTECODE": "1"}
    probe = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(mount)],
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode != 0:
        assert is_refusal(probe.stderr), probe.stderr
        skip_for("to mount a file system in a user namespace", probe.stderr.strip())
    script = ["unshare", "-rm", "sh", "-c", INSIDE, "sh", size, str(mount), str(ROOT), str(start or "")]
    subprocess.run([*script, *arguments], env=environment, check=True, timeout=120)
    status = int((keep / "status").read_text())
    return status, (keep / "stdout").read_text(), (keep / "stderr").read_text(), keep / "disk"


@pytest.mark.parametrize("size", ["4k", "8k", "12k", "16k", "20k"])
def test_publishing_onto_a_full_disk(size: str, tmp_path: Path) -> None:
    arguments = command("publish", tmp_path / "mount" / "out.h5")
    status, output, messages, disk = on_small_disk(tmp_path, size, None, arguments)
    assert "Traceback" not in messages
    assert status == 1
    assert "No space left on device" in messages
    promised = acknowledged(output)
    assert_nothing_lost(disk / "out.h5", promised)
    assert bool(promised) == (size != "4k")


@pytest.mark.parametrize("file_format", ["classic", "table"])
@pytest.mark.parametrize("spare", [0, 8, 24])
def test_merging_onto_a_full_disk(spare: int, file_format: str, tmp_path: Path) -> None:
    start = tmp_path / "start"
    start.mkdir()
    run = RunDirectory(start / "out.h5")
    publish(run, records(4))
    merge(run.output)
    publish(run, records(60, start=10))
    promised = sums([*records(4), *records(60, start=10)])
    used = sum(-(-path.stat().st_size // 4096) * 4 for path in start.rglob("*") if path.is_file())
    arguments = command("merge", tmp_path / "mount" / "out.h5", file_format)
    status, _, messages, disk = on_small_disk(tmp_path, f"{used + spare}k", start, arguments)
    assert "Traceback" not in messages
    assert status == 1
    assert "No space left on device" in messages
    assert_nothing_lost(disk / "out.h5", promised)
    assert list(disk.glob(".out.h5.merge*")) == []
    assert merge(disk / "out.h5").records == 64


@pytest.mark.parametrize("file_format", ["zarr", "netcdf"])
@pytest.mark.parametrize("spare", [0, 4])
def test_exporting_onto_a_full_disk(spare: int, file_format: str, tmp_path: Path) -> None:
    start, run = tmp_path / "start", RunDirectory(tmp_path / "out.h5")
    start.mkdir()
    (start / "others").write_bytes(bytes(8192))
    publish(run, records(20))
    merge(run.output)
    words = ["export", str(run.output), "--to", file_format, "-o", str(tmp_path / "mount" / "exported")]
    arguments = [sys.executable, "-m", "vindeby", *words]
    status, output, messages, disk = on_small_disk(tmp_path, f"{8 + spare}k", start, arguments)
    assert (status, output) == (1, "")
    assert messages.splitlines()[-1].startswith(
        f"vindeby: {tmp_path}/mount: cannot write: No space left on device; "
    )
    assert "bytes are free, more are needed;" in messages
    assert "Traceback" not in messages
    assert [path.name for path in disk.iterdir()] == ["others"]


def test_room_enough_is_enough(tmp_path: Path) -> None:
    arguments = command("publish", tmp_path / "mount" / "out.h5")
    status, output, messages, disk = on_small_disk(tmp_path, "400k", None, arguments)
    assert (status, messages, len(acknowledged(output))) == (0, "", 36)
    assert_nothing_lost(disk / "out.h5", acknowledged(output))


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from tests.crash.driver import main
main()
"""


@pytest.mark.parametrize("job", ["publish", "merge"])
@pytest.mark.parametrize("limit", [0, 500, 4000])
def test_a_limit_on_file_size(job: str, limit: int, tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    promised: dict[str, str] = {}
    if job == "merge":
        publish(RunDirectory(output), records(60))
        promised = sums(records(60))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), job, str(output)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # it would be cut short too, and stay so
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stderr
    assert "ulimit -f" in done.stderr
    assert_nothing_lost(output, promised | acknowledged(done.stdout))
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != limit
    if job == "merge":
        assert merge(output).records == 60
        audit = [
            json.loads(path.read_text())["outcome"] for path in RunDirectory(output).audit.glob("*.json")
        ]
        assert audit[-1] == "done"
