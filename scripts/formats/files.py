"""Site and turbine files of PyWake, WAsP and FLORIS: values and energies as their own libraries have them."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from formats.check import Check, number, refused, same

from vindeby import wake
from vindeby.assembly.wind import turbine_of, wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.sections.local_wind import LocalWindSection
from vindeby.errors import VindebyError
from vindeby.interop import ForeignFileWarning, read_site, read_turbine
from vindeby.interop.formats import read_site_file

VALUES = 1e-10
SLOPES = 0.02
"""Of the largest: PyWake's autograd extends the slopes of a table beyond its ends, where its energies hold still."""
DIFFERENCES = 1e-5
TOLERANCES = {"bastankhah_2014": 1e-10, "nygaard_2022": 1e-6}
GROWTH, RATED_W = 0.0324555, 2e6
XRSITES: dict[str, dict[str, Any]] = {
    "xrsite_weibull_360.nc [nearest]": {},
    "xrsite_weibull_360.nc [linear]": {"interpolation": "linear"},
    "xrsite_weibull_ti_wd_ws.nc [nearest]": {},
    "xrsite_weibull_ti_wd_ws.nc [linear]": {"interpolation": "linear"},
    "xrsite_p_wd.nc [nearest]": {},
    "xrsite_p_wd_ws.nc [nearest, 1 degree]": {"direction_step": 1.0},
    "xrsite_p_wd_ws.nc [linear, 1 degree]": {"direction_step": 1.0, "interpolation": "linear"},
    "xrsite_p_wd_ws.nc [nearest, its own 5 degrees]": {},
    "xrsite_gridded_weibull.nc [nearest]": {},
    "xrsite_gridded_weibull.nc [linear]": {"interpolation": "linear"},
    "xrsite_speedup_turning.nc [linear]": {"interpolation": "linear"},
    "xrsite_speedup_turning.nc [linear, StraightDistance WD_i]": {
        "interpolation": "linear",
        "turned_wakes": True,
    },
}


def checks(folder: Path) -> Iterator[Check]:
    """Every site and turbine file of the folder ``formats``."""
    here = folder / "formats"
    expected: dict[str, Any] = json.loads((here / "expected.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForeignFileWarning)
        for part in (
            _xrsites,
            _gradient,
            _series,
            _wasp_turbine,
            _floris_turbines,
            _floris_roses,
            _wrg,
            _tab,
            _lib,
        ):
            yield from part(here, expected)


def _v80(here: Path) -> wake.Turbine:
    """The turbine of the layout, by the reader of tables that campaigns have."""
    return turbine_of(_campaign(here, f"time_series: {{file: '{here}/time_series.csv'}}").turbines[0])


def _campaign(here: Path, site: str) -> Campaign:
    text = f"""
name: formats
farms: [{{name: square, boundary: [[0, 0], [2000, 0], [2000, 2000], [0, 2000]]}}]
turbines: [{{name: V80, table: {{file: '{here}/turbine_v80.csv', rotor_diameter_m: 80, hub_height_m: 70}}}}]
n_turbines: 9
min_spacing: 2 D
site: {{{site}}}
wake: {{bastankhah-2014: {{k: {GROWTH}}}}}
method: [random-start]
seeds: 1
"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "campaign.yaml"
        file.write_text(text)
        return Campaign.load(file)


def _farms(site: wake.Site, turbine: wake.Turbine) -> dict[str, wake.WindFarm]:
    return {
        "bastankhah_2014": wake.WindFarm(site, turbine, wake.models.bastankhah_2014(k=GROWTH)),
        "nygaard_2022": wake.WindFarm(site, turbine, "nygaard-2022"),
    }


def _energies(
    name: str, wanted: dict[str, Any], farms: dict[str, wake.WindFarm], x: Any, y: Any
) -> Iterator[Check]:
    """Yearly energies by wake model, and those of each turbine."""
    gaussian = farms["bastankhah_2014"]
    yield number(name, "aep_no_wake_gwh", wanted["aep_no_wake_gwh"], gaussian.free_aep_at(x, y), VALUES)
    for model, farm in farms.items():
        key = f"aep_{model}_gwh"
        if key in wanted:
            yield number(name, key, wanted[key], farm.aep(x, y), TOLERANCES[model])
    if "aep_bastankhah_2014_by_turbine_gwh" in wanted:
        pairs = zip(wanted["aep_bastankhah_2014_by_turbine_gwh"], gaussian.turbine_aep(x, y), strict=True)
        for index, (energy, found) in enumerate(pairs):
            yield number(name, f"energy of turbine {index}", energy, found, VALUES)


def _xrsites(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    turbine = _v80(here)
    for name, options in XRSITES.items():
        wanted = expected[name]
        farms = _farms(read_site(here / name.partition(" ")[0], **options), turbine)
        x, y = (wanted.get(axis, expected["layout"][axis]) for axis in ("x", "y"))
        yield from _states(name, wanted, farms["nygaard_2022"], x, y)
        yield from _energies(name, wanted, farms, x, y)
    plain = "file: '{}/xrsite_weibull_360.nc', interpolation: linear"
    campaign = _campaign(here, plain.format(here))
    found = wind_farm(campaign, 0).aep(expected["layout"]["x"], expected["layout"]["y"])
    wanted_gwh = expected["xrsite_weibull_360.nc [linear]"]["aep_bastankhah_2014_gwh"]
    yield number("xrsite_weibull_360.nc [linear]", "energy in a campaign", wanted_gwh, found, VALUES)


def _states(name: str, wanted: dict[str, Any], farm: wake.WindFarm, x: Any, y: Any) -> Iterator[Check]:
    """Directions, speeds, probabilities, and the wind at the turbines in some states."""
    if "directions" not in wanted:
        return
    states = farm.states
    speeds = states.speed[: states.shape[1]]
    span = [states.direction[0], states.direction[-1], len(states.direction)]
    yield same(name, "directions", wanted["directions"], span)
    yield same(name, "speeds", wanted["speeds"], speeds.tolist())
    free = farm.free_wind(x, y)
    sums = free.probability.sum(axis=(1, 2))
    for total, found in zip(np.broadcast_to(wanted["sum_of_probabilities"], len(sums)), sums, strict=True):
        yield number(name, "sum of probabilities", float(total), float(found), VALUES)
    for probe in wanted["probe"]:
        place = (int(np.argmin(np.abs(states.direction - probe["wd"]))), speeds.tolist().index(probe["ws"]))
        what = f"at {probe['wd']} degrees, {probe['ws']} m/s"
        for key, array in (
            ("probability", free.probability),
            ("ti", free.turbulence),
            ("local_WS", free.speed),
            ("local_WD", free.direction),
        ):
            values = np.broadcast_to(probe.get(key, array[:, *place]), len(array))
            for index, value in enumerate(values):
                yield number(name, f"{key} {what}", float(value), float(array[index, *place]), VALUES)


def _gradient(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name = "xrsite_speedup_turning.nc [linear, gradient]"
    wanted, layout = expected[name], expected["xrsite_speedup_turning.nc [linear]"]
    site = read_site(here / "xrsite_speedup_turning.nc", interpolation="linear", direction_step=10.0)
    farm = _farms(site, _v80(here))["bastankhah_2014"]
    energy, slope_x, slope_y = farm.aep_and_gradient(layout["x"], layout["y"])
    yield number(name, "aep_gwh", wanted["aep_gwh"], energy, VALUES)
    for key, slope in (("d_aep_dx_gwh_per_m", slope_x), ("d_aep_dy_gwh_per_m", slope_y)):
        largest = max(map(abs, wanted[key]))
        for index, (value, found) in enumerate(zip(wanted[key], slope, strict=True)):
            yield Check(name, f"{key} {index}", value, found, abs(found - value) / largest, SLOPES)
    for key, slope, right, up in (("x", slope_x, 1e-3, 0.0), ("y", slope_y, 0.0, 1e-3)):
        for index, found in enumerate(slope):
            at = np.eye(len(slope))[index]
            x, y = np.array(layout["x"]), np.array(layout["y"])
            there, back = (farm.aep(x + sign * right * at, y + sign * up * at) for sign in (1.0, -1.0))
            by_energies = (there - back) / 2e-3
            error = abs(found - by_energies) / max(map(abs, slope))
            yield Check(
                name, f"slope of the energy with {key} {index}", by_energies, found, error, DIFFERENCES
            )


def _series(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name, layout = "time_series.csv", expected["layout"]
    wanted = expected[name]
    site = read_site(here / name)
    farms = _farms(site, _v80(here))
    yield from _energies(name, wanted, farms, layout["x"], layout["y"])
    for model, farm in farms.items():
        power = farm.power(layout["x"], layout["y"])
        for step, row in zip((0, 400), wanted[f"power_w_steps_0_400_{model}"], strict=True):
            for index, value in enumerate(row):
                error = abs(power[index, step] - value) / RATED_W
                yield Check(name, f"{model} step {step}", value, power[index, step], error, TOLERANCES[model])
    key = "floris TimeSeries, floris_turbine_iea_10MW.yaml"
    yield from _floris_energy(here, expected, name, site, wanted[key], "floris_turbine_iea_10MW.yaml")


def _floris_energy(
    here: Path, expected: dict[str, Any], name: str, site: wake.Site, wanted: dict[str, Any], file: str
) -> Iterator[Check]:
    layout = expected["floris_layout"]
    farm = wake.WindFarm(site, read_turbine(here / file), "nygaard-2022")
    found = farm.free_aep_at(layout["x"], layout["y"])
    yield number(name, f"energy without wakes, {file}", wanted["aep_no_wake_gwh"], found, VALUES)


def _turbine(here: Path, name: str, wanted: dict[str, Any], power_w: list[float]) -> Iterator[Check]:
    turbine = read_turbine(here / name)
    yield same(name, "rotor diameter", wanted["rotor_diameter"], turbine.rotor_diameter_m)
    yield same(name, "hub height", wanted["hub_height"], turbine.hub_height_m)
    speeds = wanted["wind_speed"]
    for speed, power, ct in zip(speeds, power_w, wanted["ct"], strict=True):
        yield number(name, f"power at {speed} m/s", power, float(turbine.power_at(speed)), VALUES)
        yield number(name, f"ct at {speed} m/s", ct, float(turbine.thrust_coefficient_at(speed)), VALUES)


def _wasp_turbine(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name = "wasp_NEG-Micon-2750.wtg"
    yield from _turbine(here, name, expected[name], expected[name]["power_w"])


def _floris_turbines(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    for name in ("floris_turbine_iea_10MW.yaml", "floris_turbine_nrel_5MW.yaml"):
        power_w = [1000.0 * power for power in expected[name]["power_kw"]]
        yield from _turbine(here, name, expected[name], power_w)


def _floris_roses(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name = "floris_wind_rose.csv"
    wanted = expected[name]
    site = read_site(here / name, turbulence_intensity=0.06)
    states = site.states()
    table = states.probability.reshape(states.shape)
    speeds = states.speed[: states.shape[1]]
    yield same(
        name, "directions", wanted["directions"], [states.direction[0], states.direction[-1], len(table)]
    )
    yield same(name, "speeds", wanted["speeds"], [speeds[0], speeds[-1], len(speeds)])
    yield same(name, "states of frequency 0", wanted["states_with_zero_frequency"], int((table == 0.0).sum()))
    yield number(name, "sum of frequencies", wanted["sum_of_frequencies"], float(table.sum()), VALUES)
    said = read_site_file(here / name, {"turbulence_intensity": 0.06}).notes[0]
    yield same(name, "sum in the file is said", True, f"{wanted['sum_in_file']:.10g}" in said)
    for probe in wanted["probe"]:
        found = table[states.direction.tolist().index(probe["wd"]), speeds.tolist().index(probe["ws"])]
        yield number(
            name, f"probability at {probe['wd']}, {probe['ws']}", probe["probability"], found, VALUES
        )
    for key in ("floris_turbine_iea_10MW.yaml", "floris_turbine_nrel_5MW.yaml"):
        yield from _floris_energy(here, expected, name, site, wanted[key], key)
    yield from _rose_of_states(here, expected, "floris_wind_rose_small.csv", {"turbulence_intensity": 0.06})
    yield from _rose_of_states(here, expected, "floris_wind_ti_rose.csv", {})


def _rose_of_states(
    here: Path, expected: dict[str, Any], name: str, options: dict[str, Any]
) -> Iterator[Check]:
    """A rose whose directions do not go round: every bin of FLORIS' table, 0 where the file has no row."""
    wanted, site = expected[name], read_site(here / name, **options)
    states = read_site_file(here / name, options).data["states"]
    for i, direction in enumerate(wanted["directions"]):
        for j, speed in enumerate(wanted["speeds"]):
            for k, bin_ in enumerate(np.atleast_1d(wanted["frequency"][i][j])):
                ti = wanted.get("turbulence_intensities", [0.06])[k]
                rows = zip(
                    states["wind_direction"],
                    states["wind_speed"],
                    np.broadcast_to(states["turbulence_intensity"], len(states["probability"])),
                    states["probability"],
                    strict=True,
                )
                found = sum(p for d, s, t, p in rows if (d, s) == (direction, speed) and abs(t - ti) < 1e-9)
                yield Check(name, f"{direction}, {speed}, {ti:g}", bin_, found, abs(found - bin_), VALUES)
    key = "floris_turbine_iea_10MW.yaml"
    yield from _floris_energy(here, expected, name, site, wanted[key], key)


def _wrg(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name = "wind_resource_grid.wrg"
    wanted = expected[name]
    content = read_site_file(here / name, {"turbulence_intensity": 0.1})
    local = LocalWindSection.model_validate(content.data["local"])
    yield same(name, "x", wanted["grid"]["x"], list(local.x))
    yield same(name, "y", wanted["grid"]["y"], list(local.y))
    yield same(name, "height is said", True, f"height of {wanted['grid']['height']:g} m" in content.notes[0])
    for point in wanted["points"]:
        shares = [_weights(local.x, point["x"]), _weights(local.y, point["y"])]
        frequency, a, k = (
            np.einsum("x,y,xys->s", *shares, local.array(one)[:, :, 0, :])
            for one in ("sector_frequency", "weibull_a", "weibull_k")
        )
        for key, found in (("sector_frequency_as_in_file", frequency), ("weibull_a", a), ("weibull_k", k)):
            for sector, value in enumerate(point[key]):
                what = f"{key} {sector} at {point['x']:g}, {point['y']:g}"
                yield number(name, what, value, float(found[sector]), VALUES)
        for index, value in enumerate(point["floris_frequency_sector_0_speeds_8_9"]):
            found_share = _floris_table(frequency, a, k)[0, 8 + index]
            yield number(name, f"FLORIS table at {8 + index} m/s", value, float(found_share), VALUES)
    sums = local.array("sector_frequency").sum(axis=-1)
    yield number(name, "sum", wanted["sum_of_sector_frequencies_as_in_file"], float(sums[0, 0, 0]), VALUES)
    linear = wanted["pywake_linear_turbine_v80"]
    farm = _farms(read_site(here / name, turbulence_intensity=0.1), _v80(here))["bastankhah_2014"]
    yield from _energies(name, linear, {"bastankhah_2014": farm}, linear["x"], linear["y"])
    for index, energy in enumerate(linear["aep_no_wake_by_turbine_gwh"]):
        found_gwh = farm.free_aep_at(linear["x"][index : index + 1], linear["y"][index : index + 1])
        yield number(name, f"energy of turbine {index} without wakes", energy, found_gwh, VALUES)


def _weights(axis: tuple[float, ...], at: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.interp(at, axis, row) for row in np.eye(len(axis))])


def _floris_table(frequency: Any, a: Any, k: Any) -> Any:
    """The table that FLORIS makes of a point: every sector, then the whole, is made to sum to 1."""
    edges = np.maximum(np.arange(-0.5, 26.0), 0.0)
    shares = np.diff(1.0 - np.exp(-((edges[None, :] / a[:, None]) ** k[:, None])), axis=1)
    table = frequency[:, None] * shares / shares.sum(axis=1)[:, None]
    return table / table.sum()


def _tab(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name = "wasp_winds100.tab"
    wanted = expected[name]
    content = read_site_file(here / name, {"turbulence_intensity": 0.1})
    table = np.array(content.data["table"]["probability"])
    speeds = content.data["table"]["wind_speeds"]
    yield same(name, "bin centres", wanted["bin_centres"], [speeds[0], speeds[-1], len(speeds)])
    yield same(name, "height is said", True, f"at {wanted['height']:g} m" in content.notes[0])
    sectors = table.sum(axis=1)
    for index, value in enumerate(wanted["wdfreq"]):
        yield number(name, f"frequency of sector {index}", value, float(sectors[index]), VALUES)
    for index, value in enumerate(wanted["wsfreq_sector_0_first_5"]):
        found = float(table[0, index] / sectors[0])
        yield number(name, f"share of bin {index} of sector 0", value, found, VALUES)
    states = read_site(here / name, turbulence_intensity=0.1).states()
    yield number(name, "sum", wanted["wdfreq_sum"], float(states.probability.sum()), VALUES)


def _lib(here: Path, expected: dict[str, Any]) -> Iterator[Check]:
    name = "gwa_shaped.lib"
    wanted = expected[name]["pywake (GlobalWindAtlasSite: linear in roughness, then in height)"]
    at = {"roughness": wanted["roughness"], "height": wanted["height"]}
    sectors = _sectors(here / name, at)
    for key, own in (("sector_frequency", "frequency"), ("weibull_a", "a"), ("weibull_k", "k")):
        for index, value in enumerate(wanted[key]):
            yield number(name, f"{key} of sector {index}", value, sectors[index][own], VALUES)
    in_file = expected[name]["windkit_A_roughness_0_height_2"]
    for index, value in enumerate(in_file):
        found = _sectors(here / name, {"roughness": 0.0, "height": 100.0})[index]["a"]
        yield number(name, f"A of sector {index} as in the file", value, found, VALUES)
    yield same(name, "sectors", expected[name]["windkit dims"]["sector"], len(sectors))
    total = sum(sector["frequency"] for sector in sectors)
    yield number(name, "sum", expected[name]["windkit_wdfreq_sum"], total, VALUES)
    broken = here / "broken_hornsrev2.lib"
    yield refused(broken.name, _message(broken), "is blank where the counts")


def _sectors(path: Path, at: dict[str, float]) -> list[dict[str, float]]:
    data = read_site_file(path, {**at, "turbulence_intensity": 0.1}).data
    sectors: list[dict[str, float]] = data["weibull"]["sectors"]
    return sectors


def _message(path: Path) -> str | None:
    try:
        read_site(path, turbulence_intensity=0.1, height=70.0, roughness=0.0)
    except VindebyError as error:
        return str(error)
    return None
