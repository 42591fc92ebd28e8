"""The wind of a windIO site, as a campaign describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vindeby.interop.windio.nodes import Node
from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.probability import read_probability
from vindeby.interop.windio.quantities import COORDINATES, Quantities, Quantity, read_quantities
from vindeby.interop.windio.sectors import with_north_once
from vindeby.interop.windio.series import read_series
from vindeby.interop.windio.weibull import WEIBULL, read_weibull
from vindeby.text import listed

_MAIN = ("probability", *WEIBULL, "wind_speed", "wind_direction", "turbulence_intensity")
_BESIDE = ("wind_speed", "wind_direction", "turbulence_intensity", "height")
_FORM_NAMES = {
    "time": ("time", "probability", "operating", "wind_turbine"),
    "weibull_a": (*WEIBULL, "x", "y"),
    "probability": ("probability", "sector_probability"),
}
_FORMS = (
    "give probability; weibull_a, weibull_k and sector_probability; or time, wind_speed and wind_direction"
)


@dataclass
class Resource:
    """What a resource file holds, before it is known for which turbines."""

    quantities: Quantities
    heights: list[float]
    """The heights that the file says the wind is of; none where it does not say."""

    def site(self, hub_heights: Sequence[float], notes: Notes) -> dict[str, Any]:
        """The section ``site`` of a campaign; refuses what no layout search can use."""
        found = _at_hub_height(self.quantities, hub_heights, notes)
        self._note_height(hub_heights, notes)
        _refuse_by_turbine(found)
        by_time = "time" in found.by_name or found.times is not None
        if not by_time:
            found = with_north_once(found, notes)
        forms = [
            name
            for name, given in (
                ("time", by_time),
                ("weibull_a", found.get("weibull_a") is not None),
                ("probability", not by_time and found.get("probability") is not None),
            )
            if given
        ]
        if len(forms) != 1:
            told = f"gives {' and '.join(forms)}, which exclude each other" if forms else "describes no wind"
            found.node.refuse(told, _FORMS)
        beside = [name for name in found.by_name if name not in (*_BESIDE, *_FORM_NAMES[forms[0]])]
        notes.ignored += [f"{name}: it does not go with {forms[0]}" for name in beside]
        reader = {"time": read_series, "weibull_a": read_weibull, "probability": read_probability}[forms[0]]
        return reader(found, notes)

    def _note_height(self, hub_heights: Sequence[float], notes: Notes) -> None:
        if not self.heights:
            notes.doubtful.append(
                "the file does not say of which height the wind is; it is taken as that at hub height"
            )
            return
        if self.quantities.depends_on("height", *_MAIN):
            return  # then the one at hub height is taken, or refused
        for hub in sorted(set(hub_heights)):
            if all(abs(height - hub) > 0.01 for height in self.heights):
                notes.doubtful.append(
                    f"the wind is that of {listed(self.heights)} m, the hub height {hub:g} m; it is taken as it is, "
                    "without shear"
                )


def read_resource(node: Node, notes: Notes) -> Resource:
    """The resource of an ``energy_resource``, of its ``wind_resource``, or of a site that holds it."""
    for key in ("energy_resource", "wind_resource"):
        if node.has(key):
            node.use("name")
            node = node.need(key)
    quantities = read_quantities(node, notes)
    if not quantities.by_name:
        node.refuse("describes no wind", _FORMS)
    return Resource(quantities, _heights(node, quantities))


def _heights(node: Node, quantities: Quantities) -> list[float]:
    """The reference height, wherever the file has it."""
    given = quantities.get("height")
    found = [] if given is None else np.unique(given.values).tolist()
    if isinstance(node.value, dict):
        reference, shear = node.get("reference_height"), node.get("shear")
        if reference is not None:
            found.append(reference.positive())
        if shear is not None:
            found.append(shear.need("h_ref").positive())
    return sorted(set(found))


def _at_hub_height(found: Quantities, hub_heights: Sequence[float], notes: Notes) -> Quantities:
    """Without the axis of height, except on a grid of places, which has heights of its own."""
    if not found.depends_on("height", *_MAIN) or found.depends_on("x", *WEIBULL):
        return found
    heights = found.axis("height")
    wanted = sorted(set(hub_heights))
    index = next((i for i, height in enumerate(heights) if wanted and abs(height - wanted[0]) <= 0.01), None)
    if len(heights) == 1:
        index = 0
    if index is None or len(wanted) > 1:
        hubs = " and ".join(f"{hub:g} m" for hub in wanted) or "unknown"
        found.by_name["height"].refuse(
            f"has {listed(heights.tolist())} m, but the hub height is {hubs}",
            "give the wind at the hub height",
        )
    notes.chosen.append(f"of the heights, {heights[index]:g} m is taken")
    by_name = {name: one.at("height", index) if "height" in one.axes and name != "height" else one
               for name, one in found.by_name.items()}  # fmt: skip
    return replace(found, by_name=by_name)


def _refuse_by_turbine(found: Quantities) -> None:
    """Refuse wind that is known only where the turbines of one layout stand: a search moves them."""
    for name in _MAIN:
        given: Quantity | None = found.get(name)
        if given is not None and "wind_turbine" in given.axes:
            same = bool(
                np.all(given.values == np.take(given.values, [0], axis=given.axes.index("wind_turbine")))
            )
            given.refuse(
                "is given at each turbine of one layout, which says nothing about other places"
                + ("; here it is the same at all of them" if same else ""),
                "give the wind for the whole site, or on a grid of x and y",
            )


__all__ = ["COORDINATES", "Resource", "read_resource"]
