"""How the engine's loops are compiled, and where the machine code is kept.

Compiling takes seconds, so compiled code is kept on disk. Numba's own cache does not fit here: it looks only
at the file a function stands in, so a loop would survive a change of the wake model it calls, and it cannot
recognise a loop that was made for one model by a function (see ``direct``). This cache takes as key a digest
of *all* code the machine code was made from (``code_digest``), the identity of the wake model, the versions, the
processor and the argument types; one file per key, written beside and renamed, so any number of processes may
compile at once. Loading such a file executes it, so the folder and the file must belong to this user or to root, and
others must not be able to write to them. Whatever is wrong with the folder or a file in it (missing, read-only, full,
damaged, writable by others), the answer is to compile again, never an error.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import platform
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from vindeby.wake.compiling.code_digest import digest_of
from vindeby.wake.compiling.forms import (
    ONLY_FOR_LOOPS,
    in_two_forms,
    named,
    named_by_closure,
    with_form_for_loops,
)

Function = TypeVar("Function", bound=Callable[..., Any])

THIS_PROCESS = "this-process-"
"""Begins the identity of a model that cannot be described to another process: its code is not kept on disk."""

# Fused multiply-add and the sign of zero are free to the compiler; anything that would let a NaN or an
# infinity pass unnoticed is not. Division by zero gives infinity, as in NumPy, so that loops have no branch
# for it.
_OPTIONS: dict[str, Any] = {"fastmath": {"contract", "nsz"}, "error_model": "numpy"}


def scalar(function: Function) -> Function:
    """Compile a small function that loops call: a wake width, a deficit, an interpolation."""
    compiled: Function = in_two_forms(named_by_closure(function), **_OPTIONS)
    return compiled


def unfused(function: Function) -> Function:
    """Compile a small function that rounds after every operation, as NumPy does."""
    compiled: Function = in_two_forms(named_by_closure(function), error_model="numpy")
    return compiled


def inlined(function: Function) -> Function:
    """Compile a function that is part of a loop's body: it is put there whole, wherever it is called."""
    compiled: Function = in_two_forms(named_by_closure(function), forceinline=True, **_OPTIONS)
    return compiled


def uncounted(function: Function) -> Function:
    """Compile a part of a loop that counts no references to the arrays it is given, though the loop around it does.

    Every view of an array is counted twice, at its beginning and its end, which can take longer than the work on it.
    The part must neither make nor return an array.
    """
    named_function = named_by_closure(function)
    for_loops = numba.njit(_nrt=False, **_OPTIONS, **ONLY_FOR_LOOPS)(named_function)
    compiled: Function = with_form_for_loops(
        numba.njit(_nrt=False, **_OPTIONS)(named_function), lambda _: for_loops
    )
    return compiled


def kernel(
    identity: str, *, counts_references: bool = True, inline: bool = False
) -> Callable[[Function], Function]:
    """Compile a loop and keep its machine code on disk.

    The loop may be a closure over compiled functions: ``identity`` tells apart loops made by the same code
    for different models, and must be the same in every process; with ``THIS_PROCESS`` in it, nothing is kept on
    disk. A loop that makes no array can do without ``counts_references`` to those it is given, which costs time in
    every small function that takes arrays. With ``inline`` it is put whole into loops that call it, which otherwise
    hand over hundreds of numbers (several for each array) at every call.
    """

    def decorate(function: Function) -> Function:
        options = {**_OPTIONS, "_nrt": counts_references, "forceinline": inline, "no_cfunc_wrapper": True}
        dispatcher = numba.njit(nogil=True, **options)(named(function, identity))
        if THIS_PROCESS not in identity:
            _keep_on_disk(dispatcher, identity)
        compiled: Function = dispatcher
        return compiled

    return decorate


def cache_folder() -> Path | None:
    """Where machine code is kept: ``NUMBA_CACHE_DIR`` if it is set, else the user's cache, if any."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "vindeby"
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "vindeby"
    except RuntimeError:  # this user has no home
        return None


def _read_trusted(path: Path) -> bytes:
    """A file that only this user or root can have written; OSError for any other."""
    _refuse_untrusted(path.parent.stat())
    with path.open("rb") as stream:
        _refuse_untrusted(os.fstat(stream.fileno()))
        return stream.read()


def _refuse_untrusted(status: os.stat_result) -> None:
    """Loading a pickle executes it, so nobody else may have written it, nor be able to."""
    if status.st_uid not in {os.geteuid(), 0} or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("others may write here: machine code is neither read nor kept")


LONGEST_WAIT_S = 120.0
"""The largest loop takes less than a minute on a free processor; its holder may be stopped for as long as it likes."""

_BETWEEN_LOOKS_S = 0.05


class CompilingLock:
    """The lock of one file of machine code that is to be made: one process compiles it, and others wait for it.

    The workers of a run all begin with the same loops, and without this each of them would compile them. The kernel
    releases the lock when its holder ends, in whatever way. It saves work and protects nothing: machine code is
    replaced as a whole. So where there can be no lock, or it is held for very long, a process compiles without it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".compiling")
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock; True if another process held it before, which may have left the machine code there."""
        waited = False
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            end = time.monotonic() + LONGEST_WAIT_S
            while not self._is_ours():
                waited = True
                if time.monotonic() >= end:
                    self._close()
                    break
                time.sleep(_BETWEEN_LOOKS_S)
        except OSError:  # compiling is always right
            self._close()
        return waited

    def _is_ours(self) -> bool:
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Let others go on; without effect if there is no lock."""
        if self._descriptor is None:
            return
        # Who still waits for a file that is removed here looks for the machine code next, and so does who comes now.
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        with suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # a process forked meanwhile holds the same lock
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _keep_on_disk(dispatcher: Any, identity: str) -> None:
    kept = dispatcher._cache = _Cache(dispatcher, identity)  # noqa: SLF001  there is no public way in
    compile_now = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        try:
            return compile_now(signature)
        finally:
            kept.let_others_go_on()

    dispatcher.compile = compile_alone


class _Cache(NullCache):  # type: ignore[misc]
    """One function's machine code on disk; the interface is Numba's."""

    def __init__(self, dispatcher: Any, identity: str) -> None:
        self._dispatcher = dispatcher
        self._identity = identity
        self._lock: CompilingLock | None = None

    @cached_property
    def _made_from(self) -> bytes | None:
        """A digest of all that the loop is compiled from; None if something in it cannot be described."""
        function, found = self._dispatcher.py_func, digest_of(self._dispatcher)
        if found.unknown:
            return None
        digest = hashlib.sha256(found.text.encode())
        versions = (numba.__version__, platform.python_version())
        names = (self._identity, function.__module__, function.__qualname__)
        digest.update(repr(versions + names).encode())
        return digest.digest()

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = cache_folder()
        if folder is None or self._made_from is None:
            return None
        digest = hashlib.sha256(self._made_from + repr((str(signature), codegen.magic_tuple())).encode())
        return folder / f"{self._dispatcher.py_func.__name__}-{digest.hexdigest()[:32]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Give the machine code for these argument types, or None: then it is compiled."""
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        loaded = _loaded(path, target_context)
        if loaded is None and _is_ready(path.parent):
            self._lock = CompilingLock(path)
            loaded = _loaded(path, target_context) if self._lock.take() else None
        return loaded

    def let_others_go_on(self) -> None:
        """The machine code is there, or there will be none from here."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep the machine code, if there is a place that lets us."""
        path = self._path(sig, cres.codegen)
        if path is None or cres.library.has_dynamic_globals or not _is_ready(path.parent):
            return
        try:
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(pickle.dumps(cres._reduce()))  # noqa: SLF001
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError:
            return


def _loaded(path: Path, target_context: Any) -> Any:
    try:
        return CompileResult._rebuild(target_context, *pickle.loads(_read_trusted(path)))  # noqa: S301, SLF001
    except Exception:  # noqa: BLE001  a damaged file can fail in any way, and compiling is always right
        return None


def _is_ready(folder: Path) -> bool:
    """Whether machine code may be kept in this folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_untrusted(folder.stat())
    except OSError:
        return False
    return True
