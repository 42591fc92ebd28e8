"""Engines: wake models that PyWake or FLORIS computes, by name or by configuration. Neither is imported here."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, Strict, model_validator

from vindeby.campaign.reading.code_files import own_code, search_path
from vindeby.campaign.reading.yaml_text import unused
from vindeby.campaign.sections.imported_names import ImportedName, Parameters
from vindeby.campaign.sections.values import Section, refusal
from vindeby.errors import InputError

ENGINES = ("pywake", "floris", "python")
_LOCAL_WIND = "heterogeneous_inflow_config"
REPLACED = {
    "": ("name", "description", "logging", "farm"),
    "flow_field": ("wind_directions", "wind_speeds", "turbulence_intensities", _LOCAL_WIND),
}
"""What of a FLORIS configuration the campaign replaces, or has no influence on results."""
_NEEDED = ("flow_field", "solver", "wake")


class NamedCode(Section):
    """A wake model by the name of Python code, and the keyword ``options`` that this is called with."""

    key: ClassVar[str]
    model: ImportedName
    """A class or function as package.module:name."""
    options: Parameters = Field(default_factory=dict)
    """Keyword arguments for it."""
    code: Annotated[str, Strict()] | None = None
    """A digest of the code where it is your own; put in when the file is read, so that an edit makes results stale."""

    @property
    def title(self) -> str:
        """For tables and messages."""
        return f"{self.key} {self.model}"

    @property
    def module(self) -> str:
        """The module that holds the model."""
        return self.model.partition(":")[0]

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """The model alone."""
        return {"type": "string"}

    def with_code(self) -> Self:
        """This model with a digest of the user's own code, as it is now, unless it has one."""
        return self if self.code else self.model_copy(update={"code": own_code(self.module, search_path())})

    def refuse_other_code(self) -> None:
        """InputError where the code that is found is not that of the campaign."""
        now = own_code(self.module, search_path())
        if self.code and now and now != self.code:
            raise InputError(
                f"wake.{self.key}: {self.model}: its code is not that of the campaign ({now} instead of {self.code}): "
                "it was edited since the campaign was read; restore it, or run the campaign file with --replace-stale"
            )

    @model_validator(mode="before")
    @classmethod
    def _bare_model(cls, data: Any) -> Any:
        return {"model": data} if isinstance(data, str) else data


class PyWakeEngine(NamedCode):
    """A PyWake wind-farm model: a class or function that takes (site, wind_turbines) and keyword ``options``."""

    key = "pywake"


class PythonModel(NamedCode):
    """A wake model of the user's own, a ``vindeby.WakeModel`` or a function of the ``options`` that returns one."""

    key = "python"


class FlorisEngine(Section):
    """A FLORIS 4 configuration: solver, flow field and wake models. Layout, turbines and wind are the campaign's."""

    configuration: Parameters
    """The content of the file that FlorisModel reads."""

    @property
    def title(self) -> str:
        """For tables and messages."""
        wake = self.configuration.get("wake")
        names = wake.get("model_strings") if isinstance(wake, dict) else None
        model = names.get("velocity_model") if isinstance(names, dict) else None
        return f"floris {model}" if model else "floris"

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """The name of a file."""
        return {"type": "string"}

    @model_validator(mode="before")
    @classmethod
    def _resolved(cls, data: Any) -> Any:
        if isinstance(data, str):
            raise refusal(
                "names a file, and here files are not read",
                remedy="load the campaign from a file, or give the content under configuration",
                value=data,
            )
        if isinstance(data, dict) and isinstance(data.get("configuration"), dict):
            data = dict(data)
            configuration = merged(data["configuration"], data.pop("options", None) or {})
            _refuse_local_wind(configuration.get("flow_field"))
            data["configuration"] = deciding_part(configuration)
        return data

    @model_validator(mode="after")
    def _complete(self) -> FlorisEngine:
        for key in _NEEDED:
            if not isinstance(self.configuration.get(key), dict):
                raise refusal(
                    f"{key} is missing: this is no FLORIS 4 configuration",
                    remedy="give the file that FlorisModel reads",
                    at=("configuration",),
                )
        version = self.configuration.get("floris_version", "v4")
        # The label says what the file was begun with; FLORIS goes by the content, too.
        if not is_labelled_4(version) and _has_content_of_3(self.configuration):
            raise refusal(
                "is not version 4 of FLORIS' configuration",
                remedy="convert it with FLORIS' own script (floris.convert_floris_input_v3_to_v4)",
                at=("configuration", "floris_version"),
                value=version,
            )
        return self


def is_labelled_4(version: object) -> bool:
    """Whether a configuration says that it is of FLORIS 4."""
    return str(version).lstrip("v").split(".")[0] == "4"


def _has_content_of_3(configuration: Parameters) -> bool:
    """Whether it holds what FLORIS' own script changes for version 4."""
    flow: Any = configuration["flow_field"]
    wake: Any = configuration["wake"]
    return "turbulence_intensity" in flow or "enable_active_wake_mixing" not in wake


def with_options(data: Any) -> Any:
    """``{pywake: NAME, options: {...}}`` with the options where they belong."""
    if not isinstance(data, dict) or "options" not in data:
        return data
    engine = next((name for name in ENGINES if name in data), None)
    options, given = data["options"], {key: value for key, value in data.items() if key != "options"}
    if engine is None:
        raise refusal("goes with pywake, floris or python only", remedy="leave it out", at=("options",))
    if not isinstance(options, dict):
        raise refusal("must be a mapping", remedy="write it like {k: 0.04}", at=("options",), value=options)
    inner = given[engine]
    if engine != "floris" and isinstance(inner, str):
        inner = {"model": inner}
    if not isinstance(inner, dict):
        return given
    if inner.get("options"):
        raise refusal("is given twice", remedy=f"give it once, beside {engine}", at=("options",))
    return {**given, engine: {**inner, "options": options}}


def merged(configuration: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """A configuration with single values replaced, at any depth."""
    result = dict(configuration)
    for key, value in options.items():
        inner = result.get(key)
        both = isinstance(inner, dict) and isinstance(value, dict)
        result[key] = merged(inner, value) if both else value  # type: ignore[arg-type]  # both are mappings
    return result


def _refuse_local_wind(flow: Any) -> None:
    if isinstance(flow, dict) and flow.get(_LOCAL_WIND) is not None:
        raise refusal(
            "is wind that differs from place to place, which a campaign with FLORIS does not have",
            remedy=f"compute without it: options: {{flow_field: {{{_LOCAL_WIND}: null}}}}",
            at=("configuration", "flow_field", _LOCAL_WIND),
        )


def replaced_part(configuration: dict[str, Any]) -> list[str]:
    """What of a FLORIS configuration is not used, because the campaign has its own, by name."""
    left = deciding_part(configuration)
    flow = left.pop("flow_field", None)
    inside = {("flow_field", key) for key in flow} if isinstance(flow, dict) else {("flow_field",)}
    return unused(configuration, {(key,) for key in left} | inside)


def deciding_part(configuration: dict[str, Any]) -> dict[str, Any]:
    """What of a FLORIS configuration decides results of a campaign."""
    left = {key: value for key, value in configuration.items() if key not in REPLACED[""]}
    flow = left.get("flow_field")
    if isinstance(flow, dict):
        left["flow_field"] = {key: value for key, value in flow.items() if key not in REPLACED["flow_field"]}
    return left
