"""Real windIO files: what is read of them, the energies that follow, and what must be refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from formats.check import Check, number, refused, same

from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.yaml_text import Document
from vindeby.campaign.sections.site import SiteSection
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.errors import CampaignError
from vindeby.interop.windio.farm import WindFarms, read_boundary, read_farms
from vindeby.interop.windio.nodes import Notes, open_root
from vindeby.interop.windio.resource import read_resource, site_section
from vindeby.interop.windio.system import read_system
from vindeby.interop.windio.turbine import read_turbine
from vindeby.wake import WindFarm

EXACT, AVERAGED = 1e-10, 1e-6
"""Models that PyWake evaluates, and those for which it interpolates the mean over a rotor in a table."""

_WAKES: dict[str, tuple[Any, float]] = {
    "NOJ k=0.05, RotorCenter, ct2a_mom1d": (
        {"jensen": {"k": 0.05, "induction": "momentum", "rotor": "centre"}},
        EXACT,
    ),
    "NOJ k=0.05, RotorCenter, ct2a_madsen": ({"jensen": {"k": 0.05, "rotor": "centre"}}, EXACT),
    "NOJ k=0.05, AreaOverlap, ct2a_madsen": ({"jensen": {"k": 0.05}}, EXACT),
    "Bastankhah_PorteAgel_2014 k=0.0324555": ("bastankhah-2014", EXACT),
    "Nygaard_2022": ({"nygaard-2022": {"a": 0.04}}, AVERAGED),
}
"""Many systems keep their parts in folders beside that of the system."""
_AREA = [[-1e6, -1e6], [1e6, -1e6], [1e6, 1e6], [-1e6, 1e6]]


def checks(folder: Path) -> Iterator[Check]:
    """Everything that ``windio/expected.json`` says, and that the other files of the folder are read."""
    home = folder / "windio"
    expected = json.loads((home / "expected.json").read_text())
    for layout in ("Regular", "Irregular"):
        yield from _rowp740(home, f"rowp740/ROWP_{layout}_System.yaml", expected)
    yield from _rowp2200(home, expected)
    yield from _hornsrev(home, folder / "formats", expected)
    yield from _iea37(home, expected)
    yield from _simple_wind_rose(home, expected)
    yield from _ard(home, expected)
    yield from _resources(home)
    yield from _turbines_and_farms(home)
    yield from _boundaries(home)


def _site(path: Path, hub_heights: Sequence[float] = (), notes: Notes | None = None) -> dict[str, Any]:
    """The wind of a file as the section of a campaign, checked like one."""
    data = site_section(read_resource(open_root(path)), hub_heights, notes or Notes())
    missing = {"turbulence_intensity": 0.1}  # which many files leave open
    whole = {name: inner if name == "local" else {**missing, **inner} for name, inner in data.items()}
    checked(SiteSection, Document(whole))
    return data


def _turbine(path: Path) -> dict[str, Any]:
    """The turbine of a file as an entry of a campaign, checked like one."""
    data = read_turbine(open_root(path), Notes())
    checked(TurbineSection, Document(data))
    return data


def _wind_farms(path: Path) -> WindFarms:
    return read_farms(open_root(path, allow_outside=True), Notes())


def _campaign(
    site: dict[str, Any], turbines: Sequence[dict[str, Any]], wake: Any, count: int = 1
) -> Campaign:
    """A campaign of parts, for its energies; its boundary does not matter."""
    return Campaign.from_data(
        {
            "name": "parts",
            "farms": [{"name": "all", "boundary": _AREA}],
            "n_turbines": count,
            "turbines": list(turbines),
            "min_spacing": "2 D",
            "site": site,
            "wake": wake,
            "method": "random-start",
            "seeds": 1,
        }
    )


def _farm(data: dict[str, Any], wake: Any) -> WindFarm:
    return wind_farm(Campaign.from_data({**data, "wake": wake}), 0)


def _refusal(read: Callable[[], object]) -> str | None:
    try:
        read()
    except CampaignError as error:
        return str(error)
    return None


def _rowp740(home: Path, file: str, expected: dict[str, Any]) -> Iterator[Check]:
    system = read_system(home / file)
    (layout,) = system.layouts
    yield same(file, "turbines in the layout", 74, len(layout.x))
    yield same(file, "rated power, MW", 10.0, system.data["turbines"][0]["table"]["rated_power_mw"])
    for name, energies in expected[file].items():
        if not isinstance(energies, dict):
            continue
        wake, tolerance = next(found for start, found in _WAKES.items() if name.startswith(start))
        farm = _farm(system.data, wake)
        yield number(file, name, energies["aep_gwh"], farm.aep(layout.x, layout.y), tolerance)
        free = farm.wake_free_aep(len(layout.x))
        yield number(file, f"{name}, no wake", energies["aep_no_wake_gwh"], free, EXACT)
    published = expected[file]["published_net_aep_gwh"]
    net = _farm(system.data, _WAKES["NOJ k=0.05, RotorCenter, ct2a_mom1d"][0]).aep(layout.x, layout.y)
    yield number(file, "published energy", published, net, 0.005 / published)
    yield same(
        file, "the bathymetry is left", True, any("athymetry" in line for line in system.notes.ignored)
    )
    yield same(
        file,
        "the schema's complaints are reported",
        True,
        any("layouts" in line for line in system.notes.schema),
    )
    yield same(
        file, "tilt is reported as ignored", True, any("tilt" in line for line in system.notes.ignored)
    )


def _rowp2200(home: Path, expected: dict[str, Any]) -> Iterator[Check]:
    file = "rowp2200/wind_energy_system.yaml"
    system = read_system(home / file)
    want = expected[file]
    yield same(file, "wake model of the words", {"nygaard-2022": {"a": 0.04}}, system.data["wake"])
    zones = system.data["farms"][0]["zones"]
    yield same(file, "turbines in the zones", [33, 33, 34], [zone["n_turbines"] for zone in zones])
    farm = wind_farm(Campaign.from_data(system.data), 0)
    x, y = (np.concatenate([getattr(one, axis) for one in system.layouts]) for axis in "xy")
    yield number(file, "energy", want["aep_gwh"], farm.aep(x, y), AVERAGED)
    loss = 1.0 - farm.aep(x, y) / farm.wake_free_aep(len(x))
    yield number(file, "wake loss", want["wake_loss"], loss, 1e-5)
    of_zone = np.split(farm.turbine_aep(x, y), np.cumsum([33, 33]))
    for name, energies, layout in zip(("north", "mid", "south"), of_zone, system.layouts, strict=True):
        among = want["of_zone_with_the_others_standing_gwh"][name]
        yield number(file, f"{name} among the others", among, float(energies.sum()), AVERAGED)
        alone = farm.aep(layout.x, layout.y)
        yield number(file, f"{name} alone", want["zone_alone_gwh"][name], alone, AVERAGED)
    yield same(
        file, "the bathymetry is left", True, any("athymetry" in line for line in system.notes.ignored)
    )
    yield from _recorder(home, expected, farm)


def _recorder(home: Path, expected: dict[str, Any], farm: WindFarm) -> Iterator[Check]:
    file = "rowp2200/recorder_layout.csv"
    with (home / file).open(newline="") as text:
        rows = list(csv.DictReader(text))
    want = expected[file]["py_wake_gwh"]
    published = expected[file]["published_in_scripts/Results/Recorder_processed.pkl_mwh"]
    energies = farm.turbine_aep([float(row["x"]) for row in rows], [float(row["y"]) for row in rows])
    for zone in ("all", "north", "mid", "south"):
        found = sum(
            energy for row, energy in zip(rows, energies, strict=True) if zone in ("all", row["zone"])
        )
        yield number(file, zone, want[zone], float(found), AVERAGED)
        yield number(file, f"{zone}, published", published[zone] / 1e3, float(found), AVERAGED)


def _hornsrev(home: Path, formats: Path, expected: dict[str, Any]) -> Iterator[Check]:
    layout = json.loads((formats / "expected.json").read_text())["layout"]
    turbine = _v80(formats / "turbine_v80.csv")
    for name in ("UniformWeibullResource.yaml", "UniformWeibullResource_nc.yaml"):
        file = f"windIO/plant_energy_resource/{name}"
        site = _site(home / file)
        want = expected[file]
        total = sum(sector["frequency"] for sector in site["weibull"]["sectors"])
        yield number(file, "sum of frequencies", want["sum_of_sector_probabilities"], total, 1e-12)
        farm = wind_farm(_campaign(site, [turbine], "bastankhah-2014"), 0)
        yield number(file, "energy", want["aep_gwh"], farm.aep(layout["x"], layout["y"]), EXACT)
        yield number(file, "energy, no wake", want["aep_no_wake_gwh"], farm.wake_free_aep(9), EXACT)


def _v80(path: Path) -> dict[str, Any]:
    with path.open(newline="") as text:
        rows = [[float(value) for value in row] for row in csv.reader(text) if _is_numbers(row)]
    speed, power, ct = (list(column) for column in zip(*rows, strict=True))
    table = {"rotor_diameter_m": 80, "hub_height_m": 70, "wind_speed": speed, "power_kw": power, "ct": ct}
    return {"name": "V80", "table": table}


def _is_numbers(row: Sequence[str]) -> bool:
    try:
        return bool([float(value) for value in row])
    except ValueError:
        return False


def _iea37(home: Path, expected: dict[str, Any]) -> Iterator[Check]:
    farms = _wind_farms(home / "windIO/plant_wind_farm/IEA37_case_study_1_2_wind_farm.yaml")
    (layout,) = farms.first_layouts()
    for name in ("UniformResource.yaml", "IEA37_case_study_1_2_energy_resource.yaml"):
        file = f"windIO/plant_energy_resource/{name}"
        want = expected[file]
        table = _site(home / file)["table"]
        yield same(file, "states", want["states"], sum(map(len, table["probability"])))
        yield same(file, "wind speed", [want["wind_speed"]], table["wind_speeds"])
        yield number(file, "sum", want["sum"], float(np.sum(table["probability"])), 1e-12)
        farm = wind_farm(_campaign({"table": table}, farms.turbines, "iea37"), 0)
        published = next(float(str(text).split()[0]) for key, text in want.items() if key.startswith("iea37"))
        yield number(file, "published energy, MWh", published, farm.aep(layout.x, layout.y) * 1e3, 1e-8)
    yield from _iea37_case_3(home, expected)


def _iea37_case_3(home: Path, expected: dict[str, Any]) -> Iterator[Check]:
    file = "windIO/plant_energy_resource/IEA37_case_study_3_energy_resource.yaml"
    want = expected[file]
    notes = Notes()
    table = _site(home / file, notes=notes)["table"]
    given = read_resource(open_root(home / file)).by_name["probability"].values
    yield number(file, "sum in the file", want["sum_of_probability_as_in_file"], float(given.sum()), 1e-12)
    joint = want["joint = probability x sector_probability, sum"]
    yield number(file, "sum of the joint", joint, float(np.sum(table["probability"])), 1e-12)
    yield number(file, "joint[0][5]", want["joint[0][5]"], table["probability"][0][5], 1e-12)
    yield same(file, "said", True, any("multiplied by sector_probability" in line for line in notes.chosen))
    turbine = _turbine(home / "windIO/plant_energy_turbine/IEA37_10MW_turbine.yaml")
    farm = wind_farm(_campaign({"table": table}, [turbine], "iea37"), 0)
    free = next(value for key, value in want.items() if key.startswith("no-wake AEP"))
    yield number(file, "energy of 25, no wake, MWh", free, farm.wake_free_aep(25) * 1e3, EXACT)


def _simple_wind_rose(home: Path, expected: dict[str, Any]) -> Iterator[Check]:
    file = "wifa/simple_wind_rose/wind_energy_system/system.yaml"
    part = home / "wifa/simple_wind_rose"
    message = next((one.message for one in read_system(home / file, allow_outside=True).notes.missing), None)
    yield refused(file, message, "x has 6 numbers and y has 4")
    notes = Notes()
    site = _site(part / "plant_energy_resource/FLOW_toy_study_energy_resource.yaml", [119.0], notes)
    yield same(file, "sectors", 12, len(site["weibull"]["sectors"]))
    said = next((line for line in notes.chosen if "0 and 360" in line), "")
    yield same(file, "sums are reported", True, "1.03597152" in said and "1.00000000" in said)
    farms = _wind_farms(part / "plant_wind_farm/FLOW_toy_study_wind_farm.yaml")
    (layout,) = farms.first_layouts()
    farm = wind_farm(_campaign(site, farms.turbines, "bastankhah-2014"), 0)
    want = next(value for value in expected[file].values() if isinstance(value, dict))
    yield number(file, "energy", want["aep_gwh"], farm.aep(layout.x, layout.y), EXACT)
    yield number(file, "energy, no wake", want["aep_no_wake_gwh"], farm.wake_free_aep(4), EXACT)


def _ard(home: Path, expected: dict[str, Any]) -> Iterator[Check]:
    file = "ard/test/ard/unit/api/inputs_onshore/windio.yaml"
    want = expected[file]
    system = read_system(home / file, allow_outside=True)
    table = system.data["site"]["table"]
    total = float(np.sum(table["probability"]))
    yield number(file, "sum", want["sum_of_probability"], total, 1e-12)
    intensity = table["turbulence_intensity"]
    yield same(
        file,
        "turbulence",
        (12, 25, {0.06}),
        (*np.shape(intensity["values"]), set(np.ravel(intensity["values"]))),
    )
    yield same(
        file, "the key turbine is reported", True, any("'turbine'" in line for line in system.notes.doubtful)
    )
    (layout,) = system.layouts
    campaign = Campaign.from_data({**system.data, "wake": "bastankhah-2014"})
    farm = wind_farm(campaign, 0)
    energies = next(value for value in want.values() if isinstance(value, dict))
    yield number(file, "energy", energies["aep_gwh"], farm.aep(layout.x, layout.y), EXACT)
    yield number(file, "energy, no wake", energies["aep_no_wake_gwh"], farm.wake_free_aep(25), EXACT)
    curve = campaign.turbines[0].table
    assert curve is not None
    yield number(file, "largest power, W", want["max power W"], max(curve.power_w), 1e-12)
    yield same(file, "rated power, MW", want["rated_power"] / 1e6, campaign.turbines[0].rated_power_mw)


def _resources(home: Path) -> Iterator[Check]:
    folder = home / "windIO/plant_energy_resource"
    file = "windIO/plant_energy_resource/GriddedResource_nc.yaml"
    found = read_resource(open_root(home / file))
    scale = found.by_name["weibull_a"]
    yield same(file, "axes", ("x", "y", "height", "wind_direction"), scale.axes)
    rounded = np.round(scale.values[0, 0], 6).tolist()
    expected = json.loads((home / "expected.json").read_text())[file]["weibull_a[0][0]"]
    yield same(file, "weibull_a[0][0]", expected, rounded)
    yield refused(
        file, _refusal(lambda: _site(home / file, [100.0])), "with 2 sectors, sector 1 must be at 180 degrees"
    )

    file = "windIO/plant_energy_resource/timeseries.yaml"
    yield from _series(home, file, steps=3, missing="is not in the file")
    file = "windIO/plant_energy_resource/timeseries_with_netcdf.yaml"
    yield from _series(home, file, steps=5, missing="from 0.583 to 3.15")
    file = "wifa/timeseries_with_operating_flag/plant_energy_resource/FLOW_toy_study_energy_resource.yaml"
    yield from _series(home, file, steps=6, missing="from 0.583 to 3.75", said="operating: 4 of 24")
    file = "ard/examples/05_onshore_batch/inputs/open-meteo-56.20N8.54E86m-short.yaml"
    yield from _series(home, file, steps=10)

    file = "windIO/plant_energy_resource/timeseries_vertical_variation.yaml"
    message = _refusal(lambda: _site(home / file, [119.0]))
    yield refused(file, message, "has no names of axes")

    by_turbine = "is given at each turbine of one layout"
    file = "windIO/plant_energy_resource/WTResource.yaml"
    yield refused(file, _refusal(lambda: _site(folder / "WTResource.yaml", [70.0])), by_turbine)
    shape = read_resource(open_root(home / file)).by_name["turbulence_intensity"]
    yield same(file, "turbulence", (("wind_turbine", 8), ("wind_direction", 2), ("wind_speed", 2)),
               tuple(zip(shape.axes, shape.values.shape, strict=True)))  # fmt: skip
    file = "wifa/turbine_specific_speeds_timeseries/plant_energy_resource/FLOW_toy_study_energy_resource.yaml"
    yield refused(file, _refusal(lambda: _site(home / file)), by_turbine)


def _series(home: Path, file: str, *, steps: int, missing: str = "", said: str = "") -> Iterator[Check]:
    notes = Notes()
    series = _site(home / file, [119.0], notes)["time_series"]
    yield same(file, "steps", steps, len(series["wind_speed"]))
    why = [one.message for one in notes.missing if one.field == "site.time_series.turbulence_intensity"]
    yield same(file, f"turbulence is asked for: {missing}", bool(missing), bool(why) and missing in why[0])
    if said:
        yield same(file, said, True, any(said in line for line in notes.ignored))


def _turbines_and_farms(home: Path) -> Iterator[Check]:
    file = "wifa/AWAKEN/plant_energy_turbine/ge1p72.yaml"
    yield refused(file, _refusal(lambda: _turbine(home / file)), "the largest power is 1720 W")
    for file, form in (
        ("windIO/plant_energy_turbine/IEA37_15MW_turbine.yaml", "table"),
        ("windIO/plant_energy_turbine/IEA37_3.35MW_turbine.yaml", "cubic"),
        ("windIO/plant_energy_turbine/IEA37_10MW_turbine.yaml", "cubic"),
    ):
        yield same(file, "form", True, form in _turbine(home / file))
    file = "wifa/windio_4turbines_multipleTurbines/plant_wind_farm/FLOW_toy_study_wind_farm_multipleTurbines.yaml"
    farms = _wind_farms(home / file)
    types = [name.split()[1] for name in farms.first_layouts()[0].types]
    yield same(file, "types", ["10MW", "15MW", "15MW", "22MW"], types)
    file = "windIO/plant_wind_farm/multiple_types.yaml"
    farms = _wind_farms(home / file)
    yield same(file, "types", 2, len(farms.turbines))
    counts = [(len(one.x), sum("15MW" in name for name in one.types)) for one in farms.first_layouts()]
    yield same(file, "turbines, and of 15 MW", [(14, 5), (11, 4)], counts)
    for name in ("IEA37_case_study_1_2", "IEA37_case_study_3"):
        file = f"windIO/wind_energy_system/{name}_wind_energy_system.yaml"
        yield same(file, "missing", [], read_system(home / file, allow_outside=True).notes.missing)
    file = "windIO/wind_energy_system/flow_example_weibull_pdf.yaml"
    yield same(file, "wind", ["weibull"], list(read_system(home / file, allow_outside=True).data["site"]))
    file = "windIO/wind_energy_system/flow_example_timeseries.yaml"
    missing = [one.field for one in read_system(home / file, allow_outside=True).notes.missing]
    yield same(file, "missing", ["site.time_series.turbulence_intensity"], missing)


def _boundaries(home: Path) -> Iterator[Check]:
    for file, areas, exclusions in (
        ("made/site_with_exclusions.yaml", 2, 1),
        ("made/site_with_exclusion_circle.yaml", 1, 1),
        ("rowp740/Site.yaml", 1, 0),
        ("rowp2200/site.yaml", 3, 0),
        ("windIO/plant_energy_site/IEA37_case_study_1_2_energy_site.yaml", 1, 0),
        ("windIO/plant_energy_site/IEA37_case_study_3_energy_site.yaml", 1, 0),
    ):
        boundary = read_boundary(open_root(home / file), Notes()) or {}
        found = (len(boundary.get("polygons", [None])), len(boundary.get("exclusions", [])))
        yield same(file, "areas and exclusions", (areas, exclusions), found)
