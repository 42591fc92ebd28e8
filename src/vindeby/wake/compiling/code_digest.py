"""A digest of code and of everything it refers to, the same in every process.

Machine code on disk may be used again only if what it was made from is still the same. A file's text does not
tell: a function calls others in other files and reads numbers that were computed, and Numba compiles all of them
in as constants. So the digest follows the functions themselves: their bytecode and constants (not their line
numbers), their defaults, what they are closures over, and every global they read, down to numbers, texts and the
contents of arrays. Functions and modules of the standard library, NumPy and Numba go by name and version.

What cannot be described (an object of a class unknown here, a function whose compiled form is not made from its
own code) is told apart by which object it is. That holds in this process only, and ``unknown`` lists such objects.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import sys
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

MISSING = object()

_VERSIONED = {"numpy": np.__version__, "numba": numba.__version__}


def attribute_of(module: ModuleType, name: str) -> Any:
    """An attribute of a module, or MISSING: the module's own ``__getattr__`` can fail in any way."""
    try:
        return getattr(module, name)
    except Exception:  # noqa: BLE001
        return MISSING


def is_compiled_when_used(value: object) -> bool:
    """Whether a function is compiled when it is first called, from what it refers to then.

    With explicit signatures it was compiled when it was defined, from what it referred to at that time.
    """
    return isinstance(value, CPUDispatcher) and value._can_compile  # noqa: SLF001  there is no public way to ask


@cache
def global_names(code: CodeType) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names of globals that code reads, sorted, and all names that may be attributes of modules."""
    read = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    attributes = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_read, inner_attributes = global_names(constant)
            read.update(inner_read)
            attributes.update(inner_attributes)
        elif isinstance(constant, str):  # getattr(module, "name")
            attributes.add(constant)
    return tuple(sorted(read)), frozenset(attributes)


@cache
def from_library(module_name: str) -> str | None:
    """Name and version, if a module belongs to a library that changes only with its version; else None."""
    top = module_name.partition(".")[0]
    if top in _VERSIONED:
        return f"{module_name} {_VERSIONED[top]}"
    if top not in sys.stdlib_module_names:
        return None
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:  # built into the interpreter
        return f"{module_name} {sys.version}"
    # A user's file may have the name of a module of the standard library.
    folders = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]
    parents = Path(file).resolve().parents
    is_standard = any(folder in parents for folder in folders) and "site-packages" not in Path(file).parts
    return f"{module_name} {sys.version}" if is_standard else None


def library_name(value: Any) -> str | None:
    """The name under which a library holds this very object, with the library's version."""
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


class CodeDigest(NamedTuple):
    """``text`` is hexadecimal; if any objects are ``unknown``, it means nothing in another process."""

    text: str
    unknown: tuple[object, ...]


def digest_of(value: object) -> CodeDigest:
    """Digest a compiled function or any other value that compiled code refers to."""
    walk = _Walk()
    walk.value(value)
    return CodeDigest(walk.hexdigest(), tuple(walk.unknown))


@cache  # it never changes, and is most of what there is to describe
def _digest_of_code(code: CodeType) -> bytes:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    parts = (counts, code.co_code, code.co_exceptiontable, names, code.co_consts)
    return digest_of(parts).text.encode()


class _Walk:
    """One walk through all that a value refers to; every part is written with its kind and its length."""

    def __init__(self) -> None:
        self.unknown: list[object] = []
        self._hash = hashlib.sha256()
        self._met: dict[Any, int] = {}
        self._open: set[int] = set()
        self._alive: list[object] = []  # so that no object met takes the address of another

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def value(self, value: object, names: frozenset[str] = frozenset()) -> None:
        """Describe any value; ``names`` are the attributes read from it if it is a module."""
        self._alive.append(value)
        if isinstance(value, ModuleType):
            self._module(value, names)
            return
        for kinds, describe in self._kinds:
            if isinstance(value, kinds):
                describe(self, value)
                return
        name = library_name(value)
        if name is not None:
            self._words("library", name)
        elif isinstance(value, FunctionType):
            # Called from compiled code it stands for something registered with Numba, not for its own code.
            self.function(value)
            self._unknown(value)
        else:
            self._other(value)

    def function(self, function: FunctionType) -> None:
        """Describe a function by its code and all values that it refers to."""
        if self._is_again(id(function)):
            return
        self._words("function")
        self._code(function.__code__)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        read, attributes = global_names(function.__code__)
        for cell in function.__closure__ or ():
            try:
                self.value(cell.cell_contents, attributes)
            except ValueError:  # nothing was assigned yet
                self._words("empty")
        for name in read:
            self._words("global", name)
            if name in function.__globals__:
                self.value(function.__globals__[name], attributes)
            else:
                self._words("builtin" if hasattr(builtins, name) else "missing")

    def _words(self, *words: str | bytes) -> None:
        for word in words:
            data = word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

    def _unknown(self, value: object) -> None:
        self._words("unknown", str(id(value)))
        self.unknown.append(value)

    def _is_again(self, key: object) -> bool:
        """Whether this was described before; then only its place in the order is written."""
        if key in self._met:
            self._words("again", str(self._met[key]))
            return True
        self._met[key] = len(self._met)
        return False

    def _code(self, code: CodeType) -> None:
        self._words("code", _digest_of_code(code))

    def _module(self, module: ModuleType, names: frozenset[str]) -> None:
        if self._is_again((id(module), names)):
            return
        library = from_library(module.__name__)
        self._words("module", library or module.__name__)
        for name in sorted(names):
            attribute = attribute_of(module, name)
            if attribute is MISSING:
                continue
            # A library's functions go by its version; its numbers could have been assigned to.
            could_differ = isinstance(attribute, int | float | complex | np.generic | ModuleType)
            if library is None or could_differ:
                self._words(name)
                self.value(attribute, names)

    def _dispatcher(self, dispatcher: Any) -> None:
        if self._is_again(id(dispatcher)):
            return
        self._words("compiled")
        self.function(dispatcher.py_func)
        self.value(dispatcher.targetoptions)
        self.value(dispatcher.locals)
        self.value(dispatcher._compiler.pipeline_class)  # noqa: SLF001
        if not is_compiled_when_used(dispatcher):
            self._unknown(dispatcher)

    def _plain(self, value: Any) -> None:
        kind = type(value)
        if kind is int:
            self._words("int", hex(value))  # repr refuses very large numbers
        elif kind in _PLAIN:
            self._words(kind.__name__, repr(value))
        else:
            self._other(value)

    def _numpy(self, value: Any) -> None:
        known = type(value) is np.ndarray or isinstance(value, np.generic)
        if known and not value.dtype.hasobject:
            self._words("array", repr(value.dtype), repr(value.shape), value.tobytes())
        else:
            self._unknown(value)

    def _sequence(self, value: list[Any] | tuple[Any, ...]) -> None:
        self._words("sequence", type(value).__name__, repr(getattr(value, "_fields", ())), str(len(value)))
        self._each(value, value)

    def _set(self, value: Iterable[Any]) -> None:
        parts = [digest_of(item) for item in value]
        self._words("set", str(len(parts)), *sorted(part.text for part in parts))
        self.unknown += [item for part in parts for item in part.unknown]

    def _mapping(self, value: dict[Any, Any]) -> None:
        self._words("mapping", str(len(value)))
        self._each(value, (part for item in value.items() for part in item))

    def _each(self, whole: object, parts: Iterable[Any]) -> None:
        if id(whole) in self._open:  # it holds itself
            self._unknown(whole)
            return
        self._open.add(id(whole))
        for part in parts:
            self.value(part)
        self._open.discard(id(whole))

    def _enum(self, value: enum.Enum) -> None:
        self._words("enum", type(value).__qualname__, value.name)
        self.value(value.value)

    def _class(self, value: Any) -> None:
        name = library_name(value)
        if name is not None:
            self._words("library", name)
        elif isinstance(value, enum.EnumMeta):
            self._words("enum class", value.__qualname__)
            members: list[enum.Enum] = list(value)
            for member in members:
                self._enum(member)
        elif issubclass(value, tuple) and hasattr(value, "_fields"):
            self._words("named tuple", value.__qualname__, repr(value._fields))
            self.value(value._field_defaults)
        else:
            self._unknown(value)

    def _other(self, value: object) -> None:
        text = str(value) if isinstance(value, numba.types.Type | np.dtype) else ""
        if text and " at 0x" not in text:
            self._words("type", type(value).__name__, text)
        else:
            self._unknown(value)

    _kinds: tuple[tuple[Any, Callable[[_Walk, Any], None]], ...] = (
        (enum.Enum, _enum),
        (np.ndarray | np.generic, _numpy),
        (NoneType | bool | int | float | complex | str | bytes | EllipsisType | range, _plain),
        (tuple | list, _sequence),
        (set | frozenset, _set),
        (dict, _mapping),
        (CodeType, _code),
        (Dispatcher, _dispatcher),
        (type, _class),
    )


_PLAIN = (NoneType, bool, float, complex, str, bytes, EllipsisType, range)
