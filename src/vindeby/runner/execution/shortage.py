"""Was an error a shortage of the process, of which a fresh process would have enough?"""

from __future__ import annotations

import errno
import os

_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
_NO_THREAD = "can't start new thread"
_DEEPEST = 20


def shortage_of(error: BaseException | None) -> str:
    """What the system refused: a descriptor, a process, a thread or memory, whatever was made of that error since."""
    for _ in range(_DEEPEST):
        if error is None:
            return ""
        if isinstance(error, OSError) and error.errno in _SHORTAGES:
            return os.strerror(error.errno)
        if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
            return _NO_THREAD
        error = error.__cause__ or error.__context__
    return ""


def is_shortage(error: BaseException | None) -> bool:
    """Might the same succeed in a process that has used up less?"""
    return bool(shortage_of(error))
