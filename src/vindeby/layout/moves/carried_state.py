"""What ``carried_moves`` keeps of a layout in every direction, and what a trial would change in it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.moves.carried_steps import SPOT
from vindeby.wake.loops.local.local_wind import LocalWind
from vindeby.wake.loops.wind import Wind

ShortIntArray = npt.NDArray[np.int16]
"""Numbers of turbines: ``MOST_BYTES`` allows for fewer than 6000."""

NOTES_PER_TURBINE = 16
"""Room for so many changed pairs for each turbine and direction; a kept move that changed more is settled anew."""


class SettledLayout(NamedTuple):
    """The layout as it stands, in every direction.

    ``idle`` tells directions that never blow. ``spot`` (directions, turbines, ``SPOT``) holds numbers of a turbine in a
    direction, ``wind`` (directions, turbines, 8, wind speeds) those for every wind speed; ``carried_steps`` names
    them. ``targets`` and ``sources`` (directions, turbines, turbines) list those that a turbine reaches and those that
    reach it, as many as ``target_count`` and ``source_count`` say; ``deficit`` (directions, source, wind speeds,
    position in the source's ``targets``). ``order``: the turbines from upwind to downwind, and ``total`` the power (W),
    both when last settled.
    """

    idle: npt.NDArray[np.bool_]
    spot: FloatArray
    wind: FloatArray
    targets: ShortIntArray
    target_count: IntArray
    sources: ShortIntArray
    source_count: IntArray
    deficit: FloatArray
    order: IntArray
    total: FloatArray

    @classmethod
    def empty(cls, wind: Wind | LocalWind, n: int) -> SettledLayout:
        """Room for ``n`` turbines."""
        directions, most = len(wind.cosine), wind.most
        each, pairs = (directions, n), (directions, n, n)
        # Probabilities that differ from place to place are worked out later: all directions count.
        local = isinstance(wind, LocalWind) and wind.grid.frequency.size > 0
        idle = np.array([not local and not wind.weight[a:b].any() for a, b in pairwise(wind.first)])
        return cls(
            idle, np.zeros((*each, SPOT)), np.zeros((*each, 8, most)),
            np.zeros(pairs, np.int16), np.zeros(each, np.int64), np.zeros(pairs, np.int16), np.zeros(each, np.int64),
            np.zeros((*each, most, n)), np.tile(np.arange(n), (directions, 1)), np.zeros(1),
        )  # fmt: skip


class TrialChanges(NamedTuple):
    """Who would be changed by a trial, in every direction.

    ``state`` of a turbine: 0 as before, 1 in other wakes, 2 with other wakes; ``touched`` lists those that are not as
    before, ``touched_count`` of them, from upwind to downwind. Of the moved turbine, where it would stand (``along``
    and ``across``, in m), and those that it would reach (``targets``) and that would reach it (``sources``).
    """

    state: npt.NDArray[np.int8]
    touched: ShortIntArray
    touched_count: IntArray
    along: FloatArray
    across: FloatArray
    targets: ShortIntArray
    target_count: IntArray
    sources: ShortIntArray
    source_count: IntArray

    @classmethod
    def empty(cls, directions: int, n: int) -> TrialChanges:
        """Room for ``n`` turbines."""
        each = (directions, n)
        return cls(
            np.zeros(each, np.int8), np.zeros(each, np.int16), np.zeros(directions, np.int64),
            np.zeros(directions), np.zeros(directions),
            np.zeros(each, np.int16), np.zeros(directions, np.int64),
            np.zeros(each, np.int16), np.zeros(directions, np.int64),
        )  # fmt: skip


class Notes(NamedTuple):
    """The new deficits of a trial, for a kept move to take over.

    Those of a turbine on its targets begin in ``deficit`` at ``first`` (directions, turbines; -1: none), those on the
    moved turbine at ``first_on_moved`` (directions). ``used`` is how many there are in all, -1 if there was no room.
    """

    first: IntArray
    first_on_moved: IntArray
    used: IntArray
    deficit: FloatArray

    @classmethod
    def empty(cls, directions: int, n: int, most: int) -> Notes:
        """Room for ``n`` turbines and up to ``most`` wind speeds."""
        # The last n pairs are room for those that are not noted.
        size = (NOTES_PER_TURBINE * directions * n + n) * most
        return cls(
            np.zeros((directions, n), np.int64), np.zeros(directions, np.int64), np.zeros(1, np.int64),
            np.zeros(size),
        )  # fmt: skip


class Room(NamedTuple):
    """Room for one step: turbines ``listed``, with their ``positions`` in a list, how ``far`` and how far ``aside``.

    ``keys``: how far downwind those stand that a trial has touched.
    """

    listed: ShortIntArray
    positions: ShortIntArray
    keys: FloatArray
    far: FloatArray
    aside: FloatArray

    @classmethod
    def empty(cls, n: int) -> Room:
        """Room for ``n`` turbines."""
        return cls(np.zeros(n, np.int16), np.zeros(n, np.int16), np.zeros(n), np.zeros(n), np.zeros(n))
