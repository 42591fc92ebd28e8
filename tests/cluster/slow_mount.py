"""A folder mounted a second time as a network file system would show it: slow, and with stale listings.

    python slow_mount.py FOLDER MOUNT_POINT STALE_S

FUSE passes every call on to FOLDER, after a delay. A listing of a directory is kept for STALE_S seconds, unless this
mount itself changed the directory; the kernel keeps attributes and names (also those that are not there) for as long.
The first openings of files whose path contains the text in ``FOLDER/../estale`` fail with ESTALE, as when a
server forgot a handle.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it
try:
    import fusepy as fuse
except ImportError:
    import fuse

DELAY_S = 0.001
EXPIRES = 3
"""Openings that fail on each mount; the kernel itself tries each a second time."""


class SlowMount(fuse.Operations):  # type: ignore[misc]
    def __init__(self, folder: str, stale_s: float) -> None:
        self.folder, self.stale_s = folder, stale_s
        self.listings: dict[str, tuple[float, list[str]]] = {}
        self.estale = Path(folder).parent / "estale"
        self.expired = 0

    def __call__(self, operation: str, path: str, *arguments: Any) -> Any:
        time.sleep(DELAY_S)
        return super().__call__(operation, self.folder + path, *arguments)

    def changed(self, path: str) -> None:
        self.listings.pop(str(Path(path).parent), None)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.lstat(path)
        names = (
            "st_mode",
            "st_nlink",
            "st_uid",
            "st_gid",
            "st_size",
            "st_atime",
            "st_mtime",
            "st_ctime",
            "st_ino",
        )
        return {name: getattr(found, name) for name in names}

    def readdir(self, path: str, fh: int) -> list[str]:
        since, names = self.listings.get(path, (-self.stale_s, []))
        if time.monotonic() - since > self.stale_s:
            names = [".", "..", *(entry.name for entry in os.scandir(path))]
            self.listings[path] = time.monotonic(), names
        return names

    def open(self, path: str, flags: int) -> int:
        if self.estale.exists():
            text = self.estale.read_text()
            if text in path and self.expired < EXPIRES:
                self.expired += 1
                sys.stderr.write(f"ESTALE {path}\n")
                sys.stderr.flush()
                raise fuse.FuseOSError(errno.ESTALE)
        return os.open(path, flags)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        self.changed(path)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        os.truncate(path if fh is None else fh, length)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        os.fsync(fh)

    def flush(self, path: str, fh: int) -> None:
        os.close(os.dup(fh))

    def release(self, path: str, fh: int) -> None:
        os.close(fh)

    def rename(self, old: str, new: str) -> None:
        new = self.folder + new
        self.changed(old)
        self.changed(new)
        Path(old).rename(new)

    def unlink(self, path: str) -> None:
        self.changed(path)
        Path(path).unlink()

    def mkdir(self, path: str, mode: int) -> None:
        self.changed(path)
        Path(path).mkdir(mode)

    def rmdir(self, path: str) -> None:
        self.changed(path)
        Path(path).rmdir()

    def chmod(self, path: str, mode: int) -> None:
        Path(path).chmod(mode)

    def chown(self, path: str, uid: int, gid: int) -> None:
        os.chown(path, uid, gid)

    def utimens(self, path: str, times: tuple[float, float] | None = None) -> None:
        os.utime(path, times)

    def statfs(self, path: str) -> dict[str, Any]:
        found = os.statvfs(path)
        names = (
            "f_bavail",
            "f_bfree",
            "f_blocks",
            "f_bsize",
            "f_favail",
            "f_ffree",
            "f_files",
            "f_frsize",
            "f_namemax",
        )
        return {name: getattr(found, name) for name in names}


if __name__ == "__main__":
    stale_s = float(sys.argv[3])
    fuse.FUSE(
        SlowMount(sys.argv[1], stale_s), sys.argv[2], foreground=True, use_ino=True, default_permissions=True,
        attr_timeout=stale_s, entry_timeout=stale_s, negative_timeout=stale_s,
    )  # fmt: skip
