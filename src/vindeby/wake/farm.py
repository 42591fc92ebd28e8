"""A wind farm's yearly energy, its gradient, and the power of every turbine in every wind state.

This is the front of the engine: it checks what it is given once, keeps what does not change between layouts,
and hands plain arrays to the compiled loops. Positions are metres east (x) and north (y), in any frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.text import plural
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake.gpu.devices import Batch, Device, chosen_device
from vindeby.wake.layout_checks import LayoutChecks, Places
from vindeby.wake.loops.choice import LoopCall, LoopKind, Loops
from vindeby.wake.loops.frame import NOTHING_KEPT, Kept
from vindeby.wake.loops.local_wind import LocalWindArrays, wind_near
from vindeby.wake.loops.wind import Wind
from vindeby.wake.loops.wind_access import FreeWind, free_wind_at, map_wind, wind_and_locality
from vindeby.wake.models import WakeModel, model_named
from vindeby.wake.sites.site import Site, UniformSite, WindStates, chunks_of
from vindeby.wake.turbines.curves import turbine_arrays
from vindeby.wake.turbines.turbine import Turbine

if TYPE_CHECKING:
    from vindeby.wake.gpu.batches import FarmOnCard


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Existing turbines: they cast wakes and stand in them, but are neither counted nor moved.

    Args:
        x: Metres east of each, shape (neighbours,).
        y: Metres north, the same shape.
        types: Index into the turbine types of the farm, one for all or shape (neighbours,).
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    types: npt.ArrayLike = 0

    def __repr__(self) -> str:
        return f"<Neighbours: {plural(np.size(self.x), 'turbine')}>"


@dataclass(frozen=True, eq=False)
class FlowMap:
    """Wind speed at every point of a grid, as ``WindFarm.flow_map`` returns it.

    Args:
        x: Metres east of the columns, shape (columns,).
        y: Metres north of the rows, shape (rows,).
        wind_speed: In m/s, shape (rows, columns).
        direction: Where the wind comes from, in degrees.
        speed: Free wind speed in m/s.
        height_m: Height of the map.
        turbines: Metres east and north of the turbines, shape (2, turbines).
    """

    x: FloatArray
    y: FloatArray
    wind_speed: FloatArray
    direction: float
    speed: float
    height_m: float
    turbines: FloatArray = field(default_factory=lambda: np.empty((2, 0)))

    def __repr__(self) -> str:
        return (
            f"<FlowMap: {len(self.y)} x {len(self.x)} points at {self.height_m:g} m, "
            f"{self.speed:g} m/s from {self.direction:g} degrees>"
        )


class Described(Protocol):
    """The interface of a site or turbine in a campaign."""

    def for_wind_farm(self) -> Any:
        """Return the object of ``wake`` that computes with it."""


def _computed(given: Any) -> Any:
    return given.for_wind_farm() if hasattr(given, "for_wind_farm") else given


def _shared_out(call: Callable[[Any], None], jobs: Iterable[Any], threads: int) -> None:
    if threads == 1:
        for job in jobs:
            call(job)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, jobs))


class WindFarm:
    """A wind farm that can be evaluated: its site, its turbine types and its wake model.

    Args:
        site: The wind: one of the sites of ``vindeby``, or the ``site`` of a campaign.
        turbine: One type or several. With several, ``types`` in the calls says which type each turbine has.
        wake: A model, its name, or ``{name: parameters}``.
        directions: Wind directions in degrees, shape (directions,); by default the site's.
        speeds: Wind speeds in m/s, shape (speeds,); by default the site's.
        neighbours: Turbines that stand already.
        threads: These share out the directions of one evaluation; the result does not depend on their number.
        tabulate: False evaluates the model itself for every pair and wind speed, where something faster would be used
            (``loops.choice`` says when, and each module how exact it is).
        device: Where batches of layouts are evaluated (``aep_batch``): on the threads (``"cpu"``), on a CUDA card
            (``"cuda"``), or there if one can be used (``"auto"``).
    """

    def __init__(
        self,
        site: Site | Described,
        turbine: Turbine | Described | Sequence[Turbine | Described],
        wake: str | Mapping[str, Mapping[str, Any]] | WakeModel = "nygaard-2022",
        *,
        directions: npt.ArrayLike | None = None,
        speeds: npt.ArrayLike | None = None,
        neighbours: Neighbours | None = None,
        threads: int = 1,
        tabulate: bool = True,
        device: Device = "cpu",
    ) -> None:
        self.site: Site = _computed(site)
        several = isinstance(turbine, Iterable) and not hasattr(turbine, "for_wind_farm")
        given: Any = turbine if several else [turbine]
        self.turbines: tuple[Turbine, ...] = tuple(map(_computed, given))
        if not self.turbines or not all(isinstance(t, Turbine) for t in self.turbines):
            raise ArgumentError("turbine must be a Turbine or a non-empty list of them")
        if threads < 1:
            raise ArgumentError(f"threads must be a whole number >= 1, not {threads!r}")
        # From here on the farm's model is what it is now, whatever becomes of what its functions refer to.
        self.model = (wake if isinstance(wake, WakeModel) else model_named(wake)).with_fixed_code()
        self.states = self.site.states(directions, speeds)
        self.wind, self.locality = wind_and_locality(self.site, self.states, self.turbines)
        self._refuse_undefined_wind()
        self.threads = threads
        self.neighbours = neighbours
        self.turbine_arrays = turbine_arrays(self.turbines)
        self.data = self.model.data
        self.device = self._device_for(device)
        self._loops = Loops(self.model, self.turbines, self.states, self.locality, tabulate=tabulate)
        self._checks = LayoutChecks(self.site, self.turbines)
        self._neighbours = self._checked_neighbours(neighbours) if neighbours else None

    def beside(self, neighbours: Neighbours) -> Self:
        """Return this farm with other neighbours."""
        farm = copy(self)
        farm.neighbours = neighbours
        farm._neighbours = self._checked_neighbours(neighbours)  # noqa: SLF001  a copy of this one
        return farm

    def _checked_neighbours(self, given: Neighbours) -> Places:
        return self._checks.layout(given.x, given.y, given.types, "neighbour")

    def on(self, device: Device) -> Self:
        """Return this farm with another device for batches of layouts."""
        farm = copy(self)
        farm.device = self._device_for(device)
        return farm

    @property
    def parts(self) -> tuple[WindFarm, ...]:
        """The farm in each of its scenarios: a ``WindFarm`` itself, unless it is a ``ScenarioFarm``."""
        return (self,)

    @property
    def loops(self) -> LoopKind:
        """The loops that compute energies (``vindeby.wake.loops.choice``)."""
        return self._loops.kind

    def __repr__(self) -> str:
        turbines = ", ".join(map(repr, self.turbines[:3])) + (", ..." if len(self.turbines) > 3 else "")
        beside = "" if self.neighbours is None else f"; {self.neighbours!r}"
        return f"<WindFarm: {turbines}; {self.site!r}; wake {self.model.name!r}{beside}>"

    def aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> float:
        """Return the annual energy production of the layout in GWh; raise ArgumentError for impossible positions.

        Args:
            x: Metres east of each turbine, shape (turbines,).
            y: Metres north, the same shape.
            types: Index into the turbine types, one for all turbines or shape (turbines,).
        """
        each = self.turbine_aep(x, y, types)
        self._checks.refuse_impossible_places(x, y)
        return float(each.sum())

    def turbine_aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return the annual energy production of every turbine in GWh."""
        layout, counted = self._layout(x, y, types)
        return self._run(self._loops.energy(self.states), layout, counted, self.wind)[0]

    def aep_and_gradient(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the AEP and its derivatives.

        Args:
            x: Metres east of each turbine, shape (turbines,).
            y: Metres north, the same shape.
            types: Index into the turbine types, one for all turbines or shape (turbines,).

        Returns:
            AEP in GWh, and its derivatives with every x and every y in GWh per metre, each of shape (turbines,).
        """
        self._refuse_missing_gradient()
        layout, counted = self._layout(x, y, types)
        everyone = len(layout[0])
        each, slope_x, slope_y = self._run(
            self._loops.gradient(self.states), layout, counted, self.wind, slopes=everyone
        )
        return float(each.sum()), slope_x[:counted], slope_y[:counted]

    def _refuse_missing_gradient(self) -> None:
        if self.model.superposition == "cumulative":
            raise ArgumentError(
                f"wake model {self.model.name} has no gradient; use random-search or annealing, or another wake model"
            )

    def aep_batch(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return the AEP in GWh of many layouts, shape (layouts,).

        Layouts are shared out among the threads, or evaluated together on the card. A layout's AEP does not depend on
        the others of its batch.

        Args:
            x: Metres east, shape (layouts, turbines).
            y: Metres north, the same shape.
            types: Index into the turbine types: one for all, shape (turbines,), or the shape of ``x``.
        """
        return self._batch(x, y, types, gradient=False).aep

    def aep_and_gradient_batch(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the AEP in GWh of many layouts, as ``aep_batch``, and its slopes with x and y: (layouts, turbines)."""
        self._refuse_missing_gradient()
        aep, slope_x, slope_y = self._batch(x, y, types, gradient=True)
        return aep, slope_x, slope_y

    def _batch(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike, *, gradient: bool) -> Batch:
        self._refuse_several_scenarios()
        px, py, kinds = self._checks.batch(x, y, types)
        layouts, counted = px.shape
        if self._neighbours is not None:
            beside_x, beside_y, beside_types = (np.tile(column, (layouts, 1)) for column in self._neighbours)
            px, py, kinds = (
                np.hstack([px, beside_x]),
                np.hstack([py, beside_y]),
                np.hstack([kinds, beside_types]),
            )
        if self.device == "cuda" and layouts:
            return self._on_card.evaluate(px, py, kinds, counted, gradient=gradient)
        call = self._loops.gradient(self.states) if gradient else self._loops.energy(self.states)

        found = Batch(np.zeros(layouts), *(np.zeros((layouts, counted * gradient)) for _ in "xy"))

        def one(i: int) -> None:
            layout = px[i], py[i], kinds[i]
            slopes = px.shape[1] if gradient else 0
            each, slope_x, slope_y = self._run(call, layout, counted, self.wind, slopes=slopes, threads=1)
            found.aep[i] = each.sum()
            found.slope_x[i], found.slope_y[i] = slope_x[:counted], slope_y[:counted]

        _shared_out(one, range(layouts), self.threads)
        return found

    def _refuse_several_scenarios(self) -> None:
        if self.parts != (self,):
            raise ArgumentError(
                "several scenarios are not evaluated in batches; call the method of each of the parts"
            )

    @cached_property
    def _on_card(self) -> FarmOnCard:
        from vindeby.wake.gpu.batches import FarmOnCard

        assert isinstance(self.wind, Wind), "chosen only for wind that is the same everywhere"
        tables = self._loops.energy(self.states) if self.loops == "tabulated" else None
        return FarmOnCard(self.model, self.turbines, self.turbine_arrays, self.wind, self.states, tables)

    def _device_for(self, device: Device) -> Literal["cpu", "cuda"]:
        """Return the device for batches; raise ArgumentError if there is no kernel for such a farm."""
        reason = ""
        if self.locality != "uniform":
            reason = "wind that differs from place to place"
        elif self.model.blockage is not None:
            reason = "blockage"
        elif self.model.superposition == "cumulative":
            reason = f"the wake model {self.model.name}"
        if reason and device == "cuda":
            raise ArgumentError(
                f"device 'cuda' cannot be used: {reason} is evaluated on processors only; use 'auto'"
            )
        return "cpu" if reason else chosen_device(device)

    def power(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return the power in W of every turbine in every wind state.

        Args:
            x: Metres east of each turbine, shape (turbines,).
            y: Metres north, the same shape.
            types: Index into the turbine types, one for all turbines or shape (turbines,).

        Returns:
            Shape (turbines, directions, speeds), or (turbines, steps) for a time series.
        """
        return self._of_chunk(*self._layout(x, y, types), self.states)

    def power_steps(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        types: npt.ArrayLike = 0,
        *,
        own: int | None = None,
        steps_per_chunk: int = 512,
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the power in W of every turbine at every step of a time series, a chunk of steps at a time.

        Each item has the steps and their powers, shape (turbines, steps of the chunk), in order of time; no more than a
        chunk is in memory. With ``own``, only the first ``own`` turbines are counted; the others are like neighbours.
        """
        layout, counted = self._layout(x, y, types)
        if own is not None and not 0 < own <= counted:
            raise ArgumentError(f"own must be a number of turbines from 1 to {counted}, not {own!r}")
        for steps, states in chunks_of(self.states, steps_per_chunk):
            yield steps, self._of_chunk(layout, own or counted, states)

    def wind_speed(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return the wind speed in m/s at every turbine in every wind state, in the wakes; axes as in ``power``."""
        return self._of_chunk(*self._layout(x, y, types), self.states, speed=True)

    def wake_free_aep(self, count: int, types: npt.ArrayLike = 0) -> float:
        """Return the AEP in GWh of so many turbines if none stood in a wake."""
        if self.locality != "uniform":
            raise ArgumentError(
                "where the wind differs from place to place, the AEP without wakes depends on where turbines stand; "
                "call free_aep_at(x, y, types)"
            )
        types = self._checks.types(types, count)
        alone = [
            float((t.power_at(self.states.speed) * self.states.probability).sum()) for t in self.turbines
        ]
        return mean_power_to_aep_gwh(float(np.array(alone)[types].sum()))

    def free_aep_at(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> float:
        """Return the AEP in GWh of turbines at these positions if none stood in a wake."""
        if self.locality == "uniform":
            return self.wake_free_aep(len(np.atleast_1d(np.asarray(x))), types)
        _, _, types = self._checks.layout(x, y, types)
        free = self.free_wind(x, y, types)
        watts = [
            (self.turbines[t].power_at(speed) * weight).sum()
            for t, speed, weight in zip(types, free.speed, free.probability, strict=True)
        ]
        return mean_power_to_aep_gwh(float(np.sum(watts)))

    def free_wind(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FreeWind:
        """Return the wind at every turbine in every wind state if there were no wakes; axes as in ``power``."""
        px, py, types = self._checks.layout(x, y, types)
        free = free_wind_at(self.wind, self.states.direction, px, py, types)
        if self.states.step is not None:
            in_time = np.argsort(self.states.step)
            free = FreeWind(*(array[:, in_time] for array in free))
        return FreeWind(*(array.reshape((len(px), *self.states.shape)) for array in free))

    def wind_near(self, origin: Sequence[float] | FloatArray) -> Wind | LocalWindArrays:
        """Return the wind for compiled loops whose positions are relative to this origin (x, y)."""
        return wind_near(self.wind, origin)

    def wake_loss(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> float:
        """Return the fraction of the wake-free AEP that wakes take; 0 for an empty layout."""
        free = self.free_aep_at(x, y, types)
        return 1.0 - self.aep(x, y, types) / free if free > 0 else 0.0

    def flow_map(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        types: npt.ArrayLike = 0,
        *,
        direction: float,
        speed: float,
        grid_x: npt.ArrayLike,
        grid_y: npt.ArrayLike,
        height_m: float | None = None,
        turbulence: float | None = None,
    ) -> FlowMap:
        """Return the wind speed on a grid for one wind direction and free wind speed, for pictures.

        Args:
            x: Metres east of each turbine, shape (turbines,).
            y: Metres north, the same shape.
            types: Index into the turbine types, one for all turbines or shape (turbines,).
            direction: Where the wind comes from, in degrees.
            speed: Free wind speed in m/s.
            grid_x: Metres east of the columns, shape (columns,).
            grid_y: Metres north of the rows, shape (rows,).
            height_m: Height of the map; by default the hub height of the first turbine type.
            turbulence: Intensity of the free wind as a fraction; by default the site's mean.
        """
        if turbulence is None:
            turbulence = float(np.average(self.states.turbulence, weights=self.states.probability + 1e-300))
        east, north = (np.atleast_1d(np.array(g, np.float64)) for g in (grid_x, grid_y))
        if not (np.isfinite(east).all() and np.isfinite(north).all()):
            raise ArgumentError("grid_x and grid_y must hold finite numbers")
        at = self.turbines[0].hub_height_m if height_m is None else float(height_m)
        layout, _ = self._layout(x, y, types)
        point_x, point_y = (g.ravel() for g in np.meshgrid(east, north))
        states = UniformSite((1.0,), speed, turbulence).states([direction])
        out = self._speeds_at(layout, states, point_x, point_y, at)
        out, places = out.reshape(len(north), len(east)), np.array(layout[:2])
        return FlowMap(east, north, out, float(direction), float(speed), at, places)

    def _speeds_at(
        self, layout: Places, states: WindStates, point_x: FloatArray, point_y: FloatArray, at: float
    ) -> FloatArray:
        """Return the wind speed in m/s at points of this height in a single state, in the wakes of a layout."""
        px, py, types = layout
        wind, _ = wind_and_locality(self.site, states, self.turbines)
        out = map_wind(self.site, states, at, point_x, point_y)
        if len(px):
            kept = Kept(np.zeros(1, np.int64), np.zeros((3, len(px), 1)), True)
            call = self._loops.one_state(states)
            self._run(call, (px, py, types), len(px), wind, kept=kept)
            u, ct, ti = (np.ascontiguousarray(array[:, 0]) for array in kept.values)
            self._loops.direct.field(
                self.data, self.turbine_arrays, wind, px, py, types, u, ct, ti, point_x, point_y, at, out
            )
        return out

    def _run(
        self,
        call: LoopCall,
        layout: Places,
        counted: int,
        wind: Wind | LocalWindArrays,
        *,
        slopes: int = 0,
        kept: Kept = NOTHING_KEPT,
        threads: int | None = None,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the AEP of every counted turbine in GWh, and its slopes with x and y of ``slopes`` turbines."""
        x, y, types = layout
        out, out_x, out_y = (np.zeros((call.blocks, count)) for count in (counted, slopes, slopes))
        if counted:
            # Map coordinates are millions of metres; near zero, turning them loses no digits.
            east, north = 0.5 * (x.min() + x.max()), 0.5 * (y.min() + y.max())
            near = wind_near(wind, (east, north))
            turbines = self.turbine_arrays
            arguments = (call.data, turbines, call.pairs, call.per_block, near, x - east, y - north)
            found = (out, out_x, out_y, kept)
            shares = min(threads or self.threads, call.blocks)
            edges = [round(share * call.blocks / shares) for share in range(shares + 1)]
            jobs = [(*arguments, types, counted, a, b, *found) for a, b in pairwise(edges)]
            _shared_out(lambda job: call.loop(*job), jobs, shares)
        unit = mean_power_to_aep_gwh(1.0)
        each, slope_x, slope_y = (array.sum(axis=0) * unit for array in (out, out_x, out_y))
        return each, slope_x, slope_y

    def _of_chunk(
        self, layout: Places, counted: int, states: WindStates, *, speed: bool = False
    ) -> FloatArray:
        wind = self.wind
        if states is not self.states:
            wind, _ = wind_and_locality(self.site, states, self.turbines)
        column = np.arange(len(states.speed)) if states.step is None else np.array(states.step, np.int64)
        kept = Kept(column, np.zeros((1, counted, len(column))), speed)
        self._run(self._loops.by_state(states), layout, counted, wind, kept=kept)
        return kept.values.reshape((counted, *states.shape))

    def _local_turbulence(self) -> FloatArray | None:
        local = isinstance(self.wind, LocalWindArrays) and self.wind.grid.turbulence.size > 0
        return self.wind.grid.turbulence if local else None  # type: ignore[union-attr]

    def _refuse_undefined_wind(self) -> None:
        model, local = self.model, self._local_turbulence()
        if self.locality != "uniform" and model.superposition == "cumulative":
            raise ArgumentError(
                f"wake model {model.name} is defined only for wind that is the same all over the farm; "
                "use another one"
            )
        if self.locality == "turned" and model.blockage is not None:
            raise ArgumentError(
                "blockage is not defined for wakes that follow the turned wind; leave one of them out"
            )
        if model.needs_turbulence and np.min(self.wind.turbulence if local is None else local) <= 0:
            raise ArgumentError(
                f"wake model {model.name} needs a turbulence intensity above 0 in every wind state"
            )

    def _layout(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike) -> tuple[Places, int]:
        own = self._checks.layout(x, y, types)
        counted = len(own[0])
        if self._neighbours is None:
            return own, counted
        px, py, types = (np.concatenate(pair) for pair in zip(own, self._neighbours, strict=True))
        return (px, py, types), counted
