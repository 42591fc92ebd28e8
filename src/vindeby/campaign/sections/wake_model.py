"""The wake model of a campaign by name, with its parameters; the equations are in ``wake``.

Or an engine: a model that PyWake or FLORIS computes, by name or by configuration. Neither is imported here.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, Strict, model_validator

from vindeby import parameters
from vindeby.campaign.reading.code_files import digest_of_files, own_code, search_path
from vindeby.campaign.reading.yaml_text import unused
from vindeby.campaign.sections.values import ImportedName, NamedOneOf, Parameters, Section, require
from vindeby.errors import InputError

ENGINES = ("pywake", "floris", "python")
_LOCAL_WIND = "heterogeneous_inflow_config"
REPLACED = {
    "": ("name", "description", "logging", "farm"),
    "flow_field": ("wind_directions", "wind_speeds", "turbulence_intensities", _LOCAL_WIND),
}
"""The parts of a FLORIS configuration that the campaign replaces, or that have no influence on results."""
_NEEDED = ("flow_field", "solver", "wake")


class NamedCode(Section):
    """A wake model by the name of Python code, and the keyword ``options`` that this is called with."""

    key: ClassVar[str]
    section: ClassVar[str] = "wake"
    bare = ("model", (str,))
    model: ImportedName
    """A class or function as package.module:name."""
    options: Parameters = Field(default_factory=dict)
    """Keyword arguments for it."""
    code: Annotated[str, Strict()] | None = None
    """A digest of the code where it is your own, and of the files that options name (``file``, ``..._file``).

    It is put in when the campaign is read, so that an edit makes results stale.
    """

    @property
    def title(self) -> str:
        """The name of the code for tables and messages."""
        return f"{self.key} {self.model}"

    @property
    def _code_now(self) -> str | None:
        code, files = own_code(self.module, search_path()), digest_of_files(self.options)
        return code if files is None else f"{code or ''}-{files}"

    @property
    def module(self) -> str:
        """The module that holds the model."""
        return self.model.partition(":")[0]

    def with_code(self) -> Self:
        """Return the section with a digest of the user's own code as it is now, unless it has one."""
        return self if self.code else self.model_copy(update={"code": self._code_now})

    def refuse_other_code(self) -> None:
        """Raise InputError if the code on this machine is not that of the campaign."""
        now = self._code_now
        if self.code and now and now != self.code:
            raise InputError(
                f"{self.section}.{self.key}: {self.model}: its code is not that of the campaign ({now} instead of "
                f"{self.code}): it, or a file that its options name, was edited since the campaign was read; restore "
                "it, or run the campaign file with --replace-stale"
            )


class PyWakeEngine(NamedCode):
    """A PyWake wind-farm model: a class or function that takes (site, wind_turbines) and keyword ``options``."""

    key = "pywake"


class PythonModel(NamedCode):
    """A wake model of the user's own, a ``vindeby.WakeModel`` or a function of the ``options`` that returns one."""

    key = "python"


class FlorisEngine(Section):
    """A FLORIS 4 configuration: solver, flow field and wake models. Layout, turbines and wind are the campaign's."""

    short_form = {"type": "string"}  # noqa: RUF012

    configuration: Parameters
    """The content of the file that FlorisModel reads."""

    @property
    def title(self) -> str:
        """The name of the engine for tables and messages."""
        wake = self.configuration.get("wake")
        names = wake.get("model_strings") if isinstance(wake, dict) else None
        model = names.get("velocity_model") if isinstance(names, dict) else None
        return f"floris {model}" if model else "floris"

    @model_validator(mode="before")
    @classmethod
    def _resolved(cls, data: Any) -> Any:
        remedy = "load the campaign from a file, or give the content under configuration"
        require(not isinstance(data, str), "names a file, and here files are not read", remedy)
        if isinstance(data, dict) and isinstance(data.get("configuration"), dict):
            data = dict(data)
            configuration = merged(data["configuration"], data.pop("options", None) or {})
            flow, at = configuration.get("flow_field"), ("configuration", "flow_field", _LOCAL_WIND)
            wrong = "is wind that differs from place to place, which a campaign with FLORIS does not have"
            remedy = f"compute without it: options: {{flow_field: {{{_LOCAL_WIND}: null}}}}"
            require(not isinstance(flow, dict) or flow.get(_LOCAL_WIND) is None, wrong, remedy, *at)
            data["configuration"] = deciding_part(configuration)
        return data

    @model_validator(mode="after")
    def _complete(self) -> FlorisEngine:
        for key in _NEEDED:
            wrong = f"{key} is missing: this is not a FLORIS 4 configuration"
            there, remedy = (
                isinstance(self.configuration.get(key), dict),
                "give the file that FlorisModel reads",
            )
            require(there, wrong, remedy, "configuration")
        remedy = "convert it with FLORIS' own script (floris.convert_floris_input_v3_to_v4)"
        # The label says what the file was begun with; FLORIS goes by the content, too.
        is_4 = str(self.configuration.get("floris_version", "v4")).lstrip("v").startswith("4")
        wrong, at = "is not version 4 of FLORIS' configuration", ("configuration", "floris_version")
        require(is_4 or not _has_content_of_3(self.configuration), wrong, remedy, *at)
        return self


def _has_content_of_3(configuration: Parameters) -> bool:
    """Return whether a configuration holds what FLORIS' own script changes for version 4."""
    flow: Any = configuration["flow_field"]
    wake: Any = configuration["wake"]
    return "turbulence_intensity" in flow or "enable_active_wake_mixing" not in wake


def with_options(data: Any) -> Any:
    """Move the options of ``{pywake: NAME, options: {...}}`` into the engine's own section."""
    if not isinstance(data, dict) or "options" not in data:
        return data
    engine = next((name for name in ENGINES if name in data), "")
    options, given = data["options"], {key: value for key, value in data.items() if key != "options"}
    require(engine, "goes with pywake, floris or python only", "leave it out", "options")
    is_mapping = isinstance(options, dict)
    require(is_mapping, "must be a mapping", "write it like {k: 0.04}", "options")
    inner = (
        {"model": given[engine]} if engine != "floris" and isinstance(given[engine], str) else given[engine]
    )
    if not isinstance(inner, dict):
        return given
    require(not inner.get("options"), "is given twice", f"give it once, beside {engine}", "options")
    return {**given, engine: {**inner, "options": options}}


def merged(configuration: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with single values replaced by options, at any depth."""
    result = dict(configuration)
    for key, value in options.items():
        inner = result.get(key)
        both = isinstance(inner, dict) and isinstance(value, dict)
        result[key] = merged(inner, value) if both else value  # type: ignore[arg-type]  # both are mappings
    return result


def replaced_part(configuration: dict[str, Any]) -> list[str]:
    """Return the names of the parts of a FLORIS configuration that the campaign replaces."""
    left = deciding_part(configuration)
    flow = left.pop("flow_field", None)
    inside = {("flow_field", key) for key in flow} if isinstance(flow, dict) else {("flow_field",)}
    return unused(configuration, {(key,) for key in left} | inside)


def deciding_part(configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a FLORIS configuration that decides the results of a campaign."""
    left = {key: value for key, value in configuration.items() if key not in REPLACED[""]}
    flow = left.get("flow_field")
    if isinstance(flow, dict):
        left["flow_field"] = {key: value for key, value in flow.items() if key not in REPLACED["flow_field"]}
    return left


Blockage = Literal["self-similar-2020"]


class WakeSection(NamedOneOf):
    """A wake model and its parameters; a bare name takes the defaults. Blockage may be added to any model.

    ``pywake`` and ``floris`` are not models of vindeby: PyWake or FLORIS compute the energy. ``python``
    is a model of the user's own, with which vindeby computes.
    """

    beside = ("blockage",)

    nygaard_2022: parameters.Nygaard2022 | None = Field(None, alias="nygaard-2022")
    bastankhah_2014: parameters.Bastankhah2014 | None = Field(None, alias="bastankhah-2014")
    niayifar_2016: parameters.Niayifar2016 | None = Field(None, alias="niayifar-2016")
    iea37: parameters.Iea37 | None = None
    jensen: parameters.Jensen | None = None
    gaussian: parameters.Gaussian | None = None
    top_hat: parameters.TopHat | None = Field(None, alias="top-hat")
    turbopark_2020: parameters.Turbopark2020 | None = Field(None, alias="turbopark-2020")
    bastankhah_2016: parameters.Bastankhah2016 | None = Field(None, alias="bastankhah-2016")
    cumulative_curl: parameters.CumulativeCurl | None = Field(None, alias="cumulative-curl")
    pywake: PyWakeEngine | None = None
    floris: FlorisEngine | None = None
    python: PythonModel | None = None
    blockage: Blockage | None = None
    """A model of blockage, added to the wakes."""

    @property
    def engine(self) -> NamedCode | FlorisEngine | None:
        """The engine that computes the wakes, None for vindeby's own models; looking at results does not execute it."""
        return self.pywake or self.floris or self.python

    @property
    def named_code(self) -> NamedCode | None:
        """The model where it is Python code that the campaign names."""
        return self.pywake or self.python

    @property
    def title(self) -> str:
        """The model in a few words, e.g. ``jensen`` or ``pywake py_wake.literature:Nygaard_2022``."""
        return self.chosen[0] if self.engine is None else self.engine.title

    @property
    def is_limited(self) -> bool:
        """Return whether the model has no gradient and no meaning where the free wind differs from place to place."""
        return self.cumulative_curl is not None or self.floris is not None

    @model_validator(mode="after")
    def _blockage_of_local_thrust(self) -> WakeSection:
        given = self.gaussian or self.top_hat
        local, remedy = (
            given is None or given.thrust_of == "local",
            "leave it out, or leave out thrust_of: free",
        )
        wrong = "is computed with the thrust in the local wind only"
        require(self.blockage is None or local, wrong, remedy, "blockage")
        return self

    @model_validator(mode="before")
    @classmethod
    def _engine_options(cls, data: Any) -> Any:
        data = with_options(data)
        if isinstance(data, dict) and "blockage" in data:
            blockage, remedy = data["blockage"], "give self-similar-2020, or leave the key out"
            require(blockage is not None, "is empty", remedy, "blockage")
            wrong = "has a meaning only with vindeby's own wake models"
            remedy = "leave it out, and use a PyWake model with blockage"
            require(not data.keys() & {"pywake", "floris"}, wrong, remedy, "blockage")
        return data
