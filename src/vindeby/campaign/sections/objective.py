"""What a search makes as large as can be, where it may choose how many turbines there are, or of which types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from vindeby.campaign.sections.values import Name, NotNegative, Section, refusal

WAYS = "aep-per-turbine, or {turbine_cost_gwh: 12.5}"
"""The objectives that tell counts apart, for messages."""


_WORDS = {"aep": "AEP", "aep-per-turbine": "AEP per turbine"}


class Objective(Section):
    """``aep``, ``aep-per-turbine``, or ``turbine_cost_gwh``: AEP less so many GWh a year for each turbine.

    The cost is one for all turbine types or one for each, by name.
    """

    maximise: Literal["aep", "aep-per-turbine"] = "aep"
    """AEP of the farm, or AEP per turbine."""
    turbine_cost_gwh: (
        Annotated[
            Annotated[NotNegative, Tag("number")]
            | Annotated[dict[Name, NotNegative], Field(min_length=1), Tag("table")],
            Discriminator(lambda value: "table" if isinstance(value, dict) else "number"),
        ]
        | None
    ) = None
    """What is taken off AEP for each turbine, in GWh per year: one number, or one for each type."""

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """What is maximised."""
        return {"enum": ["aep", "aep-per-turbine"]}

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        if isinstance(data, dict | cls):
            return data
        if data not in ("aep", "aep-per-turbine"):
            raise refusal("is not an objective", remedy=f"write aep, {WAYS}", value=data)
        return {"maximise": data}

    @model_validator(mode="after")
    def _one_way_only(self) -> Objective:
        if self.maximise == "aep-per-turbine" and self.turbine_cost_gwh is not None:
            raise refusal(
                "aep-per-turbine and turbine_cost_gwh exclude each other",
                remedy="give one",
                at=("turbine_cost_gwh",),
            )
        return self

    @property
    def tells_counts_apart(self) -> bool:
        """Whether more turbines can be worth less."""
        return self.maximise == "aep-per-turbine" or self.turbine_cost_gwh is not None

    @property
    def title(self) -> str:
        """The objective in words."""
        cost = self.turbine_cost_gwh
        if isinstance(cost, dict):
            each = ", ".join(f"{value:g} for each {name}" for name, value in cost.items())
            return f"AEP less the cost of turbines in GWh per year: {each}"
        return (
            f"AEP less {cost:g} GWh per year for each turbine" if cost is not None else _WORDS[self.maximise]
        )

    def cost_gwh(self, turbine_name: str) -> float:
        """What a turbine of this type costs, in GWh per year."""
        if isinstance(self.turbine_cost_gwh, dict):
            return self.turbine_cost_gwh[turbine_name]
        return self.turbine_cost_gwh or 0.0

    def worth(self, aep_gwh: float, counts: Mapping[str, int]) -> float:
        """The objective of a farm with so many turbines of each type, in GWh per year (of each turbine)."""
        if self.maximise == "aep-per-turbine":
            return aep_gwh / sum(counts.values())
        return aep_gwh - sum(self.cost_gwh(name) * count for name, count in counts.items())
