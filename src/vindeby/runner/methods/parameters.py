"""The parameters of a campaign as a user's function gets them: a copy for each task, which is read-only.

A function that changed its parameters would change what the next task of the same process computes, so that results
would depend on what ran before, and differ after a resume. Dictionaries and lists stay what they are for
``isinstance``, ``json`` and ``pickle``; a copy (``copy.deepcopy``) can be changed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NoReturn


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError(
        "task.parameters cannot be changed, because a change would reach other tasks; "
        "change a copy of it: copy.deepcopy(task.parameters)"
    )


class _FrozenDict(dict[str, Any]):
    """A dictionary without the means to change it."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class _FrozenList(list[Any]):
    """A list without the means to change it."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> Any:
        return list, (list(self),)


def frozen(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """A deep copy that refuses to be changed; TypeError says what to do instead."""
    return _FrozenDict({key: _frozen(value) for key, value in parameters.items()})


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return frozen(value)
    return _FrozenList(map(_frozen, value)) if isinstance(value, list) else value
