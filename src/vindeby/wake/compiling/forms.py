"""Compiled functions in the forms that callers need, under names of their own, and copies that stay as they are.

**Forms.** Numba compiles a function once for its argument types, in the manner of the loop that calls it first, and
gives that to every loop. But a loop that counts references releases each array that a function returns to it, and a
function compiled for a loop that does not count has never taken hold of it: memory is freed while it is in use. The
other way round, arrays are never freed. So a function has a form for each kind of loop, and a call takes the form of
its caller. What Python needs to call a function is often longer than the function: with it for each of its small
functions, a loop took up to twice as long to compile. So loops have forms without it, and Python has its own.

**Copies.** Numba compiles the values of globals in when a function is first called, at whatever time that is. A
function that was called before a global changed keeps the old value, and machine code made of it later would be kept on
disk under a digest of the new one. Copies are made at the moment the digest is taken and share nothing that can be
assigned to, so digest and code always belong together.
"""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import types
from numba.core.targetconfig import ConfigStack

from vindeby.wake.compiling.code_digest import (
    MISSING,
    attribute_of,
    digest_of,
    from_library,
    global_names,
    is_compiled_when_used,
)

Function = TypeVar("Function", bound=Callable[..., Any])

ONLY_FOR_LOOPS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of a form that Python must never be given: calling it would end the process."""


def in_two_forms(function: Callable[..., Any], **options: Any) -> Any:
    """The compiled function. Called from Python it counts references."""
    from_python = numba.njit(_nrt=True, **options)(function)
    counting = numba.njit(_nrt=True, **options, **ONLY_FOR_LOOPS)(function)
    without = numba.njit(_nrt=False, **options, **ONLY_FOR_LOOPS)(function)
    return with_form_for_loops(from_python, lambda args: without if _not_counted(args) else counting)


def with_form_for_loops(from_python: Any, form: Callable[[Any], Any]) -> Any:
    """Let loops that call a compiled function take another form of it, by the types of their arguments."""

    # Numba asks for these two while it compiles a caller, whose options are then on top of its stack.
    def get_call_template(args: Any, kws: Any) -> Any:
        return form(args).get_call_template(args, kws)

    def get_overload(args: Any) -> Any:
        return form(args).get_overload(args)

    from_python.get_call_template, from_python.get_overload = get_call_template, get_overload
    return from_python


def _not_counted(args: Any) -> bool:
    """Whether the caller counts no references. Numbers have none, so there one form will do."""
    caller = ConfigStack.top_or_none()
    plain = all(isinstance(kind, types.Number | types.Boolean) for kind in args)
    return caller is not None and not caller.nrt and not plain


def named(function: Function, identity: str) -> Function:
    """Give a function that is made anew for every model a name of its own.

    Numba numbers the functions of a process and makes symbols of name and number. Machine code from disk was
    numbered by other processes: two models' versions of one function could have the same symbol, and the one loaded
    first would stand for both.
    """
    function.__qualname__ = f"{function.__qualname__}[{identity}]"
    return function


def named_by_closure(function: Function) -> Function:
    """Name a function by what it is a closure over, so that no maker of such functions has to think of it.

    Compiled functions go by their names: those of a model hold its identity (see ``Copies``).
    """
    if not function.__closure__:
        return function
    words = "|".join(_word(cell.cell_contents) for cell in function.__closure__)
    return named(function, hashlib.sha256(words.encode()).hexdigest()[:12])


def _word(value: object) -> str:
    source = getattr(value, "py_func", None)
    return digest_of(value).text if source is None else f"{source.__module__}.{source.__qualname__}"


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
