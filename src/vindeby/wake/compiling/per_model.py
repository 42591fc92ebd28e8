"""What is compiled for a wake model is made once per process and identity of the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from vindeby.wake.models.contract import WakeModel

Made = TypeVar("Made")
Rest = ParamSpec("Rest")


def once_per_model(
    make: Callable[Concatenate[WakeModel, Rest], Made],
) -> Callable[Concatenate[WakeModel, Rest], Made]:
    """Keep what ``make`` makes of a model and further, hashable arguments.

    The key is the model's identity, not the model: models that differ only in their constants share their loops, and
    a model whose functions refer to something that has changed since gets new ones. ``make`` is given the model
    with fixed code, so that its loops are made of what the identity says.
    """
    made: dict[object, Made] = {}

    @wraps(make)
    def made_once(model: WakeModel, /, *rest: Rest.args, **named: Rest.kwargs) -> Made:
        fixed = model.with_fixed_code()
        key = (fixed.identity, rest, tuple(sorted(named.items())))
        if key not in made:
            made[key] = make(fixed, *rest, **named)
        return made[key]

    return made_once
