"""Small compiled functions in the forms that callers need: loops that count references, loops that do not, and Python.

Numba compiles a function once for its argument types, in the manner of the loop that calls it first, and gives that
to every loop. But a loop that counts references releases each array that a function returns to it, and a function
compiled for a loop that does not count has never taken hold of it: memory is freed while it is in use. The other way
round, arrays are never freed. Which of them happened depended on the loop that was compiled first, and was kept with
its machine code. So a function has a form for each kind of loop, and a call takes the form of its caller.

What Python needs to call a function, code that takes Python's objects apart and puts them together, is often longer
than the function: with it for each of its small functions, a loop took up to twice as long to compile. So loops have
forms without it, and Python has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.targetconfig import ConfigStack

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
