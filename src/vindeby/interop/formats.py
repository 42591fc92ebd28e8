"""Sites and turbines in files of other tools: which reader a file has, by its name or its content.

``read_site_file`` and ``read_turbine_file`` give the sections of a campaign, ``read_site`` and ``read_turbine`` objects
to compute with.
"""

import difflib
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from vindeby import wake
from vindeby.assembly.wind import turbine_of, wind_of
from vindeby.campaign.reading.files import suffix_of
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.readers import FileContent
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import read as read_yaml
from vindeby.campaign.sections.site import SiteSection
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.errors import ArgumentError, CampaignError
from vindeby.interop.common import ForeignFormat, Options, read_text, refuse_option, refuse_unreachable
from vindeby.interop.site_files.csv_wind import has_frequency, read_floris_rose, read_time_series
from vindeby.interop.site_files.options import STATES, TABLE, WEIBULL
from vindeby.interop.site_files.wasp import read_lib, read_tab, read_wrg
from vindeby.interop.site_files.xrsite import OPTIONS as XRSITE
from vindeby.interop.site_files.xrsite import read_xrsite
from vindeby.interop.turbine_files import read_floris_turbine, read_windio_turbine, read_wtg

__all__ = ["ForeignFileWarning", "read_site", "read_site_file", "read_turbine", "read_turbine_file"]

_YAML = (".yaml", ".yml")
_NONE: frozenset[str] = frozenset()
_Section = TypeVar("_Section", bound=BaseModel)


class ForeignFileWarning(UserWarning):
    """Something in a file of another tool was ignored, or the file left a choice open that was made for it."""


SITE_FORMATS = {
    "xrsite": ForeignFormat((".nc", ".nc4", ".netcdf", ".cdf"), XRSITE, read_xrsite),
    "lib": ForeignFormat((".lib", ".gwc"), WEIBULL | {"height", "roughness"}, read_lib),
    "tab": ForeignFormat((".tab",), TABLE, read_tab),
    "wrg": ForeignFormat((".wrg",), WEIBULL, read_wrg),
    "floris-rose": ForeignFormat((".csv",), STATES, read_floris_rose),
    "time-series": ForeignFormat((".csv",), STATES | {"gaps"}, read_time_series),
}
TURBINE_FORMATS = {
    "wtg": ForeignFormat((".wtg",), frozenset({"mode", "hub_height_m"}), read_wtg),
    "floris-turbine": ForeignFormat(_YAML, _NONE, read_floris_turbine),
    "windio-turbine": ForeignFormat(_YAML, _NONE, read_windio_turbine),
}


def read_site_file(path: Path, options: Options) -> FileContent:
    """Read a site file as the section ``site`` of a campaign; the option ``format`` names its format."""
    return _read(SITE_FORMATS, path, options)


def read_turbine_file(path: Path, options: Options) -> FileContent:
    """Read a turbine file as an entry of ``turbines`` of a campaign; the option ``format`` names its format."""
    if options.get("format") is None and suffix_of(path) == ".csv":
        refuse_option(
            "file",
            "is a table of curves, without rotor diameter and hub height",
            "write table: {file: ..., rotor_diameter_m: ..., hub_height_m: ...} instead",
        )
    return _read(TURBINE_FORMATS, path, options)


def read_site(path: str | os.PathLike[str], **options: Any) -> wake.Site:
    """Read a site from a file of another tool: PyWake's XRSite, WAsP's ``.lib``, ``.tab`` and ``.wrg``, CSV of FLORIS.

    ``options`` are those that a campaign file has beside ``site: {file: ...}``, e.g. ``interpolation="linear"``,
    ``turbulence_intensity=0.06``, ``height=119.0``. A ``ForeignFileWarning`` says what was ignored or chosen.
    """
    return wind_of(_section(SiteSection, read_site_file, Path(path), options))


def read_turbine(path: str | os.PathLike[str], **options: Any) -> wake.Turbine:
    """Read a turbine from a file of another tool: WAsP's ``.wtg``, YAML of FLORIS and windIO."""
    return turbine_of(_section(TurbineSection, read_turbine_file, Path(path), options, name=Path(path).stem))


def _read(formats: Mapping[str, ForeignFormat], path: Path, options: Options) -> FileContent:
    refuse_unreachable(path)
    name = options.get("format")
    if name is None:
        fitting = [name for name, one in formats.items() if suffix_of(path) in one.suffixes]
        if not fitting:
            suffixes = ", ".join(dict.fromkeys(suffix for one in formats.values() for suffix in one.suffixes))
            refuse_option(
                "format",
                f"is missing, and the name of the file, {path.name}, does not show it",
                f"add format: ({', '.join(formats)}); the suffixes {suffixes} are known",
            )
        name = _kind_of(path) if len(fitting) > 1 else fitting[0]
    elif not isinstance(name, str) or name not in formats:
        refuse_option("format", "is not known", f"known: {', '.join(formats)}", name)
    known = sorted(formats[name].options)
    for option in options:
        if option not in (*known, "format"):
            close = difflib.get_close_matches(option, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            remedy = f"{hint}known: {', '.join(['format', *known])}"
            refuse_option(option, f"is not an option of a {name} file", remedy)
    return formats[name].read(path, options)


def _kind_of(path: Path) -> str:
    if suffix_of(path) == ".csv":
        return "floris-rose" if has_frequency(path) else "time-series"
    keys = read_yaml(read_text(path), str(path), includes=True).data
    is_windio = isinstance(keys, dict) and "performance" in keys and "power_thrust_table" not in keys
    return "windio-turbine" if is_windio else "floris-turbine"


def _section(
    model: type[_Section],
    reader: Callable[[Path, Options], FileContent],
    path: Path,
    options: dict[str, Any],
    **usual: str,
) -> _Section:
    """Return the checked content of a file, with defaults from ``usual``; its notes become warnings."""
    try:
        found = reader(path, options)
    except CampaignError as error:
        problem = error.problems[0]
        if problem.source:
            raise
        shown = "" if problem.value is None else f" (got {problem.value})"
        raise ArgumentError(f"{path}: {problem.field} {problem.message}{shown}; {problem.remedy}") from None
    for note in found.notes:
        warnings.warn(f"{path.name}: {note}", ForeignFileWarning, stacklevel=3)
    data = {**usual, **found.data}
    return checked(model, Document(data, {(): Origin(str(path))}))
