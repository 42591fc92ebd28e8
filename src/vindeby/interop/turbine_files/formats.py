"""Which reader a turbine file has: one table, by the format's name and by how file names end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vindeby.interop.file_reading import FileContent, Options, refuse_option, refuse_unreachable
from vindeby.interop.turbine_files import floris_turbine, wtg

__all__ = ["FORMATS", "TurbineFormat", "read_turbine_file"]


@dataclass(frozen=True)
class TurbineFormat:
    """A format: how its files are named, what is said beside the path, and the reader."""

    suffixes: tuple[str, ...]
    options: frozenset[str]
    read: Callable[[Path, Options], FileContent]


FORMATS = {
    "wtg": TurbineFormat((".wtg",), frozenset({"mode", "hub_height_m"}), wtg.read),
    "floris-turbine": TurbineFormat((".yaml", ".yml"), frozenset(), floris_turbine.read),
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
        suffixes = ", ".join(suffix for one in FORMATS.values() for suffix in one.suffixes)
        refuse_option(
            "format",
            f"is not said, and the name of the file, {path.name}, does not tell it",
            f"add format: ({', '.join(FORMATS)}); the suffixes {suffixes} are known",
        )
    return fitting[0]
