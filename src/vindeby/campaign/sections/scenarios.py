"""The scenarios of a campaign: how the wind, the wakes or the neighbours may differ from what the campaign says."""

from __future__ import annotations

from statistics import NormalDist
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, Strict, model_validator

from vindeby.campaign.sections.farm import Neighbours
from vindeby.campaign.sections.site import SiteSection, WindChanges
from vindeby.campaign.sections.values import NAMED, Count, Name, Number, OneOf, Positive, require
from vindeby.campaign.sections.wake_model import WakeSection

OF_WAKES = "wake."
_Varied = Annotated[str, Field(pattern=rf"^({'|'.join(WindChanges.model_fields)}|wake\..+)$")]


class Distribution(OneOf):
    """How likely each value is: ``{normal: [mean, deviation]}`` or ``{uniform: [low, high]}``."""

    normal: tuple[Number, Positive] | None = None
    """The mean and the standard deviation of a normal distribution."""
    uniform: tuple[Number, Number] | None = None
    """Two values, all between them as likely."""

    def at(self, share: float) -> float:
        """The value that so large a share of all lies below, to 12 digits: the same on every machine."""
        kind, (one, other) = self.chosen
        value = NormalDist(one, other).inv_cdf(share) if kind == "normal" else one + share * (other - one)
        return float(f"{value:.12g}")


class Scenario(WindChanges):
    """One way in which the wind, the wakes or the neighbours may be; whatever it leaves out is as in the campaign.

    With ``vary`` and ``samples`` it stands for that many scenarios, drawn with a seed of their own.
    """

    name: Name
    """Unique among the scenarios; by default ``scenario 1``, ``scenario 2``, ..."""
    weight: Annotated[Number, Field(ge=1e-6, le=1e6)] = 1.0
    """How much it counts in a mean, relative to the others."""
    site: SiteSection | None = None
    """Other wind."""
    wake: WakeSection | None = None
    """Another wake model, or other parameters."""
    neighbours: Neighbours | None = None
    """Turbines that stand in this scenario, besides those of the campaign."""
    vary: Annotated[dict[_Varied, Distribution], Field(min_length=1)] | None = None
    """What is drawn for each sample, with its distribution: a change of the wind, or wake.PARAMETER."""
    samples: Count | None = None
    """How many samples are drawn."""
    seed: Annotated[int, Strict(), Field(ge=0, lt=2**32)] = 0
    """Of the samples."""

    @model_validator(mode="after")
    def _samples_of_something(self) -> Self:
        remedy = "give both, e.g. vary: {wind_speed_factor: {normal: [1, 0.03]}}, samples: 8"
        require((self.vary is None) == (self.samples is None), "needs the other of vary and samples", remedy)
        engine = None if self.wake is None else self.wake.engine
        wrong = "a scenario has one of vindeby's own wake models"
        require(engine is None, wrong, "name one, or make a campaign of its own for this engine", "wake")
        return self

    def drawn(self) -> tuple[dict[str, float], ...]:
        """The values of each sample: a Latin hypercube, in which each distribution is covered evenly."""
        if self.vary is None or self.samples is None:
            return ({},)
        rng = np.random.default_rng(self.seed)
        columns = {}
        for key in sorted(self.vary):
            share = (rng.permutation(self.samples) + rng.random(self.samples)) / self.samples
            columns[key] = [self.vary[key].at(min(max(one, 1e-12), 1.0 - 1e-12)) for one in share.tolist()]
        return tuple({key: column[n] for key, column in columns.items()} for n in range(self.samples))


def _with_names(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [
        {"name": f"scenario {number}", **one} if isinstance(one, dict) else one
        for number, one in enumerate(value, 1)
    ]


Scenarios = Annotated[tuple[Scenario, ...], *NAMED, BeforeValidator(_with_names)]
