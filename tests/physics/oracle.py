"""PyWake, set up to compute the same as vindeby: the oracle of the physics tests."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

FloatArray = npt.NDArray[np.float64]

needs_pywake = pytest.mark.skipif(
    importlib.util.find_spec("py_wake") is None,
    reason="py_wake is not installed; it is the oracle of this test (pip install 'vindeby[dev]')",
)

# Twelve sectors, 30 degrees each, of a real site in the North Sea.
FREQUENCY = (0.032, 0.030, 0.052, 0.078, 0.074, 0.059, 0.082, 0.116, 0.130, 0.117, 0.121, 0.109)
WEIBULL_A = (8.65, 7.98, 11.05, 11.31, 12.20, 12.26, 12.61, 13.05, 12.61, 12.06, 12.24, 11.95)
WEIBULL_K = (1.77, 1.87, 2.25, 2.23, 2.41, 2.48, 2.27, 2.26, 2.08, 2.12, 2.25, 2.25)


def pywake_weibull_site(turbulence: float = 0.1, interpolation: str = "linear") -> Any:
    import xarray as xr
    from py_wake.site import XRSite

    def around(values: Sequence[float]) -> tuple[str, list[float]]:
        return "wd", [*values, values[0]]

    sectors = xr.Dataset(
        {
            "Sector_frequency": around(FREQUENCY),
            "Weibull_A": around(WEIBULL_A),
            "Weibull_k": around(WEIBULL_K),
            "TI": turbulence,
        },
        coords={"wd": np.linspace(0, 360, 13)},
    )
    return XRSite(sectors, interp_method=interpolation)


def pywake_generic(rated_power_mw: float, diameter: float, hub_height: float) -> Any:
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    return GenericWindTurbine("generic", diameter, hub_height, rated_power_mw * 1000)


def pywake_model(name: str, site: Any, turbines: Any) -> Any:
    from py_wake.deficit_models.gaussian import (
        BastankhahGaussianDeficit,
        IEA37SimpleBastankhahGaussianDeficit,
    )
    from py_wake.deficit_models.noj import TurboNOJDeficit
    from py_wake.deficit_models.utils import ct2a_mom1d
    from py_wake.literature.gaussian_models import Bastankhah_PorteAgel_2014, Niayifar_PorteAgel_2016
    from py_wake.literature.noj import Jensen_1983
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.superposition_models import SquaredSum
    from py_wake.wind_farm_models import PropagateDownwind

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "nygaard-2022":
            return Nygaard_2022(site, turbines)
        if name == "bastankhah-2014":
            return Bastankhah_PorteAgel_2014(site, turbines, k=0.0324555)
        if name == "niayifar-2016":
            return Niayifar_PorteAgel_2016(site, turbines)
        if name == "turbopark-2020":
            return PropagateDownwind(site, turbines, TurboNOJDeficit(ct2a=ct2a_mom1d), SquaredSum())
        if name in ("jensen", "top-hat"):
            return Jensen_1983(site, turbines)
        if name == "gaussian":
            return PropagateDownwind(site, turbines, BastankhahGaussianDeficit(ct2a=ct2a_mom1d), SquaredSum())
        return PropagateDownwind(site, turbines, IEA37SimpleBastankhahGaussianDeficit(), SquaredSum())


def pywake_composed(name: str, parts: dict[str, Any], site: Any, turbines: Any) -> Any:
    """PyWake's parts for ``top-hat`` or ``gaussian``; what it does not have is a class derived from one that it has."""
    from py_wake.deficit_models.gaussian import BastankhahGaussianDeficit
    from py_wake.deficit_models.noj import NOJLocalDeficit
    from py_wake.deficit_models.utils import ct2a_madsen, ct2a_mom1d
    from py_wake.rotor_avg_models import AreaOverlapAvgModel, GaussianOverlapAvgModel, RotorCenter
    from py_wake.superposition_models import LinearSum, SquaredSum
    from py_wake.wind_farm_models import PropagateDownwind

    class ThrustOfFreeWind:
        @property
        def additional_args(self) -> set[str]:
            return super().additional_args | {"WS_ilk", "type_il"}  # type: ignore[misc,no-any-return]

        def __call__(self, **given: Any) -> Any:
            thrust = turbines.ct(given["WS_ilk"], type=given["type_il"][:, :, None])
            return super().__call__(**given | {"ct_ilk": thrust})  # type: ignore[misc]

    class Gaussian(BastankhahGaussianDeficit):  # type: ignore[misc]
        def epsilon_ilk(self, ct_ilk: Any, **more: Any) -> Any:
            if parts["initial_width"] == "constant":
                return self._ceps * np.ones_like(ct_ilk)
            return super().epsilon_ilk(ct_ilk, **more)

    def ended(rotor_model: Any) -> Any:
        class Ended(rotor_model):  # type: ignore[misc]
            def __call__(self, func: Any, cw_ijlk: Any, D_dst_ijl: Any, **more: Any) -> Any:  # noqa: N803
                inside = cw_ijlk < parts["cut_sigmas"] * func.__self__.sigma_ijlk(**more)
                return super().__call__(func, cw_ijlk=cw_ijlk, D_dst_ijl=D_dst_ijl, **more) * inside

        return Ended

    common = {
        "ct2a": ct2a_mom1d if parts["induction"] == "momentum" else ct2a_madsen,
        "use_effective_ws": parts["reference"] == "local",
    }
    overlap = parts["rotor"] == "overlap"
    deficit: Any
    if name == "top-hat":
        rotor = AreaOverlapAvgModel() if overlap else None
        deficit, own = NOJLocalDeficit, {"a": [0, parts["k"]], "use_effective_ti": False}
    else:
        rotor_model: Any = GaussianOverlapAvgModel if overlap else RotorCenter
        rotor = (ended(rotor_model) if parts["cut_sigmas"] else rotor_model)()
        deficit, own = Gaussian, {"k": parts["k"], "ceps": parts["ceps"]}
    if parts["thrust_of"] == "free":
        deficit = type("WithThrustOfFreeWind", (ThrustOfFreeWind, deficit), {})
    together = SquaredSum() if parts["superposition"] == "squares" else LinearSum()
    return PropagateDownwind(site, turbines, deficit(rotorAvgModel=rotor, **own, **common), together)


def simulate(model: Any, x: FloatArray, y: FloatArray, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model(x, y, **options)


def turbine_aep(model: Any, x: FloatArray, y: FloatArray, **options: Any) -> FloatArray:
    aep = simulate(model, x, y, **options).aep()
    return np.asarray(aep.sum([d for d in aep.dims if d != "wt"]), np.float64)


def spread_out(seed: int, count: int, spacing: float, side: float) -> tuple[FloatArray, FloatArray]:
    """Random positions in a square, none nearer than ``spacing`` to another; map coordinates."""
    rng = np.random.default_rng(seed)
    points: list[FloatArray] = []
    while len(points) < count:
        point = rng.uniform(0, side, 2)
        if all(np.hypot(*(point - other)) >= spacing for other in points):
            points.append(point)
    x, y = np.array(points).T
    return x + 703_000.0, y + 6_224_000.0
