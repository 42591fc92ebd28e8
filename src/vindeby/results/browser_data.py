"""ResultColumns as the browser gets them: areas once, positions as 16-bit numbers over the frame of their farm."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vindeby.assembly.stored_turbines import largest_diameter_m, rated_mw
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.results.campaign_lookup import farm_of, turbine_of
from vindeby.results.neighbour_places import grown, nearby, neighbour_places
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
    if campaign is not None and cell is not None and cell.mix:
        return {
            "name": cell.label([one.name for one in campaign.turbines]),
            "diameter": largest_diameter_m(campaign, cell),
            "rated": rated_mw(campaign, cell) / cell.n_turbines,
            "spacing": None,
        }
    if campaign is None or turbine is None:
        return {
            "name": f"t{type_idx}" if type_idx >= 0 else "?",
            "diameter": None,
            "spacing": None,
            "rated": None,
        }
    return {
        "name": turbine.name,
        "diameter": turbine.rotor_diameter_m,
        "rated": turbine.rated_power_mw,
        "spacing": campaign.min_spacing.in_metres(turbine.rotor_diameter_m),
    }


def plain(value: float, digits: int) -> float | None:
    """A number for JSON; None for what JSON cannot say."""
    return round(float(value), digits) if math.isfinite(value) else None
