"""Turbine types that cast no wakes: the same rotor, height and power, and a thrust coefficient of 0.

A wake model makes no deficit, no added turbulence and no blockage of a turbine without thrust. So a farm of such
turbines stands in the wakes of its neighbours and makes none, neither for itself nor for them, with any model and
any engine, and at the cost of an evaluation like any other.
"""

from __future__ import annotations

from typing import Any

from vindeby.assembly import turbine_of
from vindeby.campaign.sections.turbines import Cubic, Generic, Table, Turbine
from vindeby.units import w_to_mw


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
