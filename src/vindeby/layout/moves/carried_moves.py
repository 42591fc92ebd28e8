"""The change in energy by one moved turbine, with sums that are updated from move to move.

For every direction the sums of wakes of all turbines are kept, and the deficit of every pair in reach. A trial takes
the wakes of the moved turbine out of the sums of those it reached, puts them in where it would stand, and follows the
turbines whose wind changes downwind. It writes down what it finds, and a kept move takes that over.

Most moves of a search are refused, and by far more than it takes to see from a rough trial: one that leaves out
deficits, and changes of them, below ``ROUGH``. Only a gain that may be above what is needed is worked out in full.

Three things keep sums equal to those of a whole evaluation (to 1e-9 of the energy). A turbine whose thrust, or wind
where deficits are fractions of it, is off what its wakes were made with by no more than ``SAME`` keeps its wakes; it is
compared with what they were made with, so that such steps do not add up. A sum of squares of which little is left is
summed up anew. And the walk settles the layout now and then.

The loops stand on the wake model's functions, as those of ``vindeby.wake.loops.direct`` do. They hold for models that
add no turbulence and have no blockage, as long as there are not too many pairs for ``MOST_BYTES``.
"""

from collections.abc import Callable
from math import inf, sqrt

from vindeby.layout.moves.carried_state import (
    ROUGH,
    SPEED,
    SUMMED,
    THRUST,
    MoveKernels,
    forget_trial,
    free_winds,
    is_downwind,
    list_new_targets,
    list_sources,
    list_targets,
    make_find_pairs,
    make_reaches,
    take_over,
    take_over_deficits,
    touch,
)
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.wind import turn, wind_from
from vindeby.wake.loops.wind_access import Locality, access_of, superposition_for
from vindeby.wake.models.contract import Pair, once_per_model
from vindeby.wake.turbines.curves import curves_at

SAME = 1e-10
"""A thrust coefficient, or a fraction of a turbine's free wind speed, that differs by no more casts the same wakes."""
PER_THRUST = 3.0
"""The approximate relative change of a wake per change of the thrust coefficient."""
CLEAR, PER_TURBINES = 20.0 * ROUGH, 50
"""By how much of the mean power of a turbine a rough gain must be below what is needed; in farms of more turbines than
``PER_TURBINES`` by more, with the root of their number, as more small deficits are left out. Measured: a rough gain was
off by less than a tenth of that at 50 turbines, by a third at 200, in trials that were not ended early."""
LEFT = 1e-9
"""A sum of squares that is below the square of so small a deficit is summed up anew: its root would show rounding."""


def _make_settle_one(model: WakeModel, locality: Locality) -> Callable[..., float]:
    wind_speed, of_free_wind = superposition_for(model, locality).wind_speed, model.thrust_of == "free"

    @inlined
    def settle_one(turbines, type_index, own, row):
        power = 0.0
        for k in range(own.speed.size):
            row[SPEED, k] = wind_speed(own.speed[k], max(row[SUMMED, k], 0.0))
            watts, row[THRUST, k] = curves_at(turbines, type_index, row[SPEED, k])
            if of_free_wind:
                row[THRUST, k] = curves_at(turbines, type_index, own.speed[k])[1]
            power += own.weight[k] * watts
        return power

    return settle_one


def _make_cast(model: WakeModel, locality: Locality) -> Callable[..., None]:
    deficit, together = model.deficit, superposition_for(model, locality)
    rotate, term, scale = access_of(locality).rotate_to_local_wind, together.term, together.scale

    @inlined
    def cast(data, turbines, moves, d, i, own, row, rows, part, anew, noted):
        """Add the wakes of turbine ``i``, with its ``own`` free wind and ``row``, to the sums in ``rows``.

        They are those on the ``part`` (first and end) of the turbines listed. With one thrust after the other, what
        depends on it alone is computed once. Unless ``anew``, wakes of the same thrust as before are what they were. If
        they are ``noted``, a kept move can take them over.
        """
        first, end = part
        listed, value, source = moves.listed, moves.value, moves.types[i]
        height, diameter = turbines.hub_height[source], turbines.diameter[source]
        for q in range(first, end):
            moves.far[q], moves.aside[q] = rotate(own, moves.far[q], moves.aside[q])
        last = last_turbulence = -1.0
        for k in range(own.speed.size):
            if not anew and abs(row[THRUST, k] - moves.rows[d, i, THRUST, k]) <= SAME:
                row[THRUST, k] = moves.rows[d, i, THRUST, k]
                for q in range(first, end):
                    value[q] = moves.deficit[d, i, k, listed[q]]
                last = -1.0
            elif row[THRUST, k] != last or own.turbulence[k] != last_turbulence:
                last, last_turbulence = row[THRUST, k], own.turbulence[k]
                for q in range(first, end):
                    target = moves.types[listed[q]]
                    hub = turbines.hub_height[target]
                    value[q] = deficit(
                        data, Pair(moves.far[q], moves.aside[q], hub - height, hub + height, diameter,
                        turbines.diameter[target], last, last_turbulence),
                    )  # fmt: skip
            scaled = scale(row[SPEED, k], own.speed[k])
            for q in range(first, end):
                rows[listed[q], SUMMED, k] += term(value[q] * scaled)
            for q in range(first, end if noted else first):
                moves.new_deficit[d, i, k, listed[q]] = value[q]

    return cast


@inlined
def _sort(along, order):
    """Sort from upwind to downwind by insertion, as the previous order is nearly right."""
    for a in range(order.size):
        i, b = order[a], a
        while b > 0 and is_downwind(along[order[b - 1]] - along[i], order[b - 1], i):
            order[b] = order[b - 1]
            b -= 1
        order[b] = i


def _make_settle(  # noqa: C901  a loop and its parts
    model: WakeModel, locality: Locality
) -> Callable[..., float]:
    settle_one, cast = _make_settle_one(model, locality), _make_cast(model, locality)
    (own_wind, fill), reaches = free_winds(locality), make_reaches(locality)

    @inlined
    def list_reached(moves, d, a, own):
        order, i, count = moves.order[d], moves.order[d, a], 0
        for b in range(a + 1, order.size):
            j = order[b]
            far, aside = moves.along[d, j] - moves.along[d, i], moves.across[d, j] - moves.across[d, i]
            if reaches(moves, own, i, j, far, aside, False):
                moves.far[count], moves.aside[count], moves.listed[count] = far, aside, j
                count += 1
        return count

    @inlined
    def prepare(wind, moves, d, i, speeds):
        moves.along[d, i], moves.across[d, i] = turn(wind.cosine[d], wind.sine[d], moves.x[i], moves.y[i])
        fill(wind, moves, d, moves.types[i], moves.x[i], moves.y[i], i)
        moves.strongest[d, i], moves.target_count[d, i] = 0.0, 0
        for k in range(speeds):
            moves.rows[d, i, SUMMED, k] = 0.0
        for j in range(moves.x.size):
            moves.reached[d, i, j] = False

    @kernel(counts_references=False)
    def settle(data, turbines, wind, moves):
        n, total = moves.x.size, 0.0
        for d in range(wind.cosine.size):
            if moves.idle[d]:
                continue
            states, rows = wind_from(wind, d), moves.rows[d]
            for i in range(n):
                prepare(wind, moves, d, i, states.speed.size)
            _sort(moves.along[d], moves.order[d])
            for a in range(n):
                i = moves.order[d, a]
                own = own_wind(moves, d, states, i)
                watts = settle_one(turbines, moves.types[i], own, rows[i])
                moves.watts[d, i] = watts
                if i < moves.counted:
                    total += watts
                count = list_reached(moves, d, a, own)
                cast(data, turbines, moves, d, i, own, rows[i], rows, (0, count), True, True)
                for q in range(count):
                    take_over_deficits(moves, d, i, moves.listed[q])
        moves.total[0] = total
        return total

    return settle


def _make_take_out(model: WakeModel, locality: Locality) -> Callable[..., None]:
    together = superposition_for(model, locality)
    term, scale = together.term, together.scale

    @inlined
    def take_out(moves, d, i, own, count):
        for q in range(count):
            touch(moves, d, moves.listed[q], moves.along[d, moves.listed[q]])
        for k in range(own.speed.size):
            scaled = scale(moves.rows[d, i, SPEED, k], own.speed[k])
            for q in range(count):
                j = moves.listed[q]
                moves.new_rows[d, j, SUMMED, k] -= term(moves.deficit[d, i, k, j] * scaled)

    return take_out


def _make_is_little_left(model: WakeModel, locality: Locality) -> Callable[..., bool]:
    together, squares = superposition_for(model, locality), model.superposition == "squares"
    term, scale = together.term, together.scale

    @inlined
    def is_little_left(row, own):
        little = False
        for k in range(own.speed.size if squares else 0):
            little = little or row[SUMMED, k] < LEFT * term(scale(own.speed[k], own.speed[k]))
        return little

    return is_little_left


def _make_cast_changed(
    model: WakeModel, cast: Callable[..., None], take_out: Callable[..., None]
) -> Callable[..., None]:
    of_source = model.reference == "local"

    @inlined
    def change(row, new_row, free, same):
        """Return whether a turbine's wakes change, and by about which fraction."""
        differs, most = False, 0.0
        for k in range(free.size):
            thrust = abs(new_row[THRUST, k] - row[THRUST, k])
            speed = abs(new_row[SPEED, k] - row[SPEED, k]) / free[k] if of_source else 0.0
            differs = differs or thrust > same or speed > same
            most = max(most, PER_THRUST * thrust + speed)
        return differs, most

    @inlined
    def cast_changed(data, turbines, moves, d, i, moved, own, rough):
        changes, most = change(moves.rows[d, i], moves.new_rows[d, i], own.speed, ROUGH if rough else SAME)
        if not changes:
            return
        moves.state[d, i] = 2
        if not (rough and most * moves.strongest[d, i] < ROUGH):
            count = list_targets(moves, d, i, moved, most, rough)
            take_out(moves, d, i, own, count)
            rows = moves.new_rows[d]
            cast(data, turbines, moves, d, i, own, rows[i], rows, (0, count), False, not rough)

    return cast_changed


def _make_follow(model: WakeModel, locality: Locality) -> Callable[..., float]:
    settle_one, cast = _make_settle_one(model, locality), _make_cast(model, locality)
    take_out = _make_take_out(model, locality)
    cast_changed, own_wind = _make_cast_changed(model, cast, take_out), free_winds(locality).own
    is_little_left = _make_is_little_left(model, locality)

    @inlined
    def sum_up(data, turbines, moves, d, i, moved, states, noted):
        rows, count = moves.new_rows[d], list_sources(moves, d, i, moved)
        for k in range(states.speed.size):
            rows[i, SUMMED, k] = 0.0
        for q in range(count):
            j = moves.listed[q]
            row = moves.rows[d, j]
            if moves.state[d, j] == 2:
                row = rows[j]
            own = own_wind(moves, d, states, moves.x.size if j == moved else j)
            # The turbine itself is not among its sources, so that the list has room for it.
            moves.listed[count], moves.far[count], moves.aside[count] = i, moves.far[q], moves.aside[q]
            cast(data, turbines, moves, d, j, own, row, rows, (count, count + 1), True, noted)

    @inlined
    def cast_anew(data, turbines, moves, d, moved, own, rough):
        rows, count = moves.new_rows[d], list_new_targets(moves, d)
        moves.state[d, moved] = 2
        for q in range(count):
            touch(moves, d, moves.listed[q], moves.along[d, moves.listed[q]])
        cast(data, turbines, moves, d, moved, own, rows[moved], rows, (0, count), True, not rough)

    @inlined
    def follow(data, turbines, moves, d, moved, states, rough):
        """Return the gain (W) in one direction."""
        total, a = 0.0, 0
        forget_trial(moves, d)
        count = list_targets(moves, d, moved, moved, 1.0, rough)
        take_out(moves, d, moved, own_wind(moves, d, states, moved), count)
        touch(moves, d, moved, moves.new_along[d])
        while a < moves.touched_count[d]:
            i = moves.touched[d, a]
            new_row = moves.new_rows[d, i]
            own = own_wind(moves, d, states, moves.x.size if i == moved else i)
            if i == moved or is_little_left(new_row, own):
                sum_up(data, turbines, moves, d, i, moved, states, i == moved and not rough)
            watts = settle_one(turbines, moves.types[i], own, new_row)
            moves.new_watts[d, i] = watts
            if i < moves.counted:
                total += watts - moves.watts[d, i]
            if i == moved:
                cast_anew(data, turbines, moves, d, i, own, rough)
            else:
                cast_changed(data, turbines, moves, d, i, moved, own, rough)
            a += 1
        return total

    return follow


@once_per_model
def carried_kernels(model: WakeModel, locality: Locality = "uniform") -> MoveKernels:
    fill = free_winds(locality).fill
    follow, find_pairs = _make_follow(model, locality), make_find_pairs(locality)

    @kernel(counts_references=False)
    def gained(data, turbines, wind, moves, moved, x, y, needed):
        """Return the gain of a move (W); it is approximate if clearly not above ``needed``."""
        rough = needed > -inf
        for d in range(wind.cosine.size):
            moves.new_along[d], moves.new_across[d] = turn(wind.cosine[d], wind.sine[d], x, y)
            if not moves.idle[d]:
                fill(wind, moves, d, moves.types[moved], x, y, moves.x.size)
        clear = CLEAR * sqrt(max(moves.counted / PER_TURBINES, 1.0)) * moves.total[0] / moves.counted
        while True:
            find_pairs(wind, moves, moved, rough)
            total = 0.0
            for d in range(wind.cosine.size):
                if not moves.idle[d]:
                    total += follow(data, turbines, moves, d, moved, wind_from(wind, d), rough)
            if not rough or total < needed - clear:
                return total
            rough = False

    @kernel(counts_references=False)
    def keep(data, turbines, wind, moves, moved, x, y):
        """Accept a move; call it after ``gained`` of the same move."""
        moves.x[moved], moves.y[moved] = x, y
        for d in range(wind.cosine.size):
            if not moves.idle[d]:
                take_over(moves, d, moved)
                fill(wind, moves, d, moves.types[moved], x, y, moved)

    return MoveKernels(_make_settle(model, locality), gained, keep)
