"""The loops over directions, turbines and wind speeds, for any wake model.

Every direction is worked off by itself: the turbines are sorted downwind; each in turn has its wind speed
from the wakes gathered so far, then its thrust, and then casts its own wake on those downwind of it that it
can reach. Wind speeds are innermost and contiguous. Nothing larger than turbines x speeds is kept. The free wind is
the same for all turbines or each one's own (``wind_access``); the order is that of the site's wind direction.

``direct_kernels`` compiles these loops around a model's functions. The gradient is the same walk in reverse, by hand:
from the last turbine to the first, the slope of the total with each wind speed is passed upwind through superposition,
deficit, thrust and place. It costs about as much as twice the power, however many turbines there are.
``tabulated`` has a faster pair loop for models whose deficit depends on thrust and place alone.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.blockage import blockage_at_point, with_blockage, with_blockage_back
from vindeby.wake.loops.cumulative import make_cumulative_walk
from vindeby.wake.loops.frame import add_slopes, in_state, make_add_up, make_loop, pair_of
from vindeby.wake.loops.local_wind import LocalRows
from vindeby.wake.loops.superposition import turbulence_in_wakes
from vindeby.wake.loops.wind import Adjoints, Waked, clear, new_adjoints, new_waked, no_adjoints, turn
from vindeby.wake.loops.wind_access import Locality, access_of, superposition_for
from vindeby.wake.models.contract import Pair, WakeModel, once_per_model
from vindeby.wake.turbines.curves import curves_at, curves_with_slopes


class DirectKernels(NamedTuple):
    """The compiled loops of one model; ``frame`` says what the arguments of the first two are."""

    power: Callable[..., None]
    gradient: Callable[..., None]
    field: Callable[..., None]


class DirectRoom(NamedTuple):
    """The buffers of one direction; ``rows`` holds the free wind of every turbine if it differs between them."""

    waked: Waked
    adjoints: Any
    rows: Any


@once_per_model
def direct_kernels(model: WakeModel, locality: Locality = "uniform") -> DirectKernels:
    walk = make_walk(model, locality)
    return DirectKernels(
        make_loop(*_make_direction(model, locality, walk, gradient=False)),
        make_loop(*_make_direction(model, locality, walk, gradient=True)),
        _make_field(model, locality),
    )


def _make_direction(
    model: WakeModel, locality: Locality, walk: Callable[..., None], *, gradient: bool
) -> tuple[Callable[..., DirectRoom], Callable[..., None]]:
    walk_back, access, is_local = make_walk_back(model, locality), access_of(locality), locality != "uniform"
    rows_for, states_of, add_up = access.room, access.states, make_add_up(access.at)
    adjoints_for = new_adjoints if gradient else no_adjoints

    @scalar
    def new_room(wind, types):
        n = types.size
        return DirectRoom(new_waked(n, wind.most), adjoints_for(n, wind.most), rows_for(wind, n))

    @inlined
    def one_direction(
        data, turbines, turned, room, wind, d, opposite, x, y, counted, out, out_x, out_y, kept
    ):
        n, waked, adjoints, rows = x.size, room.waked, room.adjoints, room.rows
        states = states_of(wind, d, rows, x, y, turned.types)
        walk(data, turbines, turned, states, waked)
        add_up(turned, n, states, wind.first[d], counted, waked, out, kept)
        if gradient:
            if is_local:
                for a in range(n):
                    i = turned.order[a]
                    for k in range(states.speed.size if i < counted else 0):
                        out_x[i] += rows.weight_x[i, k] * waked.power[a, k]
                        out_y[i] += rows.weight_y[i, k] * waked.power[a, k]
            walk_back(data, turbines, turned, states, counted, waked, adjoints)
            add_slopes(turned, n, wind.cosine[d], wind.sine[d], adjoints, out_x, out_y)
            if is_local:
                for i in range(n):
                    of_x, of_y = _of_own_place(rows, adjoints, i)
                    out_x[i] += of_x
                    out_y[i] += of_y

    return new_room, one_direction


@scalar
def _of_own_place(rows: LocalRows, adjoints: Adjoints, i: int) -> tuple[float, float]:
    """Return the partial derivatives of the total by x and y of turbine ``i`` through its free wind."""
    s, ti, turn = adjoints.speedup[i], adjoints.turbulence[i], adjoints.turning[i]
    return (
        s * rows.speedup_xy[i, 0] + ti * rows.turbulence_xy[i, 0] + turn * rows.turning_xy[i, 0],
        s * rows.speedup_xy[i, 1] + ti * rows.turbulence_xy[i, 1] + turn * rows.turning_xy[i, 1],
    )


def make_walk(model: WakeModel, locality: Locality) -> Callable[..., None]:
    settle = _make_settle(model, locality)
    is_cumulative = model.superposition == "cumulative"
    walk = make_cumulative_walk(model, settle) if is_cumulative else _make_pair_walk(model, locality, settle)
    return with_blockage(model, walk) if model.blockage is not None else walk


def _make_settle(model: WakeModel, locality: Locality) -> Callable[..., tuple[float, float]]:
    adds, blocks = model.adds_turbulence, model.blockage is not None
    wind_speed, of_free_wind = superposition_for(model, locality).wind_speed, model.thrust_of == "free"

    @scalar
    def settle(turbines, type_index, states, waked, a):
        """Compute wind, power, thrust and turbulence of turbine ``a``; return the largest thrust and turbulence."""
        most_thrust = most_turbulence = 0.0
        for k in range(states.speed.size):
            waked.u[a, k] = wind_speed(states.speed[k], waked.summed[a, k])
            if blocks:
                waked.u[a, k] -= waked.blocked[a, k]
            waked.power[a, k], waked.ct[a, k] = curves_at(turbines, type_index, waked.u[a, k])
            if of_free_wind:
                waked.ct[a, k] = curves_at(turbines, type_index, states.speed[k])[1]
            waked.ti[a, k] = states.turbulence[k]
            if adds:
                waked.ti[a, k] = turbulence_in_wakes(states.turbulence[k], waked.extra[a, k])
            most_thrust = max(most_thrust, waked.ct[a, k])
            most_turbulence = max(most_turbulence, waked.ti[a, k])
        return most_thrust, most_turbulence

    return settle


def _make_pair_walk(
    model: WakeModel, locality: Locality, settle: Callable[..., tuple[float, float]]
) -> Callable[..., None]:
    deficit, reach, added = model.deficit, model.reach, model.turbulence_functions[0]
    together, access, adds = superposition_for(model, locality), access_of(locality), model.adds_turbulence
    scale, term = together.scale, together.term
    at, rotate_to_local_wind, turned_wakes = access.at, access.rotate_to_local_wind, locality == "turned"

    @scalar
    def downwind_walk(data, turbines, turned, states, waked):
        n = turned.order.size
        u, ct, ti = waked.u, waked.ct, waked.ti
        for a in range(n):
            clear(waked.summed[a])
            clear(waked.extra[a])
        for a in range(n):
            source, own = turned.types[turned.order[a]], at(states, turned.order[a])
            most_thrust, most_turbulence = settle(turbines, source, own, waked, a)
            diameter = turbines.diameter[source]
            for b in range(a + 1, n):
                rotor = turbines.diameter[turned.types[turned.order[b]]]
                far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
                far, aside = rotate_to_local_wind(own, far, aside)
                if (turned_wakes and far <= 0.0) or abs(aside) >= reach(
                    data, far, diameter, rotor, most_thrust, most_turbulence
                ):
                    continue
                thrust = local = -1.0
                value, pair = 0.0, pair_of(turbines, turned, a, b, far, aside, thrust, local)
                for k in range(own.speed.size):
                    if ct[a, k] != thrust or ti[a, k] != local:
                        thrust, local = ct[a, k], ti[a, k]
                        value = deficit(data, in_state(pair, thrust, local))
                    waked.summed[b, k] += term(value * scale(u[a, k], own.speed[k]))
                    if adds:
                        plus = added(data, in_state(pair, thrust, local), own.turbulence[k])
                        waked.extra[b, k] = max(waked.extra[b, k], plus)

    return downwind_walk


def make_walk_back(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the walk upwind after the walk downwind; it fills ``adjoints.along`` and ``adjoints.across``."""
    reach, pair_back = model.reach, _make_pair_back(model, locality)
    settle_back, access = _make_settle_back(model, locality), access_of(locality)
    at, rotate_to_local_wind, rotate_back = access.at, access.rotate_to_local_wind, access.rotate_back
    is_local, turned_wakes = locality != "uniform", locality == "turned"
    blocks = model.blockage is not None

    @scalar
    def upwind_walk(data, turbines, turned, states, counted, waked, adjoints):
        n, count = turned.order.size, states.speed.size
        clear(adjoints.along)
        clear(adjoints.across)
        for a in range(n - 1, -1, -1):
            i = turned.order[a]
            source, own = turned.types[i], at(states, i)
            most_thrust = most_turbulence = 0.0
            for k in range(count):
                adjoints.u[k] = adjoints.thrust[a, k] = adjoints.ti[k] = 0.0
                if is_local:
                    adjoints.free[k] = adjoints.free_ti[k] = 0.0
                if blocks:
                    adjoints.u[k] = adjoints.blocked[a, k]
                most_thrust = max(most_thrust, waked.ct[a, k])
                most_turbulence = max(most_turbulence, waked.ti[a, k])
            diameter = turbines.diameter[source]
            of_place = of_side = of_turning = 0.0
            for b in range(a + 1, n):
                rotor = turbines.diameter[turned.types[turned.order[b]]]
                far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
                far, aside = rotate_to_local_wind(own, far, aside)
                if turned_wakes and far <= 0.0:
                    continue
                if abs(aside) >= reach(data, far, diameter, rotor, most_thrust, most_turbulence):
                    continue
                of_far, of_aside = pair_back(data, turbines, turned, far, aside, own, waked, adjoints, a, b)
                if turned_wakes:
                    of_turning += of_aside * far - of_far * aside
                of_far, of_aside = rotate_back(own, of_far, of_aside)
                adjoints.along[b] += of_far
                adjoints.across[b] += of_aside
                of_place -= of_far
                of_side -= of_aside
            adjoints.along[a] += of_place
            adjoints.across[a] += of_side
            settle_back(turbines, source, own, 1.0 if i < counted else 0.0, waked, adjoints, a)
            if is_local:
                adjoints.speedup[i] = adjoints.turbulence[i] = 0.0
                for k in range(count):
                    adjoints.speedup[i] += adjoints.free[k] * states.speed[k]
                    adjoints.turbulence[i] += adjoints.free_ti[k]
                adjoints.turning[i] = of_turning

    return with_blockage_back(model, upwind_walk) if blocks else upwind_walk


def _make_pair_back(model: WakeModel, locality: Locality) -> Callable[..., tuple[float, float]]:
    """Make the adjoint of the wake of ``a`` on ``b``: it updates ``a`` and returns those of both distances."""
    slopes, added_slopes = model.deficit_with_slopes, model.turbulence_functions[1]
    adds, of_source = model.adds_turbulence, model.reference == "local"
    together, is_local = superposition_for(model, locality), locality != "uniform"
    scale, scale_slope, term_back = together.scale, together.scale_slope, together.term_back
    scale_slope_free = together.scale_slope_free

    @scalar
    def pair_back(data, turbines, turned, far, aside, states, waked, adjoints, a, b):
        u, ct, ti, free = waked.u, waked.ct, waked.ti, states.speed
        of_far = of_aside = 0.0
        thrust = local = -1.0
        pair = pair_of(turbines, turned, a, b, far, aside, thrust, local)
        value = d_far = d_aside = d_ct = d_ti = 0.0
        for k in range(free.size):
            if ct[a, k] != thrust or ti[a, k] != local:
                thrust, local = ct[a, k], ti[a, k]
                pair = in_state(pair, thrust, local)
                value, d_far, d_aside, d_ct, d_ti = slopes(data, pair)
            factor = scale(u[a, k], free[k])
            of_scaled = term_back(adjoints.summed[b, k], value * factor)
            of_value = of_scaled * factor
            if of_source:
                adjoints.u[k] += of_scaled * (value * scale_slope(free[k]))
            if is_local:
                adjoints.free[k] += of_scaled * (value * scale_slope_free(free[k]))
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            adjoints.thrust[a, k] += of_value * d_ct
            if adds or is_local:
                adjoints.ti[k] += of_value * d_ti
            if adds and adjoints.extra[b, k] != 0.0:
                plus, p_far, p_aside, p_ct, p_ti, p_free = added_slopes(data, pair, states.turbulence[k])
                if plus == waked.extra[b, k] and plus > 0.0:
                    of_plus = adjoints.extra[b, k]
                    # One source has the largest, and only the first of equals counts.
                    adjoints.extra[b, k] = 0.0
                    of_far += of_plus * p_far
                    of_aside += of_plus * p_aside
                    adjoints.thrust[a, k] += of_plus * p_ct
                    adjoints.ti[k] += of_plus * p_ti
                    if is_local:
                        adjoints.free_ti[k] += of_plus * p_free
        return of_far, of_aside

    return pair_back


def _make_settle_back(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the adjoint of ``settle``: from power (``counts``: 1 or 0), thrust and turbulence to the sums."""
    adds, blocks = model.adds_turbulence, model.blockage is not None
    together, is_local = superposition_for(model, locality), locality != "uniform"
    wind_speed_back, slope_free = together.wind_speed_back, together.wind_speed_slope_free
    of_free_wind = model.thrust_of == "free"

    @scalar
    def settle_back(turbines, type_index, states, counts, waked, adjoints, a):
        for k in range(states.speed.size):
            slope_power, slope_thrust = curves_with_slopes(turbines, type_index, waked.u[a, k])[2:]
            if of_free_wind:
                slope_thrust = 0.0
            of_speed = (
                adjoints.u[k] + counts * states.weight[k] * slope_power + adjoints.thrust[a, k] * slope_thrust
            )
            adjoints.summed[a, k] = wind_speed_back(of_speed, states.speed[k], waked.summed[a, k])
            if blocks:
                adjoints.speed[a, k] = of_speed
            if adds:
                ti = waked.ti[a, k]
                adjoints.extra[a, k] = adjoints.ti[k] * waked.extra[a, k] / ti if ti > 0.0 else 0.0
            if is_local:
                adjoints.free[k] += of_speed * slope_free(waked.summed[a, k])
                if of_free_wind:
                    slope_thrust = curves_with_slopes(turbines, type_index, states.speed[k])[3]
                    adjoints.free[k] += adjoints.thrust[a, k] * slope_thrust
                of_ti = adjoints.ti[k]
                if adds:
                    of_ti *= states.turbulence[k] / waked.ti[a, k] if waked.ti[a, k] > 0.0 else 0.0
                adjoints.free_ti[k] += of_ti

    return settle_back


def _make_field(model: WakeModel, locality: Locality) -> Callable[..., None]:
    """Make the loop over the points of a map; ``out`` holds the free wind, then the wind speed in the wakes.

    ``wind`` has one direction and one wind speed; ``u``, ``ct`` and ``ti`` are those of the turbines in it. Positions
    are in the frame of the wind's grid.
    """
    deficit, blocks = model.deficit, model.blockage is not None
    access, together = access_of(locality), superposition_for(model, locality)
    rows_for, states_of, at = access.room, access.states, access.at
    rotate_to_local_wind = access.rotate_to_local_wind
    scale, term, wind_speed = together.scale, together.term, together.wind_speed

    @kernel()
    def field(data, turbines, wind, x, y, types, u, ct, ti, point_x, point_y, height, out):
        cosine, sine = wind.cosine[0], wind.sine[0]
        states = states_of(wind, 0, rows_for(wind, x.size), x, y, types)
        for p in range(point_x.size):
            summed = blocked = 0.0
            for i in range(x.size):
                own = at(states, i)
                far, aside = turn(cosine, sine, point_x[p] - x[i], point_y[p] - y[i])
                far, aside = rotate_to_local_wind(own, far, aside)
                hub, diameter = turbines.hub_height[types[i]], turbines.diameter[types[i]]
                if blocks and far < 0.0:
                    blocked += blockage_at_point(-far, aside, height - hub, diameter, u[i], ct[i])
                if far > 0.0:
                    pair = Pair(far, aside, height - hub, height + hub, diameter, 0.0, ct[i], ti[i])
                    summed += term(deficit(data, pair) * scale(u[i], own.speed[0]))
            out[p] = wind_speed(out[p], summed) - blocked

    return field
