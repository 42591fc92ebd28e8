"""The wake model of a campaign by name, with its parameters; the equations are in ``wake``."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from vindeby.campaign.sections.engine import FlorisEngine, NamedCode, PythonModel, PyWakeEngine, with_options
from vindeby.campaign.sections.values import NamedOneOf, NotNegative, Positive, Section, refusal

Induction = Literal["madsen", "momentum"]
Rotor = Literal["overlap", "centre"]
Blockage = Literal["self-similar-2020"]


class Nygaard2022(Section):
    """TurbOPark with a Gaussian profile, averaged over the rotor, with mirrored wakes at the ground."""

    a: Positive = 0.04
    """Wake expansion."""


class Bastankhah2014(Section):
    """A Gaussian wake that widens linearly."""

    k: Positive = 0.0324555
    """Growth of the wake's width per metre."""


class Niayifar2016(Section):
    """A Gaussian wake that widens with the local turbulence, with Crespo-Hernandez added turbulence."""

    a0: Positive = 0.3837
    """Growth of the wake per unit of turbulence intensity."""
    a1: NotNegative = 0.003678
    """Growth of the wake without turbulence."""


class Iea37(Section):
    """The simple Gaussian of the IEA Task 37 case studies."""

    k: Positive = 0.0324555
    """Growth of the wake's width per metre."""


class Jensen(Section):
    """A top-hat wake that widens linearly: on the share of a rotor inside it, or on rotors with their centre in it."""

    k: Positive = 0.1
    """Growth of the wake's radius per metre."""
    induction: Induction = "madsen"
    """How thrust becomes deficit."""
    rotor: Rotor = "overlap"
    """What of a rotor must be in the wake."""


class Turbopark2020(Section):
    """TurbOPark with a top-hat wake, which widens with the turbulence in it."""

    a: Positive = 0.6
    """Wake expansion."""
    induction: Induction = "momentum"
    """How thrust becomes deficit."""
    rotor: Rotor = "overlap"
    """What of a rotor must be in the wake."""


class Bastankhah2016(Section):
    """A Gaussian wake that begins behind a potential core and widens with the turbulence of the free wind."""

    ka: Positive = 0.38
    """Growth of the wake per unit of turbulence intensity."""
    kb: NotNegative = 0.004
    """Growth of the wake without turbulence."""
    alpha: Positive = 0.58
    """The share of turbulence in the length of the potential core."""
    beta: Positive = 0.077
    """The share of the speed difference in it."""


class CumulativeCurl(Section):
    """Super-Gaussian wakes whose depth depends on the wakes they stand in, as in FLORIS' model cc; without gradient."""

    ka: Positive = 0.179367259
    """Growth of the wake per unit of turbulence intensity."""
    kb: NotNegative = 0.0118889215
    """Growth of the wake without turbulence."""
    turbulence: Literal["crespo-hernandez", "none"] = "crespo-hernandez"
    """Turbulence added by wakes."""


class WakeModel(NamedOneOf):
    """One wake model and its parameters; a bare name takes the defaults. Blockage may be added to any of them.

    ``pywake`` and ``floris`` are no models of vindeby: with them the energy is computed by PyWake or FLORIS. ``python``
    is a model of the user's own, with which vindeby computes.
    """

    alternatives: ClassVar[tuple[str, ...] | None] = (
        "nygaard_2022",
        "bastankhah_2014",
        "niayifar_2016",
        "iea37",
        "jensen",
        "turbopark_2020",
        "bastankhah_2016",
        "cumulative_curl",
        "pywake",
        "floris",
        "python",
    )

    nygaard_2022: Nygaard2022 | None = Field(None, alias="nygaard-2022")
    bastankhah_2014: Bastankhah2014 | None = Field(None, alias="bastankhah-2014")
    niayifar_2016: Niayifar2016 | None = Field(None, alias="niayifar-2016")
    iea37: Iea37 | None = None
    jensen: Jensen | None = None
    turbopark_2020: Turbopark2020 | None = Field(None, alias="turbopark-2020")
    bastankhah_2016: Bastankhah2016 | None = Field(None, alias="bastankhah-2016")
    cumulative_curl: CumulativeCurl | None = Field(None, alias="cumulative-curl")
    pywake: PyWakeEngine | None = None
    floris: FlorisEngine | None = None
    python: PythonModel | None = None
    blockage: Blockage | None = None
    """A model of blockage, added to the wakes."""

    @property
    def engine(self) -> NamedCode | FlorisEngine | None:
        """What computes the wakes where it is no model of vindeby's; looking at results does not execute it."""
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
    def has_gradient(self) -> bool:
        """Whether methods that follow the slope of the energy can be used with it."""
        return self.cumulative_curl is None and self.floris is None

    @property
    def knows_local_wind(self) -> bool:
        """Whether it says what becomes of wakes where the free wind differs from place to place."""
        return self.cumulative_curl is None and self.floris is None

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        data = with_options(data)
        if not isinstance(data, dict) or "blockage" not in data:
            return bare_name(data)
        if data["blockage"] is None:
            raise refusal("is empty", remedy="give self-similar-2020, or leave the key out", at=("blockage",))
        model = {key: value for key, value in data.items() if key != "blockage"}
        if model.keys() & {"pywake", "floris"}:
            raise refusal(
                "has a meaning only with vindeby's own wake models",
                remedy="leave it out, and use a PyWake model with blockage",
                at=("blockage",),
                value=data["blockage"],
            )
        return {**bare_name(model), "blockage": data["blockage"]}


def bare_name(data: Any) -> Any:
    """Read ``name`` as ``name: {}``, and ``name:`` with nothing behind it likewise."""
    if isinstance(data, str):
        return {data: {}}
    if isinstance(data, dict) and len(data) == 1:
        return {key: {} if value is None else value for key, value in data.items()}
    return data
