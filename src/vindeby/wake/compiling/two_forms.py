"""Small compiled functions in two forms: for loops that count references to arrays, and for those that do not.

Numba compiles a function once for its argument types, in the manner of the loop that calls it first, and gives that
to every loop. But a loop that counts references releases each array that a function returns to it, and a function
compiled for a loop that does not count has never taken hold of it: memory is freed while it is in use. The other way
round, arrays are never freed. Which of them happened depended on the loop that was compiled first, and was kept with
its machine code. So a function has a form for each kind of loop, and a call takes the form of its caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.targetconfig import ConfigStack

__all__ = ["in_two_forms"]


def in_two_forms(function: Callable[..., Any], **options: Any) -> Any:
    """The compiled function. Called from Python it counts references."""
    counting = numba.njit(_nrt=True, **options)(function)
    without = numba.njit(_nrt=False, **options)(function)
    template, overload = counting.get_call_template, counting.get_overload

    # Numba asks for these two while it compiles a caller, whose options are then on top of its stack.
    def get_call_template(args: Any, kws: Any) -> Any:
        return (without.get_call_template if _not_counted(args) else template)(args, kws)

    def get_overload(args: Any) -> Any:
        return (without.get_overload if _not_counted(args) else overload)(args)

    counting.get_call_template, counting.get_overload = get_call_template, get_overload
    return counting


def _not_counted(args: Any) -> bool:
    """Whether the caller counts no references. Numbers have none, so there one form will do."""
    caller = ConfigStack.top_or_none()
    plain = all(isinstance(kind, types.Number | types.Boolean) for kind in args)
    return caller is not None and not caller.nrt and not plain
