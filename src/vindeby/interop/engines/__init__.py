"""PyWake and FLORIS as engines of a campaign: they compute energies, vindeby does all else.

``vindeby.assembly.wind_farm`` loads ``engine_farm`` by name, because imports go one way.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.assembly.foreign_farm import Engine, ForeignFarm
from vindeby.campaign.reading.code_files import imported
from vindeby.campaign.sections.wake_model import FlorisEngine, PyWakeEngine
from vindeby.errors import InputError, TaskError, library
from vindeby.wake import Neighbours, Site, Turbine


def engine_farm(
    given: PyWakeEngine | FlorisEngine, site: Site, turbines: Sequence[Turbine], neighbours: Neighbours | None
) -> ForeignFarm:
    """Return the farm of a campaign with its engine; raise InputError if anything is missing or wrong."""
    engine: Engine
    if isinstance(given, PyWakeEngine):
        from vindeby.interop.engines.pywake_engine import PyWake  # only who uses it needs it

        engine = PyWake(given, site, turbines)
    else:
        from vindeby.interop.engines.floris_engine import Floris

        engine = Floris(given, turbines)
    return ForeignFarm(site, turbines, engine, given.title, neighbours=neighbours)


def load(given: PyWakeEngine | FlorisEngine) -> None:
    """Import all modules that an engine needs; raise InputError if one is missing or wrong."""
    if isinstance(given, PyWakeEngine):
        find_model(given)
        import vindeby.interop.pywake_objects.sites
        import vindeby.interop.pywake_objects.turbines  # noqa: F401
    else:
        need_engine("floris")


def need_engine(name: str) -> None:
    """Raise InputError, with the remedy, if ``pywake`` or ``floris`` is not installed."""
    library("py_wake" if name == "pywake" else name, name, f"wake.{name}")


def refuse_nan(title: str, values: FloatArray) -> None:
    """Raise TaskError if an engine returns anything but finite numbers."""
    if not np.isfinite(values).all():
        raise TaskError(
            f"{title} gives {int((~np.isfinite(values)).sum())} numbers that are not finite; check the model with "
            "this layout"
        )


def find_model(given: PyWakeEngine) -> Any:
    """Import ``package.module:Model``; raise InputError if it is missing or is not the campaign's code."""
    need_engine("pywake")
    given.refuse_other_code()
    return imported("wake.pywake", given.model, "class or function that makes a wind-farm model")


def made_model(given: PyWakeEngine, site: Any, wind_turbines: Any) -> Any:
    """Return the wind-farm model of a campaign, made of PyWake objects."""
    factory = find_model(given)
    from py_wake.wind_farm_models.wind_farm_model import WindFarmModel

    shown = "".join(f", {key}={value!r}" for key, value in given.options.items())
    try:
        model = factory(site, wind_turbines, **given.options)
    except Exception as error:  # the same
        raise InputError(
            f"wake.pywake: {given.model}(site, wind_turbines{shown}) raised {type(error).__name__}: {error}"
        ) from error
    if not isinstance(model, WindFarmModel):
        raise InputError(
            f"wake.pywake: {given.model}(site, wind_turbines{shown}) gives a {type(model).__name__}, not a PyWake "
            "wind-farm model; name a class such as py_wake.literature:Nygaard_2022, or a function that returns "
            "PropagateDownwind(...) or All2AllIterative(...)"
        )
    return model
