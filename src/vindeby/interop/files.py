"""Sites and turbines of other tools as objects to compute with."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from vindeby import wake
from vindeby.assembly.wind import turbine_of, wind_of
from vindeby.campaign.reading.problems import explain
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.turbines import Turbine
from vindeby.errors import ArgumentError, CampaignError
from vindeby.interop.file_reading import FileContent, Options
from vindeby.interop.site_files.formats import read_site_file
from vindeby.interop.turbine_files.formats import read_turbine_file

__all__ = ["ForeignFileWarning", "read_site", "read_turbine"]

_Section = TypeVar("_Section", bound=BaseModel)


class ForeignFileWarning(UserWarning):
    """Something that a file of another tool holds was ignored, or decided in its place."""


def read_site(path: str | os.PathLike[str], **options: Any) -> wake.Site:
    """A site from a file of another tool: PyWake's XRSite, WAsP's ``.lib``, ``.tab`` and ``.wrg``, CSV of FLORIS.

    ``options`` are those that a campaign file has beside ``site: {file: ...}``, e.g. ``interpolation="linear"``,
    ``turbulence_intensity=0.06``, ``height=119.0``. What is ignored or decided is said by a ``ForeignFileWarning``.
    """
    found = _content(read_site_file, Path(path), options)
    return wind_of(_checked(Site, found.data, Path(path)))


def read_turbine(path: str | os.PathLike[str], **options: Any) -> wake.Turbine:
    """A turbine from a file of another tool: WAsP's ``.wtg``, YAML of FLORIS, windIO and IEA Task 37."""
    found = _content(read_turbine_file, Path(path), options)
    return turbine_of(_checked(Turbine, {"name": Path(path).stem, **found.data}, Path(path)))


def _content(
    reader: Callable[[Path, Options], FileContent], path: Path, options: dict[str, Any]
) -> FileContent:
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
    return found


def _checked(model: type[_Section], data: dict[str, Any], path: Path) -> _Section:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise CampaignError(explain(model, error, Document(data, {(): Origin(str(path))}))) from None
