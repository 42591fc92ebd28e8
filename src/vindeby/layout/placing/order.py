"""From upwind to downwind: the order in which turbines stand, and in which a change of their wakes is followed.

A new turbine changes the wakes of a few others. These wait on a short list, which is cheaper to keep in order than all
turbines are. The order of all is kept only where turbines off the grid, or added turbulence, ask who is upwind.
"""

from __future__ import annotations

from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.rotation import downwind_of


@inlined
def insert(cosine, sine, state, d, a):
    """Put a turbine into the order from upwind to downwind; the place it gets."""
    at = a
    along = downwind_of(cosine, sine, state.place[a, 0], state.place[a, 1])
    while at > 0:
        b = state.order[d, at - 1]
        if downwind_of(cosine, sine, state.place[b, 0], state.place[b, 1]) <= along:
            break
        state.order[d, at] = b
        at -= 1
    state.order[d, at] = a
    return at


@inlined
def place_in_order(state, d, a, begin):
    """Where a turbine is in the order from upwind to downwind, looked for from ``begin`` on."""
    at = begin
    while state.order[d, at] != a:
        at += 1
    return at


@inlined
def wait(cosine, sine, state, a):
    """Put a turbine on the list (its length comes first) of those whose wakes have changed.

    The last is the one farthest upwind, and of several the one that came first.
    """
    if state.changed[a]:
        return
    state.changed[a] = True
    waiting, waiting_along = state.waiting, state.waiting_along
    along = downwind_of(cosine, sine, state.place[a, 0], state.place[a, 1])
    at = waiting[0]
    while at > 0 and (waiting_along[at] < along or (waiting_along[at] == along and waiting[at] < a)):
        waiting[at + 1], waiting_along[at + 1] = waiting[at], waiting_along[at]
        at -= 1
    waiting[at + 1], waiting_along[at + 1] = a, along
    waiting[0] += 1


@inlined
def next_waiting(state):
    """Take the turbine farthest upwind from the list; -1 if there is none."""
    count = state.waiting[0]
    if count == 0:
        return -1
    a = state.waiting[count]
    state.waiting[0] = count - 1
    state.changed[a] = False
    return a
