"""Copies of compiled functions in which everything they refer to has the value it had when they were copied.

Numba compiles the values of globals in when a function is first called, at whatever time that is. A function that
was called before a global changed keeps the old value, and machine code made of it later would be kept on disk
under a digest of the new one. Copies are made at the moment the digest is taken and share nothing that can be
assigned to, so digest and code always belong together. Their names hold the digest: machine code from several
processes can be loaded into one without two functions under one symbol (see ``compiled.named``).
"""

from __future__ import annotations

import builtins
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from vindeby.wake.compiling.code_names import (
    MISSING,
    attribute_of,
    from_library,
    global_names,
    is_compiled_when_used,
)
from vindeby.wake.compiling.compiled import named
from vindeby.wake.compiling.two_forms import ONLY_FOR_LOOPS, with_form_for_loops


class Copies:
    """The copies of the functions of one model, each made once, named by the model's identity."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._made: dict[object, Any] = {}

    def of(self, value: Any, names: frozenset[str] = frozenset()) -> Any:
        """Copy a value that compiled code refers to; ``names`` are the attributes read if it is a module."""
        if is_compiled_when_used(value):
            return self._function(value)
        if type(value) is np.ndarray:
            return value.copy(order="K")
        if isinstance(value, ModuleType) and from_library(value.__name__) is None:
            return self._module(value, names)
        if type(value) in (tuple, list):
            return type(value)(self.of(item) for item in value)
        if isinstance(value, tuple) and hasattr(value, "_make"):
            return value._make(self.of(item) for item in value)
        return value

    def _function(self, dispatcher: Any) -> Any:
        if id(dispatcher) in self._made:
            return self._made[id(dispatcher)]
        original = dispatcher.py_func
        scope = {"__builtins__": original.__globals__.get("__builtins__", builtins)}
        cells = tuple(CellType() for _ in original.__closure__ or ())
        defaults = self.of(original.__defaults__)
        copy = FunctionType(original.__code__, scope, original.__name__, defaults, cells or None)
        copy.__kwdefaults__ = original.__kwdefaults__ and {
            name: self.of(value) for name, value in original.__kwdefaults__.items()
        }
        copy.__module__, copy.__qualname__ = original.__module__, original.__qualname__
        named(copy, self._identity)
        for_loops = _compiled_like(dispatcher, copy, ONLY_FOR_LOOPS)
        compiled = with_form_for_loops(_compiled_like(dispatcher, copy, {}), lambda _: for_loops)
        self._made[id(dispatcher)] = compiled  # before what it refers to, which may be itself
        self._fill(original, scope, cells)
        return compiled

    def _fill(self, original: FunctionType, scope: dict[str, Any], cells: tuple[CellType, ...]) -> None:
        read, attributes = global_names(original.__code__)
        for cell, old in zip(cells, original.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.of(old.cell_contents, attributes)
            except ValueError:  # nothing was assigned yet
                continue
        for name in read:
            if name in original.__globals__:
                scope[name] = self.of(original.__globals__[name], attributes)

    def _module(self, module: ModuleType, names: frozenset[str]) -> ModuleType:
        key = (id(module), names)
        if key in self._made:
            made: ModuleType = self._made[key]
            return made
        copy = self._made[key] = ModuleType(module.__name__)
        for name in sorted(names):
            attribute = attribute_of(module, name)
            if attribute is not MISSING:
                setattr(copy, name, self.of(attribute, names))
        return copy


def _compiled_like(dispatcher: Any, function: FunctionType, further_options: dict[str, bool]) -> Any:
    return type(dispatcher)(
        function,
        locals=dict(dispatcher.locals),
        targetoptions={**dispatcher.targetoptions, **further_options},
        pipeline_class=dispatcher._compiler.pipeline_class,  # noqa: SLF001
    )
