"""What the names in a function's code refer to, and which of it belongs to a library."""

from __future__ import annotations

import dis
import sys
import sysconfig
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import builtin_registry

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


def registered_elsewhere() -> tuple[frozenset[int], frozenset[str]]:
    """What ``numba.extending`` has been told by others than Numba: functions, by id, and names of attributes.

    Compiled code that uses one of these is made from an implementation that neither name nor version tell.
    """
    return _registered(len(builtin_registry.globals), len(builtin_registry.attributes))


@lru_cache(maxsize=1)
def _registered(*lengths: int) -> tuple[frozenset[int], frozenset[str]]:
    functions = [
        id(function)
        for function, kind in builtin_registry.globals
        if any(map(_is_from_elsewhere, getattr(kind, "templates", ())))
    ]
    attributes = [
        name
        for name in (getattr(t, "_attr", None) for t in builtin_registry.attributes if _is_from_elsewhere(t))
        if name is not None
    ]
    return frozenset(functions), frozenset(attributes)


def _is_from_elsewhere(template: Any) -> bool:
    # Numba makes some implementations as it goes; they have no module.
    module_name = getattr(getattr(template, "_overload_func", None), "__module__", None)
    return module_name is not None and from_library(module_name) is None
