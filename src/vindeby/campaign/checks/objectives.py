"""What can be wrong with an objective and with ranges of counts that only the whole campaign shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.campaign.sections.objective import WAYS
from vindeby.campaign.sections.values import refusal

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign
    from vindeby.campaign.sections.amount import CountRange


def refuse_objective(campaign: Campaign) -> None:
    """Refuse ranges that the objective cannot tell apart, and costs of types that the campaign does not have."""
    objective = campaign.objective
    # A function of the user's own may have an objective of its own; stored layouts are only evaluated.
    chosen = None if any(step.call for step in campaign.method) else _first_range(campaign)
    if chosen is not None and (objective is None or not objective.tells_counts_apart):
        at, range_ = chosen
        raise refusal(
            f"{range_} turbines cannot be told apart by their AEP: more turbines always give more",
            remedy=f"give the campaign an objective: {WAYS}",
            at=(*at, "n_turbines"),
        )
    if objective is None or not isinstance(objective.turbine_cost_gwh, dict):
        return
    names = [turbine.name for turbine in campaign.turbines]
    costs = objective.turbine_cost_gwh
    for name in costs:
        if name not in names:
            raise refusal(
                f"no turbine type has the name {name!r}",
                remedy=f"name types of this campaign: {', '.join(names)}",
                at=("objective", "turbine_cost_gwh", name),
            )
    lacking = [name for name in names if name not in costs]
    if lacking:
        raise refusal(
            f"does not say what a turbine of type {lacking[0]!r} costs",
            remedy="give every type its cost, or one number for all",
            at=("objective", "turbine_cost_gwh"),
        )


def _first_range(campaign: Campaign) -> tuple[tuple[str | int, ...], CountRange] | None:
    """Where the first range of counts is written, and which."""
    if campaign.count_range is not None and not all(farm.amount_is_said for farm in campaign.farms):
        return (), campaign.count_range
    for index, farm in enumerate(campaign.farms):
        if farm.count_range is not None:
            return ("farms", index), farm.count_range
    return None
