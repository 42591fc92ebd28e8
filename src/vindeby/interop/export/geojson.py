"""GeoJSON (RFC 7946): areas, exclusions, turbines and neighbours, in longitude and latitude of WGS 84."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby._version import __version__
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of
from vindeby.campaign.sections.boundary import BoundarySection, Circle
from vindeby.errors import ArgumentError
from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.columns import plain_values, turbine_columns
from vindeby.interop.export.exporting import ExportOptions
from vindeby.interop.geo.crs import Projection


def write(path: Path, _: str, chosen: Chosen, options: ExportOptions) -> None:
    """Write one collection of features; raise ArgumentError if the farms' place on Earth is unknown."""
    chosen.needs_layouts("export --to geojson")
    if options.crs is None:
        raise ArgumentError(
            f"{chosen.database}: the campaign does not say which coordinate reference system its metres are in; name "
            "it with --crs, e.g. --crs EPSG:32631, or export metres as csv"
        )
    if chosen.campaign is not None:
        chosen.needs_wind("export --to geojson")
    where = Projection(options.crs)
    features = [*_areas(chosen, where), *_turbines(chosen, where), *_cables(chosen, where)]
    collection: dict[str, Any] = {"type": "FeatureCollection", "name": chosen.database.stem}
    collection["vindeby"] = {
        "version": __version__,
        "campaign": None if chosen.campaign is None else chosen.campaign.name,
        "campaign_crs": where.name,
    }
    with path.open("w", encoding="utf-8") as file:
        # One feature per line, so that the file can be read by people and compared by programs.
        file.write(json.dumps(collection, ensure_ascii=False)[:-1] + ', "features": [\n')
        file.write(",\n".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in features))
        file.write("\n]}\n")


def _areas(chosen: Chosen, where: Projection) -> Iterator[dict[str, Any]]:
    campaign = chosen.campaign
    if campaign is None:
        chosen.notes.append("no campaign is kept with these results, so there are only turbines in the file")
        return
    for farm_idx in chosen.farms:
        farm = campaign.farms[farm_idx]
        named = {"farm_idx": farm_idx, "farm": farm.name}
        if farm.zones is None:
            yield from _of_boundary(farm.boundary, {"kind": "boundary", **named}, where)
        for number, zone in enumerate(farm.zones or ()):
            properties = {"kind": "zone", **named, "zone": number, "zone_name": zone.name}
            yield from _of_boundary(zone.boundary, properties, where)
        yield from _neighbours(campaign, farm_idx, named, where)


def _of_boundary(
    boundary: BoundarySection, named: dict[str, Any], where: Projection
) -> Iterator[dict[str, Any]]:
    if boundary.circle is not None:
        yield _feature(_area(boundary.circle.shape(), where), {**named, **_about(boundary.circle)})
    else:
        shapes = [shapely.Polygon(ring) for ring in boundary.rings]
        yield _feature(_area(shapes[0] if len(shapes) == 1 else shapely.MultiPolygon(shapes), where), named)
    for number, hole in enumerate(boundary.exclusions):
        kind = {"kind": "exclusion", "of": named["kind"], "exclusion": number, **_about(hole.circle)}
        yield _feature(_area(hole.shape(), where), {**named, **kind})


def _about(circle: Circle | None) -> dict[str, float]:
    """Return a circle's properties: GeoJSON has only polygons, here of 256 points, good to 1e-4 of the radius."""
    if circle is None:
        return {}
    return {"center_x_m": circle.center[0], "center_y_m": circle.center[1], "radius_m": circle.radius_m}


def _neighbours(
    campaign: Campaign, farm_idx: int, named: dict[str, Any], where: Projection
) -> Iterator[dict[str, Any]]:
    standing = neighbours_of(campaign, farm_idx)
    places = np.array([(one.x, one.y) for one in standing], np.float64).reshape(-1, 2)
    for one, place in zip(standing, where.degrees(places).tolist(), strict=True):
        properties = {
            "kind": "neighbour",
            **named,
            "group": one.group.label,
            "turbine_type": one.turbine.name,
            "rotor_diameter_m": one.turbine.rotor_diameter_m,
            "hub_height_m": one.turbine.hub_height_m,
            "x_m": one.x,
            "y_m": one.y,
        }
        yield _feature({"type": "Point", "coordinates": place}, properties)


def _turbines(chosen: Chosen, where: Projection) -> Iterator[dict[str, Any]]:
    columns = turbine_columns(chosen)
    places = np.column_stack([columns["x_m"], columns["y_m"]])
    degrees = where.degrees(places)
    if not where.covers(degrees):
        lon, lat = degrees[0]
        chosen.notes.append(
            f"turbines lie outside the area that {where.name} is made for (the first at longitude {lon:.4f}, latitude "
            f"{lat:.4f}); is this the system of the campaign's coordinates?"
        )
    names = list(columns)
    rows = zip(*(plain_values(name, columns[name]) for name in names), strict=True)
    for row, place in zip(rows, degrees.tolist(), strict=True):
        properties = {"kind": "turbine", **dict(zip(names, row, strict=True))}
        yield _feature({"type": "Point", "coordinates": place}, properties)


def _cables(chosen: Chosen, where: Projection) -> Iterator[dict[str, Any]]:
    """Yield substations as points and cables as lines, from the end farther from the substation to the nearer one."""
    for result in chosen.results:
        if (routes := result.routes) is None:
            continue
        for number, place in enumerate(where.degrees(routes.substations).tolist()):
            properties = {"kind": "substation", "key": result.key, "substation": number}
            yield _feature({"type": "Point", "coordinates": place}, properties)
        rows = zip(routes.lines(), routes.ends.tolist(), routes.types.tolist(), strict=True)
        for number, (line, (lower, upper), kind) in enumerate(rows):
            properties = {
                "kind": "cable",
                "key": result.key,
                "cable": number,
                "from_turbine": lower,
                **({"to_turbine": upper} if upper >= 0 else {"to_substation": -1 - upper}),
                "cable_type": kind,
                "length_m": float(routes.lengths_m[number]),
            }
            yield _feature({"type": "LineString", "coordinates": where.degrees(line).tolist()}, properties)


def _area(shape: BaseGeometry, where: Projection) -> dict[str, Any]:
    """Return a polygon or several, with outer rings counter-clockwise, as RFC 7946 asks."""
    parts = [
        [where.ring(shapely.get_coordinates(ring)).tolist() for ring in (part.exterior, *part.interiors)]
        for part in map(shapely.geometry.polygon.orient, shapely.get_parts(shape))
    ]
    if len(parts) == 1:
        return {"type": "Polygon", "coordinates": parts[0]}
    return {"type": "MultiPolygon", "coordinates": parts}


def _feature(geometry: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}
