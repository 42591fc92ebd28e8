"""Includes of windIO files: they stay in the system's folder, and what they hold is never shown in an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import vindeby
from tests.interop.exports import campaign, database
from tests.interop.test_every_key_is_accounted_for import mappings
from tests.interop.windio_examples import ROSE, SERIES, SYSTEM, TURBINE, WEIBULL, changed, read, write
from vindeby.errors import CampaignError
from vindeby.interop.export.exporting import export
from vindeby.interop.formats import read_turbine_file
from vindeby.interop.windio.farm import read_farms
from vindeby.interop.windio.nodes import Notes, open_root
from vindeby.interop.windio.system import read_system
from vindeby.interop.windio.turbine import read_turbine
from vindeby.results.result_set import ResultSet

SECRET = "hunter2"
FARM = changed(SYSTEM, "wind_farm.turbines", "!include three.yaml")["wind_farm"]


def system_with(folder: Path, include: str) -> Path:
    return write(folder / "system.yaml", changed(SYSTEM, "wind_farm.turbines", f"!include {include}"))


@pytest.mark.parametrize("include", ["../three.yaml", "link.yaml", "elsewhere/three.yaml"])
def test_an_include_that_leaves_the_folder_is_refused_unless_that_is_allowed(
    include: str, tmp_path: Path
) -> None:
    outside = write(tmp_path / "outside/three.yaml", TURBINE)
    folder = tmp_path / "outside/system"
    path = system_with(folder, include)
    (folder / "link.yaml").symlink_to(outside)
    (folder / "elsewhere").symlink_to(outside.parent)
    done = vindeby(tmp_path, "init", "--from", str(path), "c.yaml")
    assert done.returncode == 2
    assert (
        f"wind_farm.turbines: is outside the folder of the system, itself or by a link (got '{include}')"
        in (done.stderr)
    )
    assert "--allow-outside" in done.stderr
    done = vindeby(tmp_path, "init", "--from", str(path), "c.yaml", "--allow-outside")
    assert done.returncode == 0, done.stderr
    with pytest.raises(CampaignError, match="outside the folder"):
        read_system(path)
    found = read_system(path, check_schema=False, allow_outside=True)
    assert found.data["turbines"][0]["name"] == TURBINE["name"]


def test_a_part_from_python_keeps_its_includes_in_its_folder_unless_that_is_allowed(tmp_path: Path) -> None:
    write(tmp_path / "three.yaml", TURBINE)
    path = write(tmp_path / "farm/farm.yaml", changed(FARM, "turbines", "!include ../three.yaml"))
    with pytest.raises(CampaignError, match="outside the folder"):
        read_farms(open_root(path), Notes())
    farms = read_farms(open_root(path, allow_outside=True), Notes())
    assert farms.turbines[0]["name"] == TURBINE["name"]


def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    write(tmp_path / "real/parts/three.yaml", TURBINE)
    (tmp_path / "real/link.yaml").symlink_to("parts/three.yaml")
    system_with(tmp_path / "real", "link.yaml")
    (tmp_path / "folder").symlink_to("real")
    assert read_system(tmp_path / "folder/system.yaml", check_schema=False).data["turbines"]


def test_the_systems_of_an_export_share_the_parts_above_them(tmp_path: Path) -> None:
    results = ResultSet(database(tmp_path / "layouts.h5", campaign(wake="bastankhah-2014")))
    path = export(results, "windio", tmp_path / "out").path
    assert read(path / "farm0_t0_s0/wind_energy_system.yaml").farms[0].n_turbines
    write(tmp_path / "three.yaml", TURBINE)
    with pytest.raises(CampaignError, match="outside the folder"):
        read(system_with(path / "farm0_t0_s0", "../../three.yaml"))


def parts_with_the_secret() -> Iterator[dict[str, Any]]:
    """The parts of a system, by file, in one of which the secret stands in place of one value."""
    winds = {"weibull": WEIBULL, "rose": ROSE, "series": SERIES}
    for wind in winds.values():
        parts: dict[str, Any] = {
            "site.yaml": changed(SYSTEM["site"], "energy_resource.wind_resource", "!include wind.yaml"),
            "wind.yaml": wind,
            "farm.yaml": FARM,
            "three.yaml": TURBINE,
            "analysis.yaml": {
                "wind_deficit_model": {
                    "name": "Bastankhah2014",
                    "wake_expansion_coefficient": {"k_a": 0.38, "k_b": 0.004},
                },
                "superposition_model": {"ws_superposition": "Linear"},
            },
        }
        for name, data in parts.items():
            if name != "wind.yaml" and wind is not WEIBULL:
                continue
            for path in mappings(data):
                holder = data
                for step in path:
                    holder = holder[step]
                for key, value in holder.items():
                    dotted = ".".join(map(str, (*path, key)))
                    yield {**parts, name: changed(data, dotted, SECRET)}
                    if isinstance(value, list) and value:
                        yield {**parts, name: changed(data, f"{dotted}.0", SECRET)}
                        yield {**parts, name: changed(data, dotted, [SECRET] * len(value))}
        yield {**parts, "three.yaml": SECRET}
        yield {
            **parts,
            "site.yaml": changed(SYSTEM["site"], "boundaries.polygons.0.crs", f"EPSG:4326 {SECRET}"),
        }


def test_what_an_included_file_holds_is_never_shown_in_an_error(tmp_path: Path) -> None:
    system = {
        "name": "parts",
        "site": "!include site.yaml",
        "wind_farm": "!include farm.yaml",
        "attributes": {"analysis": "!include analysis.yaml"},
    }
    path, refused = write(tmp_path / "system.yaml", system), 0
    for number, parts in enumerate(parts_with_the_secret()):
        for name, data in parts.items():
            (tmp_path / name).unlink(missing_ok=True)
            if isinstance(data, str):
                (tmp_path / name).write_text(data)
            else:
                write(tmp_path / name, data)
        message = refusal(path)
        refused += bool(message)
        assert SECRET not in message, (number, message)
    assert refused > 40


def refusal(path: Path) -> str:
    try:
        read(path)
    except CampaignError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "text",
    [
        f"{SECRET}: [",
        f"{SECRET}: 1\n{SECRET}: 2",
        f"{SECRET}: {{a: *{SECRET}}}",
        f"a: !!{SECRET} x",
        f"a: !{SECRET}!x y",
        f"-----BEGIN KEY-----\n{SECRET}\n",
        f"<<: {SECRET}",
        f"a: 1\n--- {SECRET}",
        f"% {SECRET}",
    ],
)
def test_an_included_file_that_is_not_windio_is_not_quoted(text: str, tmp_path: Path) -> None:
    (tmp_path / "private.yaml").write_text(text)
    path = system_with(tmp_path, "private.yaml")
    with pytest.raises(CampaignError) as raised:
        read_system(path)
    assert str(raised.value).startswith(f"{tmp_path / 'private.yaml'}:")
    assert SECRET not in str(raised.value)


def test_a_file_that_the_user_names_is_quoted_and_one_that_a_campaign_names_is_not(tmp_path: Path) -> None:
    path = write(tmp_path / "three.yaml", changed(TURBINE, "hub_height", SECRET))
    with pytest.raises(CampaignError, match=SECRET):
        read_turbine(open_root(path), Notes())
    with pytest.raises(CampaignError) as raised:
        read_turbine_file(path, {"format": "windio-turbine"})
    assert SECRET not in str(raised.value)
