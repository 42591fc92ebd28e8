"""The process that starts workers ends them all when its coordinator is gone, however that went."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time

import pytest

from vindeby.runner.protocol import Inbox

SPAWNER = """
import socket, subprocess, sys
from multiprocessing.connection import Connection
from vindeby.runner.local.spawner import SpawnerProcess
ours, theirs = socket.socketpair()
spawner = SpawnerProcess(Connection(theirs.detach()), -1)
worker = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)"],
    start_new_session=True,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
worker.returncode = 0  # the spawner waits for it
spawner.slots[worker.pid] = 0
print(worker.pid, flush=True)
ours.send(bytes.fromhex(sys.argv[1]))
ours.close()
spawner.run()
"""


START = pickle.dumps((0, ""))
NO_DESCRIPTOR = (struct.pack("!i", len(START)) + START + b".").hex()


@pytest.mark.parametrize(
    "message",
    ["", "00000020" + b"half".hex(), "0000", NO_DESCRIPTOR],
    ids=["none", "half", "half a size", "no descriptor"],
)
def test_workers_end_when_the_last_message_is_cut_short(message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SPAWNER, message], capture_output=True, text=True, timeout=60.0, check=False
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), signal.SIGKILL)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_signal_at_the_end_of_a_wait_does_not_make_it_endless() -> None:
    inbox = Inbox()
    rescue = threading.Timer(10.0, inbox.post, [lambda: None])
    before = signal.signal(signal.SIGALRM, lambda *_: time.sleep(0.1))  # longer than what is left of the wait
    rescue.start()
    signal.setitimer(signal.ITIMER_REAL, 0.15)
    try:
        began = time.monotonic()
        assert inbox.wait(0.2) == []
        assert time.monotonic() - began < 10.0
    finally:
        signal.signal(signal.SIGALRM, before)
        rescue.cancel()
