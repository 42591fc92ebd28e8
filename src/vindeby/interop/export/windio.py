"""windIO 2: for each result a ``wind_energy_system.yaml``, with parts that results share in files of their own.

One result makes one folder with everything. Several make one folder per key, and the shared parts (wind, turbine
types, areas) stand once, above them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.assembly.wind import turbine_of
from vindeby.campaign import Campaign, Turbine
from vindeby.campaign.tasks import task_key
from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.columns import kinds_in
from vindeby.interop.export.earth import Projection
from vindeby.interop.export.folder_mark import write_mark
from vindeby.interop.export.windio_resource import resource
from vindeby.interop.export.windio_site import site_areas
from vindeby.interop.export.windio_wakes import analysis
from vindeby.interop.export.yaml_file import Include, write_yaml
from vindeby.interop.turbine_curves import curve_points
from vindeby.store.format.rows import Segment, array_field
from vindeby.units import mw_to_w

SYSTEM = "wind_energy_system.yaml"


def write_windio(path: Path, chosen: Chosen, crs: str | None) -> None:
    """Write the folder."""
    chosen.needs_layouts("export --to windio")
    campaign = chosen.needs_wind("export --to windio")
    system = None if crs in (None, "local") else Projection(str(crs)).proj_string()
    wind, runs = resource(chosen, campaign)
    write_yaml(path / "energy_resource.yaml", wind)
    wakes, notes = analysis(campaign.wake)
    chosen.notes.extend(notes)
    for farm_idx in sorted({place[0] for place in chosen.places.values()}):
        _write_site(path, chosen, campaign, farm_idx, system)
    attributes: dict[str, Any] = {"flow_model": {"name": "vindeby"}}
    if wakes is not None:
        attributes["analysis"] = wakes
    attributes["model_outputs_specification"] = {"run_configuration": runs}
    write_yaml(path / "attributes.yaml", attributes)
    used: set[int] = set()
    for result in chosen.in_order():
        used |= _write_result(path, chosen, campaign, result, system)
    for kind in sorted(used):
        write_yaml(path / f"turbine_t{kind}.yaml", turbine(campaign.turbines[kind]))
    write_mark(path, "windio", chosen)


def _write_site(path: Path, chosen: Chosen, campaign: Campaign, farm_idx: int, crs: str | None) -> None:
    farm = campaign.farms[farm_idx]
    areas, notes = site_areas(farm, crs)
    if campaign.neighbours or farm.neighbours:
        notes.append(
            f"the turbines that stand around farm {farm.name!r} are not in the files, so that other tools compute more "
            "energy"
        )
    chosen.notes.extend(note for note in notes if note not in chosen.notes)
    site = {"name": farm.name, **areas, "energy_resource": Include("energy_resource.yaml")}
    write_yaml(path / f"site_farm{farm_idx}.yaml", site)


def _write_result(
    path: Path,
    chosen: Chosen,
    campaign: Campaign,
    result: tuple[str, Segment, int],
    crs: str | None,
) -> set[int]:
    """Write the system of one result; the turbine types that stand in it."""
    key, segment, row = result
    alone = len(chosen) == 1
    # Not by the key itself: that of a record from elsewhere may be any text.
    folder, above = (path, "") if alone else (path / task_key(*chosen.places[key]), "../")
    folder.mkdir(exist_ok=True)
    farm_idx = chosen.places[key][0]
    kinds = kinds_in(chosen, key, segment, row)
    x, y = np.asarray(segment.rows[array_field("layout")][row], np.float64).tolist()
    coordinates = {"x": x, "y": y, **({"crs": crs} if crs else {})}
    types = sorted(set(kinds))
    farm: dict[str, Any] = {"name": campaign.farms[farm_idx].name, "layouts": [{"coordinates": coordinates}]}
    if len(types) == 1:
        farm["turbines"] = Include(f"{above}turbine_t{types[0]}.yaml")
    else:
        farm["layouts"][0]["turbine_types"] = kinds
        farm["turbine_types"] = {kind: Include(f"{above}turbine_t{kind}.yaml") for kind in types}
    write_yaml(folder / "wind_farm.yaml", farm)
    system = {
        "name": f"{campaign.name}, {key}",
        "site": Include(f"{above}site_farm{farm_idx}.yaml"),
        "wind_farm": Include("wind_farm.yaml"),
        "attributes": Include(f"{above}attributes.yaml"),
    }
    write_yaml(folder / SYSTEM, system)
    return set(types)


def turbine(given: Turbine) -> dict[str, Any]:
    """A turbine type with its power in W and its thrust coefficient."""
    points = curve_points(turbine_of(given))
    speeds = points.speed.tolist()
    return {
        "name": given.name,
        "performance": {
            "rated_power": mw_to_w(given.rated_power_mw),
            "power_curve": {"power_values": points.power_w.tolist(), "power_wind_speeds": speeds},
            "Ct_curve": {"Ct_values": points.thrust.tolist(), "Ct_wind_speeds": speeds},
        },
        "hub_height": given.hub_height_m,
        "rotor_diameter": given.rotor_diameter_m,
    }
