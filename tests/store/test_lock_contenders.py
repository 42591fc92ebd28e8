"""Many processes want one lock while every call that changes a name is slow, and holders die: never two at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONTENDER = """
import os, random, sys, time
from pathlib import Path
from vindeby.store.disk.lock import Lock

chance = random.Random(int(sys.argv[2]))
for name in ("rename", "replace", "link", "unlink"):
    def slow(*arguments, call=getattr(os, name), **options):
        time.sleep(chance.choice((0.0, 0.0, 0.01, 0.05)))
        done = call(*arguments, **options)
        time.sleep(chance.choice((0.0, 0.0, 0.01, 0.05)))
        return done
    setattr(os, name, slow)

folder = Path(sys.argv[1])
for turn in range(int(sys.argv[3])):
    lock = Lock(folder / "run.lock", "run", wait_s=100).acquire()
    (folder / "inside").mkdir()  # fails when another process is inside
    time.sleep(0.005)
    (folder / "inside").rmdir()
    with open(folder / "entered", "a") as file:
        file.write("x")
    if int(sys.argv[2]) % 2:
        os._exit(0)  # dies while it holds the lock
    lock.release()
"""


def contend(folder: Path, number: int, turns: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", CONTENDER, str(folder), str(number), str(turns)]
    return subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)


def test_two_processes_never_hold_a_lock_whose_owners_die_and_whose_renames_are_slow(tmp_path: Path) -> None:
    turns = 6
    children = [contend(tmp_path, number, turns) for number in range(12)]
    ends = [(child.communicate(timeout=110)[1], child.returncode) for child in children]
    assert ends == [("", 0)] * 12
    assert (tmp_path / "entered").read_text() == "x" * (6 * turns + 6)
