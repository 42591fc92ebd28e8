"""Compiling the engine's loops, with their machine code cached on disk.

**Cache.** Compiling takes seconds, so compiled code is kept on disk: loops, and kernels for cards. Numba's own cache
does not fit here: it looks only at the file a function stands in, so a loop would survive a change of the wake model it
calls, and a loop that was made for one model by a function (see ``direct``) is a closure over compiled functions, which
Numba pickles into its key with a number that is another one in each process: every process would compile it again. This
cache takes as key a digest of *all* code the machine code was made from (``code_digest``), the versions, the processor
or card and the argument types; one file per key, written beside and renamed. Loading such a file executes it, so the
folder and the file must belong to this user or to root, and others must not be able to write there. Whatever is wrong
with the folder or a file in it (missing, read-only, full, damaged, writable by others), the answer is to compile again,
never an error.

**Forms.** Numba compiles a function once for its argument types, in the manner of the loop that calls it first, and
gives that to every loop. But a loop that counts references releases each array that a function returns to it, and a
function compiled for a loop that does not count has never taken hold of it: memory is freed while it is in use. The
other way round, arrays are never freed. So a function has a form for each kind of loop, and a call takes the form of
its caller. What Python needs to call a function is often longer than the function: with it for each of its small
functions, a loop took up to twice as long to compile. So loops have forms without it, and Python has its own.
"""

import fcntl
import hashlib
import os
import pickle
import platform
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar
from uuid import uuid4

import numba
from numba.core import config, types
from numba.core.caching import CompileResultCacheImpl
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack

from vindeby.wake.compiling.code_digest import SourceWalk, digest_of

Function = TypeVar("Function", bound=Callable[..., Any])

# Fused multiply-add and the sign of zero are free to the compiler; anything that would let a NaN or an
# infinity pass unnoticed is not. Division by zero gives infinity, as in NumPy, so that loops have no branch
# for it.
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "fastmath": {"contract", "nsz"},
    "error_model": "numpy",
    "_nrt": True,
}

_DIGEST_SIZE = hashlib.sha256().digest_size

LONGEST_WAIT_S = 120.0
"""The largest loop takes less than a minute on a free processor; its holder may be stopped for as long as it likes."""


Watcher: TypeAlias = Callable[[str], None]


class CompiledElsewhereError(Exception):
    """The error when another process is compiling the loop, and the caller does not want to wait."""


_watching: ContextVar[tuple[Watcher, bool]] = ContextVar("watching", default=(lambda _: None, True))


@contextmanager
def watched(watcher: Watcher, *, waits: bool = True) -> Iterator[None]:
    """Call ``watcher`` when a loop is compiled (with "compiling") or waited for ("waiting").

    Unless it ``waits``, what another process is compiling raises CompiledElsewhereError.
    """
    token = _watching.set((watcher, waits))
    try:
        yield
    finally:
        _watching.reset(token)


def scalar(function: Function) -> Function:
    """Compile a small function that loops call, e.g. a wake width, a deficit or an interpolation."""
    return _in_forms(function, _OPTIONS)


def inlined(function: Function) -> Function:
    """Compile a function that is inlined into the body of every loop that calls it."""
    return _in_forms(function, _OPTIONS | {"forceinline": True})


def uncounted(function: Function) -> Function:
    """Compile a part of a loop that counts no references to its arrays, though the loop around it does.

    Every view of an array is counted twice, at its beginning and its end, which can take longer than the work on it.
    The part must neither make nor return an array.
    """
    return _in_forms(function, _OPTIONS | {"_nrt": False}, follows_caller=False)


def kernel(*, counts_references: bool = True, inline: bool = False) -> Callable[[Function], Function]:
    """Compile a loop and cache its machine code on disk, unless it refers to something that cannot be described.

    The loop may be a closure over compiled functions. A loop that makes no array can do without
    ``counts_references`` to those it is given, which costs time in every small function that takes arrays. With
    ``inline`` it is put whole into loops that call it, which otherwise hand over hundreds of numbers (several for each
    array) at every call.
    """

    def decorate(function: Function) -> Function:
        options = _OPTIONS | {"_nrt": counts_references, "forceinline": inline, "no_cfunc_wrapper": True}
        dispatcher: Any = numba.jit(nogil=True, **options)(_named(function))
        _keep_loop(dispatcher)
        compiled: Function = dispatcher
        return compiled

    return decorate


def fixed_copy(value: Any) -> tuple[Any, list[object]]:
    """Return a copy of a value with its compiled functions, and the unknown objects they refer to."""

    def compile_copy(dispatcher: Any, function: Any) -> Any:
        options = {**dispatcher.targetoptions, "locals": dict(dispatcher.locals)}
        return _in_forms(function, options, follows_caller=False)

    walk = SourceWalk(compile_copy)
    copy = walk.value(value)
    return copy, walk.unknown


def _in_forms(function: Function, options: dict[str, Any], *, follows_caller: bool = True) -> Function:
    """Compile a function for Python and for loops; loops that count no references have another version."""
    _named(function)
    # A call by Python of a form for loops would crash.
    for_loops = options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    from_python: Any = numba.jit(**options)(function)
    counting = numba.jit(**for_loops)(function)
    uncounting = numba.jit(**for_loops | {"_nrt": False})(function) if follows_caller else counting

    def form(args: Any) -> Any:
        # Numba asks while it compiles a caller, whose options are then on top of its stack.
        caller = ConfigStack.top_or_none()
        # Numbers have no references, so that one form will do.
        plain = all(isinstance(kind, types.Number | types.Boolean) for kind in args)
        return counting if caller is None or caller.nrt or plain else uncounting

    from_python.get_call_template = lambda args, kws: form(args).get_call_template(args, kws)
    from_python.get_overload = lambda args: form(args).get_overload(args)
    compiled: Function = from_python
    return compiled


def _named(function: Function) -> Function:
    """Give a function a name that is unique among all processes.

    Numba numbers the functions of a process and makes symbols of name and number. Machine code from disk was
    numbered by other processes: two functions could have the same symbol, and the one loaded first would stand for
    both.
    """
    function.__qualname__ = f"{function.__qualname__}[{uuid4().hex}]"
    return function


def cache_folder() -> Path | None:
    """Return the folder of machine code: ``NUMBA_CACHE_DIR`` if it is set, else the user's cache, if any."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "vindeby"
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "vindeby"
    except RuntimeError:  # this user has no home
        return None


def _refuse_untrusted(status: os.stat_result) -> None:
    """Raise PermissionError if others can write here: loading a pickle executes it."""
    if status.st_uid not in {os.geteuid(), 0} or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("others may write here: machine code is neither read nor kept")


@contextmanager
def compiling_alone(path: Path) -> Iterator[None]:
    """Let one process compile for this file, while others that need the same code wait for it.

    The kernel releases the lock when its holder ends, in whatever way. It saves work and protects nothing: machine code
    is replaced as a whole. So where there can be no lock, or it is held for very long, a process compiles without it.
    """
    lock, end = path.with_suffix(".compiling"), time.monotonic() + LONGEST_WAIT_S
    descriptor, is_ours, (watcher, waits) = -1, False, _watching.get()
    try:
        with suppress(OSError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            while not is_ours and time.monotonic() < end:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    is_ours = True
                except BlockingIOError:
                    if not waits:
                        raise CompiledElsewhereError from None
                    watcher("waiting")
                    time.sleep(0.05)
        yield
    finally:
        with suppress(OSError):
            if is_ours:
                lock.unlink(missing_ok=True)
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a process forked meanwhile holds the same lock
            os.close(descriptor)


class Keeping(NamedTuple):
    """The functions that cache compiled code: make the bytes (or None), and load them into a dispatcher.

    Where any of the three fails, the code is compiled and not kept.
    """

    dumped: Callable[[Any], bytes | None]
    add: Callable[[Any, Any, Any], None]
    made_from: Callable[[], str | None]
    """A function that describes the source of the code; None if something cannot be described."""


def keep_on_disk(dispatcher: Any, keeping: Keeping) -> None:
    """Load compiled code from the disk cache if it is there, and cache new compilations."""
    compile_now = dispatcher.compile

    @cache
    def made_from() -> str | None:
        with suppress(Exception):
            return keeping.made_from()
        return None

    def compile_or_load(signature: Any) -> Any:
        path = None if signature in dispatcher.overloads else _path_for(dispatcher, made_from(), signature)
        if path is not None and not _load(dispatcher, signature, path, keeping):
            # In this order: a thread that compiles waits for files of what its loop calls.
            with global_compiler_lock, compiling_alone(path):
                if not _load(dispatcher, signature, path, keeping):  # nobody else has compiled it meanwhile
                    _watching.get()[0]("compiling")
                    compile_now(signature)
                    _save(keeping, dispatcher, signature, path)
        with global_compiler_lock:  # what there is already, if there is
            return compile_now(signature)

    dispatcher.compile = compile_or_load


def _keep_loop(dispatcher: Any) -> None:
    def dumped(compiled: Any) -> bytes | None:
        has_addresses = compiled.library.has_dynamic_globals
        return None if has_addresses else pickle.dumps(CompileResultCacheImpl.reduce(None, compiled))

    def add(dispatcher: Any, signature: Any, kept: Any) -> None:
        context = dispatcher.targetctx
        context.refresh()
        found = CompileResultCacheImpl.rebuild(None, context, kept)
        context.insert_user_function(found.entry_point, found.fndesc, [found.library])
        dispatcher.add_overload(found)
        dispatcher.stats.cache_hits[signature] += 1

    keep_on_disk(dispatcher, Keeping(dumped, add, lambda: described(dispatcher)))


def described(dispatcher: Any) -> str | None:
    """Return a description of everything a loop is compiled from; None if something cannot be described."""
    function, found = dispatcher.py_func, digest_of(dispatcher)
    versions = (numba.__version__, platform.python_version())
    return None if found.unknown else repr((found.text, versions, function.__module__, function.__name__))


def _path_for(dispatcher: Any, made_from: str | None, signature: Any) -> Path | None:
    """Return the cache file for these argument types, making its folder if needed; None if it cannot be used."""
    folder = cache_folder()
    if folder is None or made_from is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_untrusted(folder.stat())
    except (OSError, ValueError):  # ValueError: this cannot be the name of a folder
        return None
    processor, fields = dispatcher.targetctx.codegen().magic_tuple(), list(_fields_of(signature))
    digest = hashlib.sha256(repr((made_from, str(signature), fields, processor)).encode())
    return folder / f"{dispatcher.py_func.__name__}-{digest.hexdigest()[:32]}.nbc"


def _fields_of(kinds: Iterable[Any]) -> Iterator[tuple[str, ...]]:
    """Yield the fields of all named tuples among these types, which machine code reads by position."""
    for kind in kinds:
        yield tuple(getattr(kind, "fields", ()))
        yield from _fields_of(getattr(kind, "types", ()))


def _load(dispatcher: Any, signature: Any, path: Path, keeping: Keeping) -> bool:
    """Load the compiled code for these argument types; return False if there is none that can be used."""
    with global_compiler_lock:
        if signature in dispatcher.overloads:
            # Another thread has loaded it. Added twice it would be ambiguous, and every call would look it up anew.
            return True
        try:
            with path.open("rb") as stream:
                _refuse_untrusted(os.fstat(stream.fileno()))
                digest, data = stream.read(_DIGEST_SIZE), stream.read()
            if hashlib.sha256(data).digest() != digest:
                return False
            keeping.add(dispatcher, signature, pickle.loads(data))  # noqa: S301
        except Exception:  # noqa: BLE001  a damaged file can fail in any way, and compiling is always right
            return False
        return True


def _save(keeping: Keeping, dispatcher: Any, signature: Any, path: Path) -> None:
    with suppress(Exception):
        data = keeping.dumped(dispatcher.overloads[signature])
        if data is None:
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(hashlib.sha256(data).digest() + data)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
