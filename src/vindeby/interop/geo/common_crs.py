"""The one coordinate reference system of a campaign, chosen from all that it reads.

A system that the campaign file states is taken. Otherwise, where everything is in one system of metres, nothing is
projected; and where it is not, everything is brought to the UTM zone of the middle of all data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vindeby.errors import ArgumentError
from vindeby.interop.geo.areas import FloatArray
from vindeby.interop.geo.crs import is_in_metres, local_frame, name_of, same_crs, to_degrees, utm_zone
from vindeby.interop.geo.projecting import projected

if TYPE_CHECKING:
    from pyproj import CRS

_FARTHEST_FROM_MERIDIAN = 6.0
"""Degrees of longitude; there, lengths in a UTM zone are wrong by 0.5 % at the equator and 0.2 % at 50 degrees."""


@dataclass(frozen=True)
class Extent:
    """Longitudes and latitudes, west to east; past 180 where they cross that meridian."""

    west: float
    east: float
    south: float
    north: float

    @property
    def middle(self) -> tuple[float, float]:
        """Longitude and latitude of the middle; longitude from -180 to 180."""
        longitude = (self.west + self.east) / 2
        return (longitude + 180.0) % 360.0 - 180.0, (self.south + self.north) / 2


def degrees_of(points: FloatArray, crs: CRS) -> FloatArray:
    """Points as longitude and latitude."""
    return projected(points, to_degrees(crs))


def extent_of(points: FloatArray) -> Extent:
    """What longitudes and latitudes span, the short way round."""
    longitude, latitude = points[:, 0], points[:, 1]
    shifted = np.mod(longitude, 360.0)
    if np.ptp(shifted) < np.ptp(longitude):
        longitude = shifted
    west, east = float(longitude.min()), float(longitude.max())
    return Extent(west, east, float(latitude.min()), float(latitude.max()))


def chosen_crs(used: Sequence[CRS], extent: Extent) -> tuple[CRS, list[str]]:
    """The system of a campaign that states none, from those of its files; and what is to be said about it."""
    distinct = [
        crs for index, crs in enumerate(used) if not any(same_crs(crs, other) for other in used[:index])
    ]
    metric = [crs for crs in distinct if is_in_metres(crs)]
    notes: list[str] = []
    if len(metric) == 1:
        frame = local_frame(metric[0], *extent.middle)
        if frame.is_true_to_scale:
            return metric[0], notes
        notes.append(
            f"{name_of(metric[0])} is not true to scale here: lengths are {frame.scale[0]:.3f} of the true ones to the "
            f"north and {frame.scale[1]:.3f} to the east; it is not taken for metres"
        )
    return _utm(extent), notes


def _utm(extent: Extent) -> CRS:
    longitude, latitude = extent.middle
    zone = utm_zone(longitude, latitude)
    if zone is None:
        told = f"the middle of all data, ({longitude:.4g}, {latitude:.4g}), lies in no UTM zone"
        raise ArgumentError(f"{told}; say the system with crs: EPSG:CODE for the campaign")
    meridian = (int(str(zone.to_epsg())[-2:]) - 30.5) * 6.0
    middle = (extent.west + extent.east) / 2
    meridian += 360.0 * round((middle - meridian) / 360.0)
    off = max(abs(extent.west - meridian), abs(extent.east - meridian))
    if off > _FARTHEST_FROM_MERIDIAN:
        raise ArgumentError(
            f"the data reach {off:.3g} degrees from the middle meridian of {name_of(zone)}, the zone of their "
            "middle; is longitude first in every file? Make a campaign of each region, or give crs: EPSG:CODE"
        )
    return zone


def refuse_unsuitable(crs: CRS, extent: Extent) -> None:
    """Refuse a stated system that cannot stand for metres where the data are."""
    if not is_in_metres(crs):
        raise ArgumentError(
            f"{name_of(crs)} is no system of metres to the east and north; use UTM, for example"
        )
    frame = local_frame(crs, *extent.middle)
    if not frame.is_true_to_scale:
        told = (
            f"{name_of(crs)} is not true to scale where the data are: {frame.scale[0]:.3f} of the true length"
        )
        raise ArgumentError(f"{told}; use the UTM zone there")
