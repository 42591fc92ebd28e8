"""Positions and areas for maps: frames, neighbours near a farm, and layouts as the browser gets them.

The browser gets areas once, and positions as 16-bit numbers over the frame of their farm.
"""

import base64
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import largest_diameter_m
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import groups_of
from vindeby.campaign.tasks import Cell
from vindeby.results.sources import farm_of, has_neighbours, turbine_of

Frame = tuple[float, float, float, float]
"""Left, bottom, width and height in metres."""
Box = tuple[float, float, float, float]
"""Left, bottom, right and top in metres."""

STEPS = 65535
_DIGITS = 1


def frame_of(campaign: Campaign | None, farm_idx: int, layouts: Iterable[FloatArray] = ()) -> Frame:
    """Return a box around a farm's area and these layouts."""
    farm = farm_of(campaign, farm_idx)
    area = None if farm is None else farm.boundary.shape()
    own = box_around(area, *layouts)
    if math.isinf(own[0]):
        return 0.0, 0.0, 1.0, 1.0
    left, bottom, right, top = box_around(
        shapely.box(*own), nearby(neighbour_places(campaign, farm_idx), own)
    )
    return left, bottom, max(right - left, 1.0), max(top - bottom, 1.0)


def box_around(*parts: BaseGeometry | FloatArray | None) -> Box:
    """Return the box around areas and positions (x and y in metres); infinite if there are none."""
    corners = [
        np.reshape(part.bounds, (2, 2)).T if isinstance(part, BaseGeometry) else part for part in parts
    ]
    places = np.hstack([np.empty((2, 0)), *(part for part in corners if part is not None)])
    left, bottom = places.min(axis=1, initial=np.inf).tolist()
    right, top = places.max(axis=1, initial=-np.inf).tolist()
    return left, bottom, right, top


def pack_layout(layout: FloatArray, frame: Frame) -> str:
    """Return positions over a frame, x and y in turn; accurate to 1/65535 of the frame, under a metre on 60 km."""
    left, bottom, width, height = frame
    scaled = (layout - np.array([[left], [bottom]])) / np.array([[width], [height]]) * STEPS
    numbers = np.clip(np.rint(scaled), 0, STEPS).astype("<u2")
    return base64.b64encode(numbers.T.tobytes()).decode("ascii")


def farm_data(campaign: Campaign | None, farm_idx: int, frame: Frame) -> dict[str, Any]:
    """Return the data of a farm for the browser: its name, frame and rings."""
    farm = farm_of(campaign, farm_idx)
    name = farm.name if farm else f"farm{farm_idx}" if farm_idx >= 0 else "?"
    rings: list[list[list[float]]] = []
    if farm is not None:
        for polygon in shapely.get_parts(farm.drawn_shape()):
            edges = (polygon.exterior, *polygon.interiors)
            rings += [[[round(x, _DIGITS), round(y, _DIGITS)] for x, y in edge.coords] for edge in edges]
    data: dict[str, Any] = {"name": name, "frame": [round(value, _DIGITS) for value in frame], "rings": rings}
    left, bottom, width, height = frame
    beside = nearby(neighbour_places(campaign, farm_idx), (left, bottom, left + width, bottom + height))
    if beside.size:
        data["neighbours"] = [[round(x, _DIGITS), round(y, _DIGITS)] for x, y in beside.T.tolist()]
    return data


def type_data(campaign: Campaign | None, type_idx: int, cell: Cell | None = None) -> dict[str, Any]:
    """Return the data of a type, or of a cell's mix, for the browser: its largest rotor and its mean rated power."""
    turbine = turbine_of(campaign, type_idx)
    if campaign is not None and cell is not None and cell.mix:
        name, spacing = cell.label(campaign.type_names), None
        diameter, rated = largest_diameter_m(campaign, cell), campaign.rated_mw(cell) / cell.n_turbines
    elif campaign is not None and turbine is not None:
        name, diameter, rated = turbine.name, turbine.rotor_diameter_m, turbine.rated_power_mw
        spacing = campaign.min_spacing.in_metres(diameter)
    else:
        name, diameter, rated, spacing = f"t{type_idx}" if type_idx >= 0 else "?", None, None, None
    return {"name": name, "diameter": diameter, "rated": rated, "spacing": spacing}


def plain(value: float, digits: int) -> float | None:
    """Return a rounded number for JSON; None for NaN and infinity."""
    return round(float(value), digits) if math.isfinite(value) else None


_SHARE = 0.5
"""The distance, as a fraction of the longer side of a farm, within which neighbours are drawn."""


def neighbour_groups(campaign: Campaign | None, farm_idx: int) -> dict[str, FloatArray]:
    """Return the positions of every neighbour, x and y in metres, by the label of its group; empty if none."""
    if campaign is None or not has_neighbours(campaign, farm_idx):
        return {}
    return groups_of(campaign, farm_idx)


def neighbour_places(campaign: Campaign | None, farm_idx: int) -> FloatArray:
    """Return the positions of all neighbours, x and y in metres."""
    return np.hstack([np.empty((2, 0)), *neighbour_groups(campaign, farm_idx).values()])


def nearby(places: FloatArray, box: Sequence[float]) -> FloatArray:
    """Return the positions within the drawn margin of the box."""
    left, bottom, right, top = box
    margin = _SHARE * max(right - left, top - bottom)
    x, y = places
    near = (x >= left - margin) & (x <= right + margin) & (y >= bottom - margin) & (y <= top + margin)
    return places[:, near]
