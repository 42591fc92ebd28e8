"""Simplified farms, with other wind states or wider wakes: cheaper or smoother problems.

**Wider wakes.** Narrow wakes make countless small optima: a turbine that stands in one cannot see past it. With wakes
that grow faster downwind, their momentum kept, most of these are gone, and what is best there lies near what is good
with the true ones (the idea of wake expansion continuation, Thomas, McOmber and Ning 2022, who scale widths and keep
depths). A wake model says which of its constants its wakes grow with (``growth_constants``).

**Fewer directions.** Of neighbouring directions one stands for all, with their probabilities. An ``offset`` says which:
with another offset the same number of other directions is used, so that a layout cannot settle between the directions
of one choice. Opposite directions stay together, which the engine evaluates at once.

**Fewer speeds.** A few speeds stand for all. The probability of a speed that is left out is shared between the kept
ones around it so that the mean power of a turbine alone stays what it was: ``p = (1 - s) p0 + s p1``. Below rated power
with steady thrust, what a wake takes is in proportion to the power, so losses stay right as well. The speed that
matters least to power and losses is left out first, then the next; the lowest and the highest stay.

**Time series.** A long one is first counted into a rose of whole degrees and whole metres per second, with its mean
turbulence; a short one stays as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.problem import LayoutProblem
from vindeby.units import LONG_SERIES
from vindeby.wake import GriddedSite, ScenarioFarm, Turbine, WakeModel, WindFarm, WindStates


def with_wind(farm: WindFarm, states: WindStates, model: WakeModel) -> WindFarm:
    """Return the farm with these wind states and wakes by this model; local wind stays."""
    same = _SameWind(states)
    return WindFarm(
        replace(farm.site, rose=same) if isinstance(farm.site, GriddedSite) else same,
        farm.turbines,
        model,
        neighbours=farm.neighbours,
        threads=farm.threads,
        tabulate=farm.loops != "direct",
    )


@dataclass(frozen=True, eq=False)
class _SameWind:
    wind: WindStates

    def states(
        self,
        directions: npt.ArrayLike | None = None,  # noqa: ARG002  they were chosen before
        speeds: npt.ArrayLike | None = None,  # noqa: ARG002
    ) -> WindStates:
        return self.wind


def stages(widening: float) -> tuple[float, ...]:
    """Return the growth factors, from this one down to 2 or less, each half of the previous."""
    factors = []
    while widening > 1.0:
        factors.append(widening)
        widening /= 2.0
    return tuple(factors)


def widened(problem: LayoutProblem, factor: float) -> LayoutProblem | None:
    """Return the problem with wakes growing ``factor`` times as fast; None if the model has no growth constants."""
    return _in_each_scenario(problem, lambda farm: _widened(farm, factor))


def _widened(farm: WindFarm, factor: float) -> WindFarm | None:
    model = farm.model.widened(factor)
    return None if model is None else with_wind(farm, farm.states, model)


def _in_each_scenario(
    problem: LayoutProblem, simpler: Callable[[WindFarm], WindFarm | None]
) -> LayoutProblem | None:
    farm = problem.farm
    parts = [simpler(part) for part in farm.parts]
    if not any(parts):
        return None
    made = [one or part for one, part in zip(parts, farm.parts, strict=True)]
    return replace(problem, farm=farm.with_parts(made) if isinstance(farm, ScenarioFarm) else made[0])


_DEFICITS = (0.05, 0.15, 0.3)
"""Wake deficits whose losses should be the same in few speeds as in all."""


def thinned(problem: LayoutProblem, directions: int, speeds: int, offset: int = 0) -> LayoutProblem | None:
    """Return the problem with about so many directions (at least) and speeds (at most); None if nothing changes.

    ``offset`` chooses which directions; any whole number. Farms whose wakes another engine computes stay whole.
    """
    return _in_each_scenario(problem, lambda farm: _thinned(farm, directions, speeds, offset))


def _thinned(farm: WindFarm, directions: int, speeds: int, offset: int) -> WindFarm | None:
    if type(farm) is not WindFarm:
        return None
    if isinstance(farm.site, GriddedSite) and farm.site.grid.has_weibull:
        speeds = len(farm.states.speed)  # probabilities follow from the bins of wind speed
    states = thinned_states(farm.states, farm.turbines, directions, speeds, offset)
    return None if states is farm.states else with_wind(farm, states, farm.model)


def thinned_states(
    states: WindStates, turbines: Sequence[Turbine], directions: int, speeds: int, offset: int = 0
) -> WindStates:
    """Return fewer directions and speeds, with the same total probability and free mean power."""
    if states.step is not None:
        if len(states.speed) < LONG_SERIES or (rose := _as_rose(states, turbines)) is None:
            return states
        few = thinned_states(rose, turbines, directions, speeds, offset)
        return few if len(few.speed) < len(states.speed) else states
    if len(states.shape) != 2:
        return states
    step = direction_step(states.direction, directions)
    speed = states.speed[: states.shape[1]]
    same = bool((states.speed.reshape(states.shape) == speed).all())
    if step == 1 and (max(speeds, 2) >= len(speed) or not same):
        return states
    probability = states.probability.reshape(states.shape)
    turbulence = states.turbulence.reshape(states.shape)
    direction = states.direction
    if step > 1:
        kept = np.arange(offset % step, len(direction), step)
        # One of an even number of directions cannot stand in their middle: the next clockwise is left over.
        around = kept[:, None] + np.arange(step) - (step - 1) // 2
        probability = probability[around % len(direction)].sum(axis=1)
        direction, turbulence = direction[kept], turbulence[kept]
    if max(speeds, 2) < len(speed) and same:
        chosen, shares = _few_speeds(speed, probability.sum(axis=0), turbines, speeds)
        probability, turbulence, speed = probability @ shares, turbulence[:, chosen], speed[chosen]
    shape = (len(direction), len(speed))
    return WindStates(
        direction=direction,
        first=np.arange(shape[0] + 1, dtype=np.int64) * shape[1],
        speed=np.tile(speed, shape[0]),
        probability=np.ascontiguousarray(probability).ravel(),
        turbulence=np.ascontiguousarray(turbulence).ravel(),
        shape=shape,
    )


def _as_rose(states: WindStates, turbines: Sequence[Turbine]) -> WindStates | None:
    """Return the frequency of each direction and speed in a time series; None if no step makes power."""
    whole = np.arange(np.ceil(states.speed.max()) + 1.0)
    working = np.flatnonzero(_mean_of([turbine.power_at(whole) for turbine in turbines], turbines) > 0.0)
    if not len(working):
        return None
    speed = whole[max(0, working[0] - 1) : working[-1] + 2]  # beyond them, speeds differ in nothing
    own = np.clip(states.speed, speed[0], speed[-1])
    every = np.unique(np.append(speed, own))
    power = _mean_of([turbine.power_at(every) for turbine in turbines], turbines)
    shares = _shares(every, power, np.searchsorted(every, speed).tolist())[np.searchsorted(every, own)]
    probability = np.zeros((360, len(speed)))
    direction = np.repeat(np.rint(states.direction).astype(np.int64) % 360, np.diff(states.first))
    np.add.at(probability, direction, shares * states.probability[:, None])
    mean = np.full(probability.size, states.turbulence @ states.probability / states.probability.sum())
    flat = np.arange(361, dtype=np.int64) * len(speed), np.tile(speed, 360), probability.ravel(), mean
    return WindStates(np.arange(360.0), *flat, shape=probability.shape)


def direction_step(direction: FloatArray, wanted: int) -> int:
    """Return how many directions one may represent so that ``wanted`` or more are left; 1 for only itself.

    More than 1 only for directions that are evenly spread over the whole circle, in order.
    """
    many = len(direction)
    if wanted < 1 or many <= wanted or not np.allclose(np.diff(direction), 360.0 / many, rtol=0.0, atol=1e-6):
        return 1
    fitting = [step for step in range(1, many // wanted + 1) if many % step == 0]
    paired = [step for step in fitting if many // step % 2 == 0]
    return max(paired or fitting)


def _few_speeds(
    speed: FloatArray, weight: FloatArray, turbines: Sequence[Turbine], wanted: int
) -> tuple[IntArray, FloatArray]:
    """Return the chosen speeds, and the share of each speed (rows) that each of them represents (columns)."""
    power = _mean_of([turbine.power_at(speed) for turbine in turbines], turbines)
    telling = [power]
    for deficit in _DEFICITS:
        lost = [
            t.power_at(speed) - t.power_at(speed * (1.0 - deficit * t.thrust_coefficient_at(speed)))
            for t in turbines
        ]
        telling.append(_mean_of(lost, turbines) / deficit)
    values = np.stack(telling, axis=1)
    kept = list(range(len(speed)))
    while len(kept) > max(wanted, 2):
        errors = []
        for left_out in range(1, len(kept) - 1):
            fewer = kept[:left_out] + kept[left_out + 1 :]
            off = (_shares(speed, power, fewer) @ values[fewer] - values).T @ weight
            errors.append(float(np.abs(off).sum()))
        del kept[1 + int(np.argmin(errors))]
    return np.array(kept, np.int64), _shares(speed, power, kept)


def _mean_of(watts: list[FloatArray], turbines: Sequence[Turbine]) -> FloatArray:
    rated = [max(float(turbine.power_at(np.arange(0.0, 40.0, 0.5)).max()), 1e-300) for turbine in turbines]
    return np.mean([w / most for w, most in zip(watts, rated, strict=True)], axis=0)


def _shares(speed: FloatArray, power: FloatArray, kept: list[int]) -> FloatArray:
    """Return the share of each speed (rows) that the chosen speeds (columns) represent: one or two around it."""
    shares = np.zeros((len(speed), len(kept)))
    at = np.array(kept)
    for k in range(len(speed)):
        after = int(np.searchsorted(at, k))
        if after == len(at) or at[after] == k or after == 0:
            shares[k, min(after, len(at) - 1)] = 1.0
            continue
        low, high = at[after - 1], at[after]
        rise = power[high] - power[low]
        part = (power[k] - power[low]) / rise if abs(rise) > 1e-9 else 0.5
        part = min(1.0, max(0.0, float(part)))
        shares[k, after - 1], shares[k, after] = 1.0 - part, part
    return shares
