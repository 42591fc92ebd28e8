"""Which reader a turbine file has: one table, by the format's name and by how file names end."""

from __future__ import annotations

from pathlib import Path

from vindeby.campaign.reading.yaml_text import not_used
from vindeby.campaign.reading.yaml_text import read as read_yaml
from vindeby.interop import iea37
from vindeby.interop.file_reading import (
    FileContent,
    FileFormat,
    Options,
    read_text,
    refuse_option,
    refuse_unreachable,
)
from vindeby.interop.turbine_files import floris_turbine, wtg
from vindeby.interop.windio.nodes import ignored_keys, open_root
from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.turbine import read_turbine

__all__ = ["FORMATS", "read_turbine_file"]

_YAML = (".yaml", ".yml")


def _read_windio(path: Path, _: Options) -> FileContent:
    node, notes = open_root(path), Notes()
    data = read_turbine(node, notes)
    keys = [key.removeprefix(f"{path.name}: ") for key in ignored_keys(node.files)]
    return FileContent(data, "windio-turbine", (*notes.chosen, *notes.doubtful, *not_used(keys)))


FORMATS = {
    "wtg": FileFormat((".wtg",), frozenset({"mode", "hub_height_m"}), wtg.read),
    "floris-turbine": FileFormat(_YAML, frozenset(), floris_turbine.read),
    "windio-turbine": FileFormat(_YAML, frozenset(), _read_windio),
    "iea37-turbine": FileFormat(_YAML, frozenset(), iea37.read_turbine),
}


def read_turbine_file(path: Path, options: Options) -> FileContent:
    """A turbine file as an entry of ``turbines`` of a campaign; ``format`` among the options says what it is."""
    refuse_unreachable(path)
    name = _format_of(path, options)
    known = sorted({"format"} | FORMATS[name].options)
    for option in options:
        if option not in known:
            refuse_option(option, f"is no option of a {name} file", f"known: {', '.join(known)}")
    return FORMATS[name].read(path, options)


def _format_of(path: Path, options: Options) -> str:
    told = options.get("format")
    if told is not None:
        if not isinstance(told, str) or told not in FORMATS:
            refuse_option("format", "is not known", f"known: {', '.join(FORMATS)}", told)
        return told
    if path.suffix.lower() == ".csv":
        refuse_option(
            "file",
            "is a table of curves, which holds no rotor diameter and hub height",
            "write table: {file: ..., rotor_diameter_m: ..., hub_height_m: ...} instead",
        )
    fitting = [name for name, one in FORMATS.items() if path.suffix.lower() in one.suffixes]
    if not fitting:
        suffixes = ", ".join(dict.fromkeys(suffix for one in FORMATS.values() for suffix in one.suffixes))
        refuse_option(
            "format",
            f"is not said, and the name of the file, {path.name}, does not tell it",
            f"add format: ({', '.join(FORMATS)}); the suffixes {suffixes} are known",
        )
    return _kind_of_yaml(path) if len(fitting) > 1 else fitting[0]


def _kind_of_yaml(path: Path) -> str:
    """Whose turbine a YAML file holds, by its keys; one that has none of them is taken for a turbine of FLORIS."""
    keys = read_yaml(read_text(path), str(path), includes=True).data
    if not isinstance(keys, dict) or "power_thrust_table" in keys:
        return "floris-turbine"
    kinds = {"performance": "windio-turbine", "definitions": "iea37-turbine"}
    return next((kind for key, kind in kinds.items() if key in keys), "floris-turbine")
