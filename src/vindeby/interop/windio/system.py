"""A whole windIO system as a campaign: site, wind farms and wake model, with what windIO leaves open chosen."""

import copy
import importlib
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, pack
from vindeby.campaign.reading.yaml_text import Include, write
from vindeby.errors import CampaignError, Problem
from vindeby.interop.windio.analysis import read_wake
from vindeby.interop.windio.farm import WindFarms, WindioLayout, read_boundary, read_farms
from vindeby.interop.windio.nodes import Node, Notes, Tree, open_root
from vindeby.interop.windio.resource import Quantities, read_resource, site_section
from vindeby.interop.windio.turbine import printable_name
from vindeby.text import one_line

_TOLERANCE_M = 1.0
"""Published layouts have turbines on the boundary, rounded to a decimetre or so."""


def farms_section(
    name: str, boundary: dict[str, Any] | None, farms: WindFarms, notes: Notes
) -> list[dict[str, Any]]:
    """Return the section ``farms``: one farm, with a zone for each windIO farm where each has a polygon of its own."""
    layouts = farms.first_layouts()
    if len(farms.names) > 1 and len(layouts) == len(farms.names) and boundary is not None:
        zones = _zones(boundary, layouts, farms)
        if zones is not None:
            notes.chosen.append(
                f"each of the {len(layouts)} farms stands in a polygon of its own: they are zones of one farm, "
                "searched together"
            )
            return [{"name": name, "zones": zones}]
        notes.chosen.append(f"the {len(layouts)} farms of the file are one farm, with the whole boundary")
    farm: dict[str, Any] = {"name": farms.names[0] if len(farms.names) == 1 else name}
    if boundary is not None:
        farm["boundary"] = boundary
    if layouts:
        farm |= _amount(layouts, farms, notes)
    else:
        why = "there is no layout in the file that would count turbines"
        notes.missing.append(Problem("", "n_turbines", why, None, "say how many, or give capacity_mw"))
    return [farm]


def _zones(
    boundary: dict[str, Any], layouts: Sequence[WindioLayout], farms: WindFarms
) -> list[dict[str, Any]] | None:
    """Return a zone per farm if exactly one polygon holds all its turbines and none is shared; else None."""
    rings, zones = boundary.get("polygons", ()), dict[int, dict[str, Any]]()
    shapes = [shapely.Polygon(ring if len(ring) > 2 else None) for ring in rings]
    if len(shapes) != len(layouts) or not all(shape.is_valid for shape in shapes):
        return None
    for layout in layouts:
        points = shapely.MultiPoint(list(zip(layout.x, layout.y, strict=True)))
        holding = [index for index, shape in enumerate(shapes) if shape.buffer(_TOLERANCE_M).covers(points)]
        if len(holding) != 1 or holding[0] in zones:
            return None
        holes = {"exclusions": boundary["exclusions"]} if "exclusions" in boundary else {}
        area = {"polygon": rings[holding[0]], **holes}
        zones[holding[0]] = {"name": layout.farm, **_amount([layout], farms, Notes()), "boundary": area}
    return list(zones.values())


def _amount(layouts: Sequence[WindioLayout], farms: WindFarms, notes: Notes) -> dict[str, Any]:
    count = sum(len(layout.x) for layout in layouts)
    types = [name for layout in layouts for name in layout.types]
    if len(farms.turbines) < 2:
        return {"n_turbines": count}
    if len(types) < count:
        notes.chosen.append(
            f"the layouts do not say which turbine is of which of the {len(farms.turbines)} types: each type is "
            "searched by itself"
        )
        return {"n_turbines": count}
    return {"mix": dict(Counter(types))}


_MOST = 12
_LONGEST = 100
_MOST_VALUES = 100_000
"""windIO's validator takes about half a millisecond for each."""
_ERROR = re.compile(r'^Error \d+: Failed at instance path `(.*?)` with error message: "(.*)"$', re.MULTILINE)


def schema_notes(tree: Tree) -> list[str]:
    """Return the findings of windIO's own validator, a line each; it does not see includes that were not followed."""
    try:
        windio: Any = importlib.import_module("windIO")
    except ImportError:
        return ["not checked: the windIO package is not installed (pip install 'vindeby[interop]')"]
    if len(tree.document.origins) > _MOST_VALUES:
        return [f"not checked: the system holds more than {_MOST_VALUES:,} values"]
    try:
        windio.validate(_plain(tree.whole(tree.document.data)), "plant/wind_energy_system")
    except Exception as error:  # noqa: BLE001  (whatever a validator of another package raises is a finding)
        found = _ERROR.findall(str(error)) or [("not checked", f"windIO's validator failed: {error}")]
        # A message ends with what is wrong; before that, the validator repeats the data.
        lines = [f"{path}: {' '.join(text.split())[-_LONGEST:]}" for path, text in found[:_MOST]]
        return [*lines, f"and {len(found) - _MOST} more"] if len(found) > _MOST else lines
    return []


def _plain(value: Any) -> Any:
    """Return data as the validator takes them: without includes, and with the first two entries along each axis."""
    if isinstance(value, dict):
        known = {key: inner for key, inner in value.items() if not isinstance(inner, Include | type(...))}
        return {key: _plain(inner) for key, inner in known.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value[(slice(2),) * value.ndim].tolist() if isinstance(value, np.ndarray) else value


SPACING_DIAMETERS = 2.0
SEEDS = 4


@dataclass
class System:
    """The content of a windIO system, as sections of a campaign."""

    data: dict[str, Any]
    """The campaign as plain data; what the file does not say is left out and listed in ``notes.missing``."""
    layouts: list[WindioLayout]
    """Every layout of the file."""
    notes: Notes
    path: Path


def read_system(path: str | Path, *, check_schema: bool = True, allow_outside: bool = False) -> System:
    """Read a ``wind_energy_system`` file with the includes that are needed; raises CampaignError in words.

    ``allow_outside``: includes may leave the folder of the file.
    """
    notes, root = Notes(), open_root(Path(path), allow_outside=allow_outside)
    if not (root.has("site") or root.has("wind_farm")):
        message = "is not a whole windIO system: it has neither site nor wind_farm"
        root.refuse(message, "name the system file, with site: !include ... and wind_farm: !include ...")
    name_node = root.get("name")
    name = printable_name(name_node.text()) if name_node is not None else Path(path).stem
    boundary, resource = _site(root, notes)
    farm_node = root.get("wind_farm")
    farms = WindFarms() if farm_node is None else read_farms(farm_node, notes)
    data: dict[str, Any] = {
        "name": name,
        "description": f"From the windIO file {printable_name(Path(path).name)}.",
        "farms": farms_section(name, boundary, farms, notes),
    }
    if farms.turbines:
        data["turbines"] = farms.turbines
    else:
        notes.missing.append(
            Problem("", "turbines", "there is no turbine in the file", None, "describe one or more")
        )
    data["min_spacing"] = f"{SPACING_DIAMETERS:g} D"
    if resource is not None:
        data["site"] = site_section(resource, farms.figures("hub_height_m"), notes)
    analysis = root.get("attributes", "analysis") or root.get(
        "attributes", "analyses"
    )  # the latter in windIO 1
    try:
        data["wake"] = read_wake(analysis, notes)
    except CampaignError as error:
        why = f"the one in the file is not used: {error.problems[0]}"
        notes.missing.append(Problem("", "wake", why, None, "give e.g. {jensen: {k: 0.05}}"))
    data |= {"method": "auto", "seeds": SEEDS}
    _note_choices(farms, notes)
    notes.ignored += root.tree.ignored_keys()
    if check_schema:
        notes.schema += schema_notes(root.tree)
    layouts = [one for name in farms.names for one in farms.layouts[name]]
    return System(data, layouts, notes, Path(path))


def _site(root: Node, notes: Notes) -> tuple[dict[str, Any] | None, Quantities | None]:
    site = root.get("site")
    boundary, resource, why = None, None, "there is no boundary in the file"
    if site is not None:
        site.mapping()  # anything else is refused, not only its boundary
        site.use("name")
        try:
            boundary = read_boundary(site, notes)
        except CampaignError as error:
            why = f"the one in the file is not used: {error.problems[0]}"
        resource = read_resource(site) if site.has("energy_resource") else None
    if boundary is None:
        notes.missing.append(Problem("", "farms.0.boundary", why, None, "give polygon or circle"))
    if resource is None:
        notes.missing.append(
            Problem("", "site", "there is no energy_resource in the file", None, "describe the wind")
        )
    return boundary, resource


def _note_choices(farms: WindFarms, notes: Notes) -> None:
    if farms.first_layouts():
        notes.chosen.append(
            "layouts of the file only count turbines here; start: {file: SYSTEM} begins a search with them"
        )
    notes.chosen.append(f"min_spacing {SPACING_DIAMETERS:g} D: windIO has no such field")
    notes.chosen.append(f"method auto; {SEEDS} seeds")


_WIDTH = 110


def campaign_text(system: System, file: Path) -> str:
    """Return the text of the campaign file of this name, which holds all that the system says of a campaign."""
    data = copy.deepcopy(system.data)
    site = data.get("site", {})
    series = site.get("time_series", {})
    for key, values in series.items():
        if isinstance(values, list) and len(values) > LONGEST_PLAIN:
            series[key] = pack(tuple(values))
    for value in site.get("local", {}).values():
        if isinstance(value, dict) and len(value["values"]) > LONGEST_PLAIN:
            value["values"] = pack(tuple(value["values"]))
    lines = [f"Written from the windIO file {system.path}.", f"Check it:  vindeby check {file.name}"]
    lines += system.notes.lines()
    return "".join(map(_comment, lines)) + "\n" + write(data)


def _comment(text: str) -> str:
    lines = textwrap.wrap(one_line(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)
