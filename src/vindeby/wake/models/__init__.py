"""The wake models and the names they go by. ``contract`` says what a model is."""

import difflib
from collections.abc import Callable

from vindeby.errors import ArgumentError
from vindeby.wake.models.bastankhah_2016 import bastankhah_2016
from vindeby.wake.models.contract import ModelData, Pair, WakeModel
from vindeby.wake.models.cumulative_curl import cumulative_curl
from vindeby.wake.models.gaussian import bastankhah_2014, iea37, niayifar_2016
from vindeby.wake.models.nygaard_2022 import nygaard_2022
from vindeby.wake.models.top_hat import jensen, turbopark_2020

__all__ = [
    "MODELS",
    "ModelData",
    "Pair",
    "WakeModel",
    "bastankhah_2014",
    "bastankhah_2016",
    "cumulative_curl",
    "iea37",
    "jensen",
    "model_named",
    "niayifar_2016",
    "nygaard_2022",
    "turbopark_2020",
]

MODELS: dict[str, Callable[..., WakeModel]] = {
    "bastankhah-2014": bastankhah_2014,
    "bastankhah-2016": bastankhah_2016,
    "cumulative-curl": cumulative_curl,
    "iea37": iea37,
    "jensen": jensen,
    "niayifar-2016": niayifar_2016,
    "nygaard-2022": nygaard_2022,
    "turbopark-2020": turbopark_2020,
}


def model_named(name: str) -> WakeModel:
    """Give the wake model of this name with its published constants."""
    if name in MODELS:
        return MODELS[name]()
    near = difflib.get_close_matches(name, MODELS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"there is no wake model {name!r}{hint} Known: {', '.join(MODELS)}")
