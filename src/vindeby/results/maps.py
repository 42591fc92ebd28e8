"""Positions and areas for maps: frames, neighbours near a farm, and layouts as the browser gets them.

The browser gets areas once, and positions as 16-bit numbers over the frame of their farm.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vindeby.assembly.stored_turbines import largest_diameter_m
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import groups_of
from vindeby.campaign.tasks import Cell
from vindeby.results.sources import farm_of, has_neighbours, turbine_of
from vindeby.store.format.record import Record

FloatArray = NDArray[np.float64]
Frame = tuple[float, float, float, float]
"""Left, bottom, width and height in metres."""

STEPS = 65535
_DIGITS = 1


def layout_in(record: Record) -> FloatArray | None:
    """The positions in a result, x and y in metres; None where it has none that could be drawn."""
    layout = record.arrays.get("layout")
    if layout is None or layout.ndim != 2 or layout.shape[0] != 2 or not np.isfinite(layout).all():
        return None
    return np.asarray(layout, np.float64)


def stored_energy(record: Record) -> float | None:
    """The AEP in a result, GWh; None where it has none."""
    energy = record.arrays.get("aep")
    return float(energy.ravel()[0]) if energy is not None and energy.size == 1 else None


def frame_of(campaign: Campaign | None, farm_idx: int, layouts: Iterable[FloatArray] = ()) -> Frame:
    """A box around a farm's area and these layouts."""
    boxes = [(*layout.min(axis=1), *layout.max(axis=1)) for layout in layouts if layout.size]
    farm = farm_of(campaign, farm_idx)
    if farm is not None:
        boxes.append(farm.boundary.shape().bounds)
    if not boxes:
        return 0.0, 0.0, 1.0, 1.0
    table = np.array(boxes, np.float64)
    left, bottom = table[:, :2].min(axis=0)
    right, top = table[:, 2:].max(axis=0)
    box = (float(left), float(bottom), float(right), float(top))
    left, bottom, right, top = grown(box, nearby(neighbour_places(campaign, farm_idx), box))
    return float(left), float(bottom), max(float(right - left), 1.0), max(float(top - bottom), 1.0)


def pack_layout(layout: FloatArray, frame: Frame) -> str:
    """Positions over a frame, x and y in turn; good to 1/65535 of the frame, less than a metre on 60 km."""
    left, bottom, width, height = frame
    scaled = (layout - np.array([[left], [bottom]])) / np.array([[width], [height]]) * STEPS
    numbers = np.clip(np.rint(scaled), 0, STEPS).astype("<u2")
    return base64.b64encode(numbers.T.tobytes()).decode("ascii")


def farm_data(campaign: Campaign | None, farm_idx: int, frame: Frame) -> dict[str, Any]:
    """A farm for the browser: its name, frame and rings."""
    farm = farm_of(campaign, farm_idx)
    name = farm.name if farm else f"farm{farm_idx}" if farm_idx >= 0 else "?"
    rings: list[list[list[float]]] = []
    if farm is not None:
        for polygon in shapely.get_parts(farm.drawn_shape()):
            edges = (polygon.exterior, *polygon.interiors)
            rings += [[[round(x, _DIGITS), round(y, _DIGITS)] for x, y in edge.coords] for edge in edges]
    data = {"name": name, "frame": [round(value, _DIGITS) for value in frame], "rings": rings}
    if beside := _neighbours_in(campaign, farm_idx, frame):
        data["neighbours"] = beside
    return data


def _neighbours_in(campaign: Campaign | None, farm_idx: int, frame: Frame) -> list[list[float]]:
    left, bottom, width, height = frame
    places = nearby(neighbour_places(campaign, farm_idx), (left, bottom, left + width, bottom + height))
    return [[round(x, _DIGITS), round(y, _DIGITS)] for x, y in places.T.tolist()]


def type_data(campaign: Campaign | None, type_idx: int, cell: Cell | None = None) -> dict[str, Any]:
    """A turbine type for the browser, or the mix of types of a cell: its largest rotor and its mean rated power."""
    turbine = turbine_of(campaign, type_idx)
    data = {
        "name": f"t{type_idx}" if type_idx >= 0 else "?",
        "diameter": None,
        "spacing": None,
        "rated": None,
    }
    if campaign is not None and cell is not None and cell.mix:
        data["name"] = cell.label(campaign.type_names)
        return data | {
            "diameter": largest_diameter_m(campaign, cell),
            "rated": campaign.rated_mw(cell) / cell.n_turbines,
        }
    if campaign is None or turbine is None:
        return data
    return {
        "name": turbine.name,
        "diameter": turbine.rotor_diameter_m,
        "rated": turbine.rated_power_mw,
        "spacing": campaign.min_spacing.in_metres(turbine.rotor_diameter_m),
    }


def plain(value: float, digits: int) -> float | None:
    """A rounded number for JSON; None for NaN and infinity."""
    return round(float(value), digits) if math.isfinite(value) else None


Box = tuple[float, ...]
"""Left, bottom, right and top in metres."""
_SHARE = 0.5
"""Of the longer side of a farm: a neighbour within this of it is drawn, and one farther away is not."""


def neighbour_groups(campaign: Campaign | None, farm_idx: int) -> dict[str, FloatArray]:
    """The positions of every neighbour, x and y in metres, by the label of its group; none without a campaign."""
    if campaign is None or not has_neighbours(campaign, farm_idx):
        return {}
    groups = groups_of(campaign, farm_idx)
    return {label: np.array([(one.x, one.y) for one in standing]).T for label, standing in groups.items()}


def neighbour_places(campaign: Campaign | None, farm_idx: int) -> FloatArray:
    """The positions of all neighbours together."""
    return np.hstack([np.empty((2, 0)), *neighbour_groups(campaign, farm_idx).values()])


def nearby(places: FloatArray, box: Sequence[float]) -> FloatArray:
    """Those of the positions that are in the box or not far from it."""
    left, bottom, right, top = box
    margin = _SHARE * max(right - left, top - bottom)
    x, y = places
    near = (x >= left - margin) & (x <= right + margin) & (y >= bottom - margin) & (y <= top + margin)
    return places[:, near]


def grown(box: Sequence[float], places: FloatArray) -> Box:
    """A box that has these positions in it too."""
    left, bottom, right, top = box
    if not places.size:
        return left, bottom, right, top
    (low_x, low_y), (high_x, high_y) = places.min(axis=1), places.max(axis=1)
    low = min(left, float(low_x)), min(bottom, float(low_y))
    return (*low, max(right, float(high_x)), max(top, float(high_y)))
