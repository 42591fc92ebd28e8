"""Import the PyWake model that a campaign names, and make it of a site and turbines."""

from __future__ import annotations

import importlib
from typing import Any

from vindeby.campaign.reading.code_files import imported
from vindeby.campaign.sections.wake_model import PyWakeEngine
from vindeby.errors import InputError


def need_pywake() -> None:
    """InputError, with the remedy, where PyWake is not installed."""
    try:
        importlib.import_module("py_wake")
    except ModuleNotFoundError as error:
        raise InputError(
            f"wake.pywake: PyWake is not installed ({error}); install it with: pip install 'vindeby[pywake]'"
        ) from None


def need_floris() -> None:
    """InputError, with the remedy, where FLORIS is not installed."""
    try:
        importlib.import_module("floris")
    except ModuleNotFoundError as error:
        raise InputError(
            f"wake.floris: FLORIS is not installed ({error}); install it with: pip install 'vindeby[floris]'"
        ) from None


def find_model(given: PyWakeEngine) -> Any:
    """Import ``package.module:Model``; InputError says what is missing, or that it is not the campaign's code."""
    need_pywake()
    given.refuse_other_code()
    return imported("wake.pywake", given.model, "class or function that makes a wind-farm model")


def made_model(given: PyWakeEngine, site: Any, wind_turbines: Any) -> Any:
    """The wind-farm model of a campaign, of PyWake objects."""
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
