"""Pictures of a whole campaign, by name: what ``show --picture`` and ``report`` draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes

from vindeby.plots.energy import best_and_median, energy
from vindeby.plots.farms import density, farm_map
from vindeby.plots.times import completion, durations
from vindeby.plots.wind import rose
from vindeby.results.result_set import ResultSet

Picture = Callable[..., Axes]

PICTURES: dict[str, tuple[Picture, str]] = {
    "energy": (
        energy,
        "every result by farm and turbine type: AEP, or capacity factor where capacities differ",
    ),
    "best": (best_and_median, "the best of each farm and type, and how far the median is below"),
    "density": (density, "wake loss against capacity density"),
    "map": (farm_map, "all farms, each with its best layout"),
    "wind": (rose, "how often the wind comes from where, and how fast"),
    "completion": (completion, "results published over time"),
    "durations": (durations, "how long tasks took"),
}
"""Every picture of a campaign, and what it shows."""


def draw(name: str, result_set: ResultSet, *, dark: bool = False) -> Any:
    """The axes of a picture by its name."""
    return PICTURES[name][0](result_set, dark=dark)
