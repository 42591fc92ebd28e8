"""A digest of code and of everything it refers to, the same in every process, and copies that stay as digested.

Machine code on disk may be used again only if what it was made from is still the same. A file's text does not show
that: a function calls others in other files and reads numbers that were computed, and Numba compiles all of them
in as constants. So the digest follows the functions themselves: their bytecode and constants (not their line
numbers), their defaults, what they are closures over, and every global they read, down to numbers, texts and the
contents of arrays. Functions and modules of the standard library, NumPy and Numba go by name and version.

What cannot be described (an object of a class unknown here, a function whose compiled form is not made from its
own code) is identified by the object itself. That holds in this process only, and ``unknown`` lists such objects.

Numba compiles the values of globals in when a function is first called, at whatever time that is. A function that was
called before a global changed keeps the old value, and machine code made of it later would be kept on disk under a
digest of the new one. So the same walk can copy all functions that it meets. Copies share nothing that can be assigned
to, so that digest and code always belong together.
"""

from __future__ import annotations

import dis
import hashlib
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CellType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

_VERSIONED = {"numpy": np.__version__, "numba": numba.__version__}
_PLAIN = (NoneType, bool, float, complex, str, bytes, EllipsisType, range)


@cache
def _names_read(code: CodeType) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the names of globals that code reads, sorted, and all names that may be attributes of modules."""
    inner = [_names_read(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    read = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    texts = (constant for constant in code.co_consts if isinstance(constant, str))  # getattr(module, "name")
    attributes = frozenset(code.co_names).union(texts, *(names for _, names in inner))
    return tuple(sorted(read.union(*(names for names, _ in inner)))), attributes


@cache
def from_library(module_name: str) -> str | None:
    """Return name and version if a module belongs to a library that changes only with its version; else None."""
    top = module_name.partition(".")[0]
    if top in _VERSIONED:
        return f"{module_name} {_VERSIONED[top]}"
    if top not in sys.stdlib_module_names:
        return None
    # A user's file may have the name of a module of the standard library; some are built into the interpreter.
    file = getattr(sys.modules.get(top), "__file__", None)
    folders = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    if file is not None and (folders.isdisjoint(Path(file).resolve().parents) or "site-packages" in file):
        return None
    return f"{module_name} {sys.version}"


def _library_name(value: Any) -> str | None:
    """Return the name of this very object in a library, with the library's version; None if it is in none."""
    default = "numpy" if isinstance(value, np.ufunc) else None
    module_name = getattr(value, "__module__", default) or default
    path = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(module_name, str) or not isinstance(path, str):
        return None
    library = from_library(module_name)
    found: Any = sys.modules.get(module_name)
    for name in path.split("."):
        found = getattr(found, name, None)
    return f"{library} {path}" if library is not None and found is value else None


def digest_of(value: object) -> SourceWalk:
    """Return the walk through a compiled function or another value for compiled code; its ``text`` is the digest."""
    walk = SourceWalk()
    walk.value(value)
    return walk


@cache  # it never changes, and is most of what there is to describe
def _digest_of_code(code: CodeType) -> str:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return digest_of((counts, code.co_code, code.co_exceptiontable, names, code.co_consts)).text


class SourceWalk:
    """A walk through all that a value refers to, described so that each part and its end are unambiguous.

    ``compile_copy(dispatcher, function)`` compiles the copy of a compiled function; without it none is copied.
    ``unknown`` lists the objects that could not be described: if there are any, ``text`` means nothing elsewhere.
    """

    def __init__(self, compile_copy: Callable[[Any, FunctionType], Any] | None = None) -> None:
        self._compile_copy = compile_copy
        self.unknown: list[object] = []
        self._hash = hashlib.sha256()
        # By address: in which turn a function or module was met, its copy, and itself, so that it keeps its address.
        self._met: dict[object, tuple[int, Any, object]] = {}
        self._open: set[int] = set()  # the containers whose parts are being described

    @property
    def text(self) -> str:
        """The digest of all values so far, in hex."""
        return self._hash.hexdigest()

    def value(self, value: Any, names: frozenset[str] = frozenset()) -> Any:
        """Describe a value; returns it, or a copy if it could change; ``names`` are the attributes read of a module."""
        if isinstance(value, ModuleType | Dispatcher):
            key = (id(value), names if isinstance(value, ModuleType) else None)
            if key not in self._met:
                return (self._module if isinstance(value, ModuleType) else self._dispatcher)(
                    value, names, key
                )
            number, made, _ = self._met[key]
            self._words("again", number)
            return made
        if isinstance(value, tuple | list | dict):
            return self._container(value)
        if type(value) is np.ndarray and not value.dtype.hasobject:
            self._words("array", repr(value.dtype), value.shape, value.tobytes())
            return value.copy(order="K")
        self._unchanging(value)
        return value

    def _container(self, value: Any) -> Any:
        if id(value) in self._open:  # it holds itself
            self._refuse(value)
            return value
        self._open.add(id(value))
        kind, is_mapping = type(value), isinstance(value, dict)
        self._words(kind.__name__, getattr(value, "_fields", ()), len(value))
        parts = [self.value(part) for part in (sorted(value.items(), key=repr) if is_mapping else value)]
        self._open.discard(id(value))
        if kind in (tuple, list, dict):
            return kind(parts)
        return value._make(parts) if hasattr(value, "_make") else value  # of other classes nothing is known

    def _unchanging(self, value: Any) -> None:
        kind = type(value)
        if kind in _PLAIN:
            self._words(kind.__name__, repr(value))
        elif kind is int:
            self._words("int", hex(value))  # repr refuses very large ones
        elif isinstance(value, np.generic) and not value.dtype.hasobject:
            self._words("number", repr(value.dtype), value.tobytes())
        elif isinstance(value, CodeType):
            self._words("code", _digest_of_code(value))
        elif isinstance(value, set | frozenset):
            self._words("set")
            self.value(sorted(value, key=repr))
        elif (name := _library_name(value)) is not None:
            self._words("library", name)
        elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            self._words("named tuple", value.__qualname__, value._fields)
            self.value(getattr(value, "_field_defaults"))  # noqa: B009 - typing does not know it
        elif isinstance(value, numba.types.Type | np.dtype) and " at 0x" not in str(value):
            self._words("type", kind.__name__, str(value))
        else:
            # Called from compiled code, a function stands for something registered with Numba, not for its own code.
            self._refuse(value)

    def _refuse(self, value: object) -> None:
        self._words("unknown", id(value))
        self.unknown.append(value)

    def _words(self, *words: Any) -> None:
        self._hash.update(repr(words).encode())

    def _module(self, module: Any, names: frozenset[str], key: object) -> ModuleType:
        library = from_library(module.__name__)
        self._words("module", library or module.__name__)
        copy = ModuleType(module.__name__) if library is None else module
        self._met[key] = len(self._met), copy, module
        for name in sorted(names) if library is None else ():
            try:
                attribute = getattr(module, name)
            except Exception:  # noqa: BLE001, S112  the module's own __getattr__ can fail in any way
                continue
            self._words(name)
            setattr(copy, name, self.value(attribute, names))
        return copy

    def _dispatcher(self, dispatcher: Any, _: frozenset[str], key: object) -> Any:
        function = dispatcher.py_func
        self._words("compiled", _digest_of_code(function.__code__))
        self.value(dispatcher.targetoptions)
        self.value(dispatcher.locals)
        scope = {"__builtins__": function.__globals__.get("__builtins__")}
        cells = tuple(CellType() for _ in function.__closure__ or ()) or None
        copy = FunctionType(function.__code__, scope, function.__name__, None, cells)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        copy.__defaults__ = self.value(function.__defaults__)
        copy.__kwdefaults__ = self.value(function.__kwdefaults__)
        compiled = dispatcher
        if _has_explicit_signatures(dispatcher):
            self._refuse(dispatcher)
        elif self._compile_copy is not None:
            compiled = self._compile_copy(dispatcher, copy)
        self._met[key] = len(self._met), compiled, dispatcher  # before what it refers to, which may be itself
        read, attributes = _names_read(function.__code__)
        for old, new in zip(function.__closure__ or (), copy.__closure__ or (), strict=True):
            try:
                content = old.cell_contents
            except ValueError:  # nothing was assigned yet
                self._words("empty")
                continue
            new.cell_contents = self.value(content, attributes)
        for name in read:
            self._words("global", name)
            if name in function.__globals__:
                copy.__globals__[name] = self.value(function.__globals__[name], attributes)
        return compiled


def _has_explicit_signatures(dispatcher: Any) -> bool:
    """Return whether the function was compiled at its definition, from the values of that time."""
    try:
        for signature in dispatcher.signatures[:1]:
            dispatcher.compile(signature)  # returns what there is, or refuses to compile anything
    except RuntimeError:
        return True
    return False
