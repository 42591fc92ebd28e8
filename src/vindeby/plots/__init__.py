"""Pictures of layouts and campaigns with matplotlib; every function returns the axes that it drew on.

>>> import vindeby
>>> results = vindeby.ResultSet("layouts.h5")                    # doctest: +SKIP
>>> axes = vindeby.plots.layout(results, "farm0_t5_s0")          # doctest: +SKIP
>>> axes.figure.savefig("layout.pdf")                            # doctest: +SKIP

Colours are steps of viridis, of one blue or of grey, so they keep their order in black and white and for every kind
of colour vision, and each has a contrast of at least 3 against the page. Whatever a colour shows
is also shown by a position, a marker or a figure.
"""

from collections.abc import Callable

from matplotlib.axes import Axes

from vindeby.plots.energy import energy, front, losses, series
from vindeby.plots.farms import farm_map, wakes
from vindeby.plots.layout import layout
from vindeby.plots.style import FORMATS, save
from vindeby.plots.wind import rose

__all__ = ["FORMATS", "PICTURES", "layout", "save"]

Picture = Callable[..., Axes]

PICTURES: dict[str, tuple[Picture, str]] = {
    "energy": (
        energy,
        "every result by farm, turbine type and combination of axes: AEP, or capacity factor where capacities differ",
    ),
    "map": (farm_map, "the farms, each with its best layout"),
    "wind": (rose, "how often the wind comes from where, and how fast"),
    "wakes": (wakes, "wake loss by wind direction and by turbine, of the best layout"),
    "losses": (losses, "what own and neighbours' wakes take"),
    "front": (front, "AEP against the second of two objectives, with the weight of each search"),
    "series": (series, "power over time, by combination of a study"),
}
"""Every picture of a campaign, and its description."""
