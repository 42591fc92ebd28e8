"""Pictures of a whole campaign, by name: what ``show --picture`` and ``report`` draw."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes

from vindeby.plots.energy import best_and_median, counts, energy, losses, search
from vindeby.plots.farms import density, farm_map, wakes
from vindeby.plots.times import completion, durations, series
from vindeby.plots.wind import rose

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
    "wakes": (wakes, "wake loss by wind direction and by turbine, of the layout that loses least"),
    "losses": (losses, "what own and neighbours' wakes take"),
    "counts": (counts, "the objective against the number of turbines"),
    "search": (search, "how the search of the best results went on"),
    "series": (series, "power over time, by combination of a study"),
}
"""Every picture of a campaign, and what it shows."""
