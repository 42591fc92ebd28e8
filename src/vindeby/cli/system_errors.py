"""Errors of the operating system that no command has expected, as messages with a remedy."""

from __future__ import annotations

import errno
from pathlib import Path

from vindeby.errors import InputError, VindebyError
from vindeby.store.disk.files import storage_error

_INPUT = {
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ELOOP: "name the file that the symbolic links should lead to",
    errno.ENOTDIR: "a part of this path is not a folder",
    errno.EACCES: "ask for permission, or name a file of yours",
    errno.EPERM: "ask for permission, or name a file of yours",
}
"""What the user has to change, where it is the path that is wrong and not the disk."""
_SHOWN = 200


def as_vindeby_error(error: OSError) -> VindebyError:
    """The same as an error that a user can act on."""
    if error.errno in _INPUT and error.filename is not None:
        name = str(error.filename)
        shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
        return InputError(f"{shown}: {error.strerror}; {_INPUT[error.errno]}")
    return storage_error(error, Path(error.filename or Path.cwd() / "the current folder"), 0, 1)
