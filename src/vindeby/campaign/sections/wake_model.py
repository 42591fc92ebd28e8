"""The wake model of a campaign by name, with its parameters; the equations are in ``wake``."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from vindeby.campaign.sections.values import NotNegative, OneOf, Positive, Section


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
    """A top-hat wake that widens linearly, with partial overlap."""

    k: Positive = 0.1


class WakeModel(OneOf):
    """One wake model and its parameters; a bare name takes the defaults."""

    nygaard_2022: Nygaard2022 | None = Field(None, alias="nygaard-2022")
    bastankhah_2014: Bastankhah2014 | None = Field(None, alias="bastankhah-2014")
    niayifar_2016: Niayifar2016 | None = Field(None, alias="niayifar-2016")
    iea37: Iea37 | None = None
    jensen: Jensen | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        return bare_name(data)


def bare_name(data: Any) -> Any:
    """Read ``name`` as ``name: {}``, and ``name:`` with nothing behind it likewise."""
    if isinstance(data, str):
        return {data: {}}
    if isinstance(data, dict) and len(data) == 1:
        return {key: {} if value is None else value for key, value in data.items()}
    return data
