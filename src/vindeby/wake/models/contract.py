"""The interface of wake models: a few small compiled functions, and the superposition of their results.

The loops (``vindeby.wake.loops.direct``) know turbines, directions and speeds, and no wake physics. A model tells
them, for one source and one rotor downwind of it, all lengths in metres:

``deficit_with_slopes(data, pair)``
    the fraction by which the wind is reduced, averaged over the rotor as the model sees fit, and its slopes with
    downwind, crosswind, thrust and turbulence; ``pair`` is a ``Pair``. Loops that need the deficit alone compile it
    without what only the slopes need.
``reach(data, downwind, diameter, rotor, thrust, turbulence)``
    a crosswind distance beyond which the deficit (and the added turbulence) is below ``NEGLIGIBLE``; it must
    grow with thrust and turbulence, of which the largest of all wind speeds are given.

A model that adds turbulence has one more, ``added_turbulence``, of ``data``, ``pair`` and the turbulence intensity of
the free wind: the addition, the same four slopes, and that with the turbulence of the free wind. The largest addition
counts, added to the free one as squares. ``data.constants`` holds the model's numbers,
``data.overlap`` the table of ``vindeby.wake.models.overlap`` for models that average a Gaussian over
the rotor.

A model whose deficit is a Gaussian over a mirrored one, averaged over the rotor, may also tell its width, ``Widths``;
then ``vindeby.wake.loops.by_width`` computes it many times faster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, wraps
from itertools import product
from math import isfinite
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.wake.compiling.code_digest import digest_of
from vindeby.wake.compiling.compiled import fixed_copy, inlined, scalar
from vindeby.wake.models.overlap import overlap_table

NEGLIGIBLE = 1e-10
"""A deficit, as a fraction of the wind speed, that may be left out: so few are so near this that a farm's energy
changes by less than 1e-10 of itself."""

SIGMAS = 7.2
"""The end of a Gaussian wake, in sigmas crosswind: exp(-SIGMAS^2/2) is 5e-12."""


class ModelData(NamedTuple):
    """The numbers a model's compiled functions read."""

    constants: FloatArray
    overlap: FloatArray


class Pair(NamedTuple):
    """A source and a rotor downwind of it, in one wind state; all lengths in metres.

    ``downwind`` is never negative, ``crosswind`` is the horizontal distance (signed), ``rise`` the rotor's hub height
    less the source's, ``heights`` their sum (for a mirrored wake), ``diameter`` the source's, ``rotor`` the other's
    (0: a point), ``thrust`` the source's thrust coefficient and ``turbulence`` the turbulence intensity at the source.
    """

    downwind: float
    crosswind: float
    rise: float
    heights: float
    diameter: float
    rotor: float
    thrust: float
    turbulence: float


Slopes = tuple[float, float, float, float, float]
"""A deficit and its slopes with downwind, crosswind, thrust and turbulence."""

TurbulenceSlopes = tuple[float, float, float, float, float, float]
"""An added turbulence, the same slopes of it, and that with the turbulence of the free wind."""


class Widths(NamedTuple):
    """The width of a Gaussian wake, as functions that loops can vectorise (inlined, no branches or logarithms).

    For a model whose deficit is c sqrt(a^2 + b^2), with c = 1 - sqrt(1 - ct D^2/(8 sigma^2)) and a and b the means
    over the rotor of a Gaussian of width sigma and of its mirror image below the ground (``means`` in ``width_steps``).

    ``numbers(constants, diameter, thrust, turbulence)``: four numbers, all that the width behind a source depends on,
    from the model's first eight constants (a tuple, which loops can keep in registers); ``number_slopes`` of the same
    arguments: their slopes with thrust. ``width(n0, n1, n2, n3, downwind)``: sigma in metres, which must grow with
    thrust and turbulence and be concave downwind. ``width_with_slopes(numbers, number_slopes, downwind)``: sigma and
    its slopes with downwind distance and thrust. ``least_turbulence``: below this turbulence intensity the functions
    are not exact enough.
    """

    numbers: Callable[..., tuple[float, float, float, float]]
    number_slopes: Callable[..., tuple[float, float, float, float]]
    width: Callable[..., float]
    width_with_slopes: Callable[..., tuple[float, float, float]]
    least_turbulence: float = 0.0


_WORDS: dict[str, tuple[str | None, ...]] = {
    "superposition": ("linear", "squares", "cumulative"),
    "reference": ("free", "local"),
    "free_wind_of": ("source", "target"),
    "thrust_of": ("local", "free"),
    "blockage": ("self-similar-2020", None),
}


@scalar
def _adds_nothing(data: ModelData, pair: Pair, free_turbulence: float) -> TurbulenceSlopes:
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True)
class WakeModel:
    """A wake model: its functions (see the module), its numbers, and its superposition.

    ``superposition``: the deficits of several wakes add up, ``"linear"``, or their ``"squares"`` do. ``"cumulative"``
    is that of one model, whose wakes depend on each other; it has a walk of its own and no gradient.
    ``reference``: a deficit is a fraction of the ``"free"`` wind speed or of the ``"local"`` one, that at the source in
    the wakes of others. ``free_wind_of``: where the free wind differs from place to place, a fraction of it is one of
    the free wind of the ``"source"`` or of the ``"target"``. ``thrust_limit``: above this thrust coefficient the
    functions have a kink (see ``vindeby.wake.loops.tabulated``). ``tabulate``: pairs of turbines may be read from a
    table; only for squares of fractions of the free wind speed and without added turbulence, all that these loops know.
    ``growth_constants``: which of ``constants``, counted from 0, the growth of the wakes downwind is proportional to;
    searches that begin with wider wakes multiply these (``widened``). None given: the wakes cannot be widened, and such
    searches use the true wakes from the beginning. ``blockage``: the model of what turbines take from the wind
    upwind of them, if any (``with_blockage`` gives any model one; see ``loops.blockage``). ``widths``: the
    width of the wakes, for models that can tell it (see ``Widths``); used only with ``tabulate``.
    ``thrust_of``: the wind that a turbine's thrust coefficient follows, the ``"local"`` one in the wakes of others or
    the ``"free"`` one; the latter has neither tables nor blockage.
    """

    name: str
    constants: tuple[float, ...]
    deficit_with_slopes: Callable[..., Slopes]
    reach: Callable[..., float]
    superposition: Literal["linear", "squares", "cumulative"]
    reference: Literal["free", "local"]
    needs_turbulence: bool = False
    added_turbulence: Callable[..., TurbulenceSlopes] | None = None
    tabulate: bool = False
    thrust_limit: float = 1.0
    growth_constants: tuple[int, ...] = ()
    free_wind_of: Literal["source", "target"] = "source"
    blockage: Literal["self-similar-2020"] | None = None
    widths: Widths | None = None
    thrust_of: Literal["local", "free"] = "local"

    def __post_init__(self) -> None:
        for field, known in _WORDS.items():
            if getattr(self, field) not in known:
                raise ArgumentError(
                    f"wake model {self.name!r}: {field} must be {' or '.join(repr(word) for word in known if word)}, "
                    f"not {getattr(self, field)!r}"
                )
        adds = self.added_turbulence is not None or self.blockage is not None
        of_pairs = self.superposition == "squares" and self.reference == "free" and self.thrust_of == "local"
        if self.tabulate and (adds or not of_pairs):
            raise ArgumentError(
                f"wake model {self.name!r}: tabulate=True needs superposition='squares', reference='free', "
                "thrust_of='local', added_turbulence=None and blockage=None: tables hold squares of deficits that are "
                "fractions of the free wind speed and depend on thrust and place alone; set tabulate=False"
            )
        if self.blockage is not None and self.thrust_of != "local":
            raise ArgumentError(
                f"wake model {self.name!r}: blockage needs thrust_of='local'; leave one of them out"
            )
        for index in self.growth_constants:
            if index not in range(len(self.constants)):
                raise ArgumentError(
                    f"wake model {self.name!r}: growth_constants holds {index!r}, but the model has "
                    f"{len(self.constants)} constants; count them from 0"
                )

    @cached_property
    def deficit(self) -> Callable[..., float]:
        """Return the function of the deficit without its slopes."""
        # Inlined, what only the slopes need vanishes.
        with_slopes = inlined(getattr(self.deficit_with_slopes, "py_func", self.deficit_with_slopes))

        @scalar
        def deficit(data: ModelData, pair: Pair) -> float:
            return with_slopes(data, pair)[0]

        return deficit

    @property
    def data(self) -> ModelData:
        """Return the numbers that the compiled functions read."""
        return ModelData(np.array(self.constants, np.float64), overlap_table())

    def widened(self, factor: float) -> WakeModel | None:
        """Return this model with wakes that grow ``factor`` times as fast; None if it does not say how they grow."""
        if not self.growth_constants:
            return None
        constants = enumerate(self.constants)
        grown = tuple(c * factor if i in self.growth_constants else c for i, c in constants)
        return replace(self, constants=grown)

    def with_blockage(self, blockage: Literal["self-similar-2020"] | None) -> WakeModel:
        """Return this model with blockage, for which tables of pairs do not hold."""
        return replace(self, blockage=blockage, tabulate=self.tabulate and blockage is None)

    @property
    def is_a_sum_of_pairs(self) -> bool:
        """Return whether the wind at a turbine is a sum of wakes that each depend on one upwind source."""
        return self.added_turbulence is None and self.blockage is None and self.superposition != "cumulative"

    def __repr__(self) -> str:
        constants = ", ".join(f"{value:g}" for value in self.constants)
        of = "the free wind" if self.reference == "free" else "the wind at the source"
        how = f"superposition {self.superposition}, deficits of {of}"
        return f"<WakeModel {self.name!r}: constants ({constants}), {how}>"

    @property
    def identity(self) -> str:
        """Return a digest that distinguishes the loops of this model from those of others.

        It covers every field, and the code of every function that the model's functions call, with all values they
        refer to as they are now. The one exception is ``constants``: loops get them as data, so that one machine
        code serves a model whatever its numbers are. It is the same in every process, unless the functions refer to
        something that cannot be described.
        """
        fixed: str | None = self.__dict__.get("_identity")
        if fixed is not None:
            return fixed
        return digest_of(self._what_code_is_made_of()).text[:32]

    def with_fixed_code(self) -> WakeModel:
        """Return this model with copies of its functions, on which later changes of what they refer to have no effect.

        Models of equal identity have the same copies.
        """
        if "_identity" in self.__dict__:
            return self
        identity = self.identity
        if identity not in _FIXED:
            # Unknown objects are kept: another one at the same address would have the same identity.
            _FIXED[identity] = fixed_copy(self._what_code_is_made_of())
        fixed = replace(self, **dict(_FIXED[identity][0]))
        fixed.__dict__["_identity"] = identity
        return fixed

    @property
    def adds_turbulence(self) -> bool:
        """Return whether wakes add turbulence."""
        return self.added_turbulence is not None or self.superposition == "cumulative"

    @cached_property
    def turbulence_functions(self) -> tuple[Callable[..., float], Callable[..., TurbulenceSlopes]]:
        """Return the functions of added turbulence without and with its slopes; zeros for a model that adds none."""
        with_slopes = self.added_turbulence or _adds_nothing

        @scalar
        def added(data: ModelData, pair: Pair, free_turbulence: float) -> float:
            return with_slopes(data, pair, free_turbulence)[0]

        return added, with_slopes

    def __getstate__(self) -> dict[str, Any]:
        # In the process that reads it, names may refer to other values: the identity is worked out again there.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _what_code_is_made_of(self) -> tuple[tuple[str, Any], ...]:
        return tuple((f.name, getattr(self, f.name)) for f in fields(self) if f.name != "constants")


_SLOPES = ("downwind", "crosswind", "thrust", "turbulence", "free turbulence")
_STEPS = (0.05, 0.05, 1e-4, 1e-5, 1e-5)
_PLACES = tuple(product((360.0, 840.0, 1800.0), (7.0, -55.0, 110.0), (0.45, 0.8), (0.05, 0.1)))
_FREE_TURBULENCE = 0.08


def find_mistake(model: WakeModel) -> str:
    """Return the first mistake in a model's functions, in words; empty if there is none.

    Slopes are compared with differences at some places in a wake, as far as the differences to both sides agree, which
    they do not at the edge of a top hat. A model whose wakes depend on each other has no slopes. Beyond ``reach``,
    where loops leave a wake out, its deficit must be negligible.
    """
    data = model.data
    functions: list[tuple[str, Callable[..., Any], tuple[str, ...]]]
    functions = [("deficit_with_slopes", model.deficit_with_slopes, _SLOPES[:4])]
    if model.added_turbulence is not None:
        functions.append(("added_turbulence", model.added_turbulence, _SLOPES))
    for name, function, words in functions if model.superposition != "cumulative" else ():
        for place in _PLACES:
            at = (*place, _FREE_TURBULENCE)[: len(words)]

            def numbers(*at: float, function: Any = function) -> Any:
                downwind, crosswind, thrust, turbulence, *more = at
                pair = Pair(downwind, crosswind, 5.0, 205.0, 120.0, 110.0, thrust, turbulence)
                return function(data, pair, *more)

            at_place = ", ".join(f"{word} {number:g}" for word, number in zip(words, at, strict=True))
            found = numbers(*at)
            if len(found) != 1 + len(words):
                count = f"returns {len(found)} values, not {1 + len(words)}"
                return f"{name} {count}: the value, and its slopes with {', '.join(words)}"
            here, *slopes = found
            if not isfinite(here):
                return (
                    f"{name} gives {here:g} as the value at {at_place} (rotors of 120 m); it must be finite"
                )
            for index, (word, given, step) in enumerate(zip(words, slopes, _STEPS, strict=False)):
                moved = [[p + s * (i == index) for i, p in enumerate(at)] for s in (step, -step)]
                ahead, behind = (numbers(*one)[0] for one in moved)
                right, doubt = (
                    (ahead - behind) / (2.0 * step),
                    (abs(ahead - 2.0 * here + behind) + 1e-11) / step,
                )
                # nan is a mistake, too
                if not abs(given - right) <= doubt + 1e-3 * max(abs(given), abs(right)):
                    return (
                        f"{name} gives {given:.6g} as the slope with {word} at {at_place} (rotors of 120 m), but "
                        f"differences of its value give {right:.6g}; correct it, because searches follow it"
                    )
            downwind, _, thrust, turbulence = place
            reach = model.reach(data, downwind, 120.0, 110.0, thrust, turbulence)
            beyond = numbers(downwind, 1.0001 * reach, *at[2:])[0]
            if not abs(beyond) <= 10.0 * NEGLIGIBLE:
                return (
                    f"reach gives {reach:.6g} m at {at_place} (rotors of 120 m), but {name} gives {beyond:.3g} there; "
                    f"return the distance beyond which it is below {NEGLIGIBLE:g}, because wakes are cut off at it"
                )
    return ""


_FIXED: dict[str, tuple[Any, list[object]]] = {}
"""The fields of models with copied functions, and the unknown objects they refer to, by identity."""


Made = TypeVar("Made")
Rest = ParamSpec("Rest")


def once_per_model(
    make: Callable[Concatenate[WakeModel, Rest], Made],
) -> Callable[Concatenate[WakeModel, Rest], Made]:
    """Cache the result of ``make`` per model and further, hashable arguments.

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
