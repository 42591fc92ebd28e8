"""Call the unchanged function of the script with the farm, turbine, wind and seed of a campaign task."""

from typing import Any

import numpy as np
from optimize_layout import optimize_layout
from py_wake.site import UniformWeibullSite
from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine


def run_script(task: Any) -> dict[str, Any]:
    turbine, weibull = task.turbine, task.site.weibull
    sectors = weibull.sectors
    site = UniformWeibullSite(
        p_wd=[one.frequency for one in sectors],
        a=[one.a for one in sectors],
        k=[one.k for one in sectors],
        ti=weibull.turbulence_intensity,
    )
    wind_turbines = GenericWindTurbine(
        turbine.name, turbine.rotor_diameter_m, turbine.hub_height_m, power_norm=1000 * turbine.rated_power_mw
    )
    x, y, aep = optimize_layout(
        site,
        wind_turbines,
        np.array(task.boundary.shape().exterior.coords)[:-1],
        task.n_turbines,
        task.min_spacing_m,
        task.seed,
        task.parameters["iterations"],
    )
    return {"layout": np.stack([x, y]), "aep": aep}
