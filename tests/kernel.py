"""What only the kernel of a machine can provide: FUSE, namespaces, virtual networks; no package brings it.

A test that needs such a thing asks the kernel itself, and says with ``skip_for`` that it does not offer it. Such a skip
is allowed where others are not (VINDEBY_NO_SKIP=1): in a container that forbids mounting, nothing can be done about it.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

REFUSED = "the kernel of this machine refuses"
"""What the reason of an allowed skip begins with."""

NAMESPACES = {"mount": 0x00020000, "uts": 0x04000000, "network": 0x40000000}  # CLONE_NEW... of linux/sched.h
_NUMBERS = (errno.EPERM, errno.EACCES, errno.ENODEV, errno.ENOSYS, errno.EOPNOTSUPP)
_WORDS = (*map(os.strerror, _NUMBERS), "Unknown device type")

_UNSHARE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(ctypes.get_errno() if libc.unshare({flag}) else 0)
"""

_MOUNT_FUSE = """
import ctypes, os, sys
try:
    device = os.open("/dev/fuse", os.O_RDWR)
except OSError as error:
    sys.exit(error.errno)
libc = ctypes.CDLL(None, use_errno=True)
libc.unshare(0x00020000)  # where that is allowed, nobody else sees the mount
data = f"fd={{device}},rootmode=40000,user_id={{os.getuid()}},group_id={{os.getgid()}}".encode()
if libc.mount(b"probe", {place!r}.encode(), b"fuse", 0, data):
    sys.exit(ctypes.get_errno())
libc.umount2({place!r}.encode(), 2)
"""


def skip_for(what: str, why: str) -> NoReturn:
    """Skip a test because the kernel does not offer something."""
    pytest.skip(f"{REFUSED} {what}: {why}")


def skip_without_namespaces(*kinds: str) -> None:
    """Skip where processes cannot have a namespace of their own of these kinds."""
    for kind in kinds:
        if number := _asked(_UNSHARE.format(flag=NAMESPACES[kind])):
            skip_for(f"{kind} namespaces", os.strerror(number))


def skip_without_fuse(folder: Path) -> None:
    """Skip where the device is missing or may not be used, or mounting it is forbidden; ``folder`` is to try it on."""
    if number := _asked(_MOUNT_FUSE.format(place=str(folder))):
        skip_for("to mount FUSE", os.strerror(number) if number != errno.ENOENT else "there is no /dev/fuse")


def is_refusal(text: str) -> bool:
    """Does a command say that the kernel refused what it asked for, rather than that it was called wrongly?"""
    return any(words in text for words in _WORDS)


def is_allowed(reason: str) -> bool:
    """Is this the reason of a skip about which nothing can be done by installing something?"""
    return reason.removeprefix("Skipped: ").startswith(REFUSED)


def _asked(script: str) -> int:
    """The number of the error with which the kernel refuses, 0 when it does not; a child asks, nothing changes here."""
    done = subprocess.run([sys.executable, "-S", "-c", script], check=False, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.returncode
