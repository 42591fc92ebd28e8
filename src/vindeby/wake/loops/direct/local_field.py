"""The wind on a map, where the free wind differs from place to place."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.wake.compiling.compiled import kernel
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.wind_access import Locality, access_of, identity_of, together_of
from vindeby.wake.models.contract import WakeModel


def make_local_field(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the loop over the points of a map; ``out`` holds the free wind at the points and becomes that in wakes.

    ``wind`` has one direction and one wind speed; ``u``, ``ct`` and ``ti`` are those of the turbines in it. Positions
    are in the frame of the wind's grid.
    """
    deficit, access, together = model.deficit, access_of(locality), together_of(model, locality)
    new_room, states_of, at, swing = access.room, access.states, access.at, access.swing
    scale, term, wind_speed = together.scale, together.term, together.wind_speed

    @kernel(identity_of(model, locality))
    def local_field(data, machines, x, y, type_index, wind, u, ct, ti, point_x, point_y, height, out):
        cosine, sine = wind.cosine[0], wind.sine[0]
        states = states_of(wind, 0, new_room(wind, x.size), x, y, type_index)
        for p in range(point_x.size):
            summed = 0.0
            for i in range(x.size):
                own = at(states, i)
                far, aside = turn(cosine, sine, point_x[p] - x[i], point_y[p] - y[i])
                far, aside = swing(own, far, aside)
                if far <= 0.0:
                    continue
                hub, diameter = machines.hub_height[type_index[i]], machines.diameter[type_index[i]]
                value = deficit(
                    data, far, aside, height - hub, height + hub, diameter, 0.0, ct[i], ti[i]
                )  # fmt: skip
                summed += term(value * scale(u[i], own.speed[0]))
            out[p] = wind_speed(out[p], summed)

    return local_field
