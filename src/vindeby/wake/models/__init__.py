"""The wake models and the names they go by. ``contract`` says what a model is."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from vindeby.errors import ArgumentError
from vindeby.wake.models.bastankhah_2016 import bastankhah_2016
from vindeby.wake.models.contract import ModelData, Pair, WakeModel
from vindeby.wake.models.cumulative_curl import cumulative_curl
from vindeby.wake.models.gaussian import bastankhah_2014, gaussian, iea37, niayifar_2016
from vindeby.wake.models.nygaard_2022 import nygaard_2022
from vindeby.wake.models.top_hat import jensen, top_hat, turbopark_2020

__all__ = [
    "MODELS",
    "ModelData",
    "Pair",
    "WakeModel",
    "bastankhah_2014",
    "bastankhah_2016",
    "cumulative_curl",
    "gaussian",
    "iea37",
    "jensen",
    "model_named",
    "niayifar_2016",
    "nygaard_2022",
    "top_hat",
    "turbopark_2020",
]

MODELS: dict[str, Callable[..., WakeModel]] = {
    "bastankhah-2014": bastankhah_2014,
    "bastankhah-2016": bastankhah_2016,
    "cumulative-curl": cumulative_curl,
    "gaussian": gaussian,
    "iea37": iea37,
    "jensen": jensen,
    "niayifar-2016": niayifar_2016,
    "nygaard-2022": nygaard_2022,
    "top-hat": top_hat,
    "turbopark-2020": turbopark_2020,
}


def model_named(given: str | Mapping[str, Mapping[str, Any]]) -> WakeModel:
    """Return the wake model of a name with its published constants, or of ``{name: parameters}``."""
    if not isinstance(given, str) and len(given) != 1:
        raise ArgumentError(f"wake must be one model, as {{name: parameters}}, not {given!r}")
    name, parameters = (given, {}) if isinstance(given, str) else next(iter(given.items()))
    if name in MODELS:
        try:
            return MODELS[name](**parameters)
        except TypeError as error:
            raise ArgumentError(f"wake model {name!r} does not take {parameters!r}: {error}") from None
    near = difflib.get_close_matches(name, MODELS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"there is no wake model {name!r}{hint} Known: {', '.join(MODELS)}")
