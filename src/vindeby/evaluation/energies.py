"""What the turbines of one layout give among others: their mean power, and their power at every step if asked.

All turbines, the farm's own first and then its neighbours, are one layout for the engine, so that an engine is
built once for a period and a set of turbine types, and used for every combination. Steps are worked off in blocks, so
that memory does not grow with the length of a series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vindeby.assembly import turbine_of, wind_farm
from vindeby.campaign import Campaign, Turbine
from vindeby.campaign.sections.turbines import Cubic, Generic, Table
from vindeby.evaluation.stored_layouts import Layout, part_of
from vindeby.units import mean_power_to_aep_gwh, w_to_mw

if TYPE_CHECKING:
    from vindeby.wake import WindFarm

FloatArray = npt.NDArray[np.float64]

_STEPS_IN_A_BLOCK = 512
_MOST_ENGINES = 64


@dataclass(frozen=True)
class Given:
    """Of one layout in one period: AEP of each turbine (GWh, by the weights of the whole series), power by step (W)."""

    aep: FloatArray
    power: npt.NDArray[Any] | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return self.aep.nbytes + (0 if self.power is None else self.power.nbytes)


class Energies:
    """Evaluates layouts in the wind and with the wakes of a campaign; ``turbines`` are all types, by number.

    ``without_internal`` says whether internal wakes will be switched off. ``power_type`` is that of the powers that are
    kept; none are where it is None.
    """

    def __init__(
        self,
        campaign: Campaign,
        turbines: Sequence[Turbine],
        power_type: str | None = None,
        *,
        without_internal: bool = False,
    ) -> None:
        everything = tuple(turbines)
        if without_internal:
            everything += tuple(passive(turbine) for turbine in turbines)
        self._all = tuple(range(len(everything)))
        self._campaign = campaign.model_copy(update={"turbines": everything, "neighbours": None})
        self._types, self._power_type = len(turbines), power_type
        series = campaign.site.time_series
        self.steps = 0 if series is None else len(series.wind_speed)
        weights = np.ones(self.steps) if series is None or series.weight is None else np.array(series.weight)
        self._weights = weights / weights.sum() if self.steps else weights
        self._engine = lru_cache(_MOST_ENGINES)(self._make_engine)

    def among(
        self, own: Layout, others: Sequence[Layout], period: tuple[int, int], *, internal: bool
    ) -> Given:
        """What ``own`` gives among ``others``; without ``internal`` wakes its turbines cast none."""
        own_types = own.types if internal else own.types + self._types
        x, y, types = (
            np.concatenate(parts)
            for parts in zip((own.x, own.y, own_types), *((o.x, o.y, o.types) for o in others), strict=True)
        )
        if self.steps:
            return self._by_step(self._engine(*period, self._all), (x, y, types), len(own), *period)
        kinds, index = np.unique(types, return_inverse=True)  # tables of pairs are for few types
        engine = self._engine(0, 0, tuple(kinds.tolist()))
        return Given(engine.turbine_aep(x, y, index)[: len(own)])

    def free_gwh(self, own: Layout) -> float:
        """AEP if no turbine stood in a wake."""
        if self.steps:
            return self._engine(0, self.steps, self._all).free_aep_at(own.x, own.y, own.types)
        kinds, index = np.unique(own.types, return_inverse=True)
        return self._engine(0, 0, tuple(kinds.tolist())).free_aep_at(own.x, own.y, index)

    def _by_step(
        self, engine: WindFarm, layout: tuple[FloatArray, FloatArray, Any], own: int, first: int, last: int
    ) -> Given:
        mean = np.zeros(own)
        kept = None if self._power_type is None else np.empty((own, last - first), self._power_type)
        for steps, power in engine.power_steps(*layout, steps_per_chunk=_STEPS_IN_A_BLOCK):
            weights = self._weights[first + steps.start : first + steps.stop]
            mean += power[:own] @ weights
            if kept is not None:
                kept[:, steps] = power[:own]
        return Given(mean * mean_power_to_aep_gwh(1.0), kept)

    def _make_engine(self, first: int, last: int, kinds: tuple[int, ...]) -> WindFarm:
        campaign = self._campaign
        if self.steps:
            campaign = campaign.model_copy(update={"site": part_of(campaign.site, first, last)})
        return wind_farm(campaign, kinds)


def passive(turbine: Turbine) -> Turbine:
    """The same type without thrust."""
    name, description = f"{turbine.name} without thrust", turbine.description
    if isinstance(description, Table):
        changed: dict[str, Any] = {
            "table": description.model_copy(update={"ct": (0.0,) * len(description.ct)})
        }
    elif isinstance(description, Cubic):
        update = {"ct": 0.0, "ct_wind_speed": None, "outside": "hold"}
        changed = {"cubic": description.model_copy(update=update)}
    else:
        changed = {"generic": None, "table": _tabulated(turbine, description)}
    return turbine.model_copy(
        update={"name": name, **changed}
    )  # unchecked: the name may be longer than any given


def _tabulated(turbine: Turbine, description: Generic) -> Table:
    """A generic type as the table that its curves are."""
    curves = turbine_of(turbine)
    power_w = curves.power[:, 0].tolist()
    return Table(
        rated_power_mw=description.rated_power_mw,
        rotor_diameter_m=description.rotor_diameter_m,
        hub_height_m=description.hub_height_m,
        wind_speed=tuple(curves.start.tolist()),
        power_kw=tuple(w_to_mw(watts) * 1e3 for watts in power_w),
        ct=(0.0,) * len(power_w),
    )
