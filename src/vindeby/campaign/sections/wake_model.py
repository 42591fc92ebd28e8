"""The wake model of a campaign by name, with its parameters; the equations are in ``wake``."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from vindeby.campaign.sections.values import NotNegative, OneOf, Positive, Section, refusal

Induction = Literal["madsen", "momentum"]
Rotor = Literal["overlap", "centre"]
Blockage = Literal["self-similar-2020"]


class Nygaard2022(Section):
    """TurbOPark with a Gaussian profile, averaged over the rotor, with mirrored wakes at the ground."""

    a: Positive = 0.04


class Bastankhah2014(Section):
    """A Gaussian wake that widens linearly."""

    k: Positive = 0.0324555


class Niayifar2016(Section):
    """A Gaussian wake that widens with the local turbulence, with Crespo-Hernandez added turbulence."""

    a0: Positive = 0.3837
    a1: NotNegative = 0.003678


class Iea37(Section):
    """The simple Gaussian of the IEA Task 37 case studies."""

    k: Positive = 0.0324555


class Jensen(Section):
    """A top-hat wake that widens linearly: on the share of a rotor inside it, or on rotors with their centre in it."""

    k: Positive = 0.1
    induction: Induction = "madsen"
    rotor: Rotor = "overlap"

    def identity(self) -> dict[str, Any]:
        """What decides a result. Defaults of fields that older campaigns did not have are left out."""
        given = self.model_dump()
        for name in ("induction", "rotor"):
            if given[name] == type(self).model_fields[name].default:
                del given[name]
        return given


class Turbopark2020(Section):
    """TurbOPark with a top-hat wake, which widens with the turbulence in it."""

    a: Positive = 0.6
    induction: Induction = "momentum"
    rotor: Rotor = "overlap"


class Bastankhah2016(Section):
    """A Gaussian wake that begins behind a potential core and widens with the turbulence of the free wind."""

    ka: Positive = 0.38
    kb: NotNegative = 0.004
    alpha: Positive = 0.58
    beta: Positive = 0.077


class CumulativeCurl(Section):
    """Super-Gaussian wakes whose depth depends on the wakes they stand in, as in FLORIS' model cc; without gradient."""

    ka: Positive = 0.179367259
    kb: NotNegative = 0.0118889215
    turbulence: Literal["crespo-hernandez", "none"] = "crespo-hernandez"


class WakeModel(OneOf):
    """One wake model and its parameters; a bare name takes the defaults. Blockage may be added to any of them."""

    alternatives: ClassVar[tuple[str, ...] | None] = (
        "nygaard_2022",
        "bastankhah_2014",
        "niayifar_2016",
        "iea37",
        "jensen",
        "turbopark_2020",
        "bastankhah_2016",
        "cumulative_curl",
    )

    nygaard_2022: Nygaard2022 | None = Field(None, alias="nygaard-2022")
    bastankhah_2014: Bastankhah2014 | None = Field(None, alias="bastankhah-2014")
    niayifar_2016: Niayifar2016 | None = Field(None, alias="niayifar-2016")
    iea37: Iea37 | None = None
    jensen: Jensen | None = None
    turbopark_2020: Turbopark2020 | None = Field(None, alias="turbopark-2020")
    bastankhah_2016: Bastankhah2016 | None = Field(None, alias="bastankhah-2016")
    cumulative_curl: CumulativeCurl | None = Field(None, alias="cumulative-curl")
    blockage: Blockage | None = None

    @property
    def has_gradient(self) -> bool:
        """Whether methods that follow the slope of the energy can be used with it."""
        return self.cumulative_curl is None

    @property
    def knows_local_wind(self) -> bool:
        """Whether it says what becomes of wakes where the free wind differs from place to place."""
        return self.cumulative_curl is None

    def identity(self) -> dict[str, Any]:
        """What decides a result, for fingerprints. Blockage that is not asked for is left out."""
        key, model = self.chosen
        identity = {key: model.identity() if isinstance(model, Jensen) else model.model_dump()}
        return identity if self.blockage is None else {**identity, "blockage": self.blockage}

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "blockage" not in data:
            return bare_name(data)
        if data["blockage"] is None:
            raise refusal("is empty", remedy="give self-similar-2020, or leave the key out", at=("blockage",))
        model = {key: value for key, value in data.items() if key != "blockage"}
        return {**bare_name(model), "blockage": data["blockage"]}


def bare_name(data: Any) -> Any:
    """Read ``name`` as ``name: {}``, and ``name:`` with nothing behind it likewise."""
    if isinstance(data, str):
        return {data: {}}
    if isinstance(data, dict) and len(data) == 1:
        return {key: {} if value is None else value for key, value in data.items()}
    return data
