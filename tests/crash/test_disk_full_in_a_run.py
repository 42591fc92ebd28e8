"""The disk fills up in mid-campaign: the run stops cleanly; with room again it is completed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel import is_refusal, skip_for
from tests.runner.campaigns import ROOT, calling, equal, results
from vindeby.runner import run

SEEDS = 60
INSIDE = """
set -e
mount -t tmpfs -o size=8m none "$1"
head -c $2 /dev/zero >"$1/ballast"
set +e
"$3" -m vindeby run "$4" -o "$1/out.h5" --interval 1 >"$5/stdout" 2>"$5/stderr"
echo $? >"$5/status"
cp -r "$1/out.h5.run" "$5/first"
rm "$1/ballast"
"$3" -m vindeby run "$4" -o "$1/out.h5" >"$5/stdout2" 2>"$5/stderr2"
echo $? >"$5/status2"
cp "$1/out.h5" "$5/out.h5"
"""


def on_a_filling_disk(tmp_path: Path, ballast: int) -> Path:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    for name in ("mount", "keep"):
        (tmp_path / name).mkdir()
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path / "mount")]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        assert is_refusal(done.stderr), done.stderr
        skip_for("to mount a file system in a user namespace", done.stderr.strip())
    parameters = {"kilobytes": 8, "seconds": 0.01}
    campaign = calling("versatile", SEEDS, parameters, flush_s=0.1)
    (tmp_path / "c.yaml").write_text(campaign.dumps())
    arguments = [str(tmp_path / "mount"), str(ballast), sys.executable, str(tmp_path / "c.yaml")]
    subprocess.run(
        ["unshare", "-rm", "sh", "-c", INSIDE, "sh", *arguments, str(tmp_path / "keep")],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        check=True,
        timeout=200,
    )
    run(calling("versatile", SEEDS, parameters, flush_s=0.1), tmp_path / "reference.h5")
    return tmp_path / "keep"


def test_a_run_stops_cleanly_and_is_completed_when_there_is_room(tmp_path: Path) -> None:
    keep = on_a_filling_disk(tmp_path, 7_000_000)
    assert (keep / "status").read_text() == "1\n"
    messages = (keep / "stderr").read_text()
    assert "No space left on device" in messages
    assert "make room there, then run the same command" in messages
    assert "results are safe in" in messages
    assert "Traceback" not in messages
    assert any((keep / "first" / "shards").rglob("*.shard")), "some were published before"
    assert (keep / "status2").read_text() == "0\n", (keep / "stderr2").read_text()
    assert "results are there already" in (keep / "stderr2").read_text()
    assert equal(results(keep / "out.h5"), results(tmp_path / "reference.h5"))
