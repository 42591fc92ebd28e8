"""Does the wake model suit the search and the wind? What only the whole campaign shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.campaign.sections.values import refusal

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign

_NEED_A_GRADIENT = ("gradient", "hopping", "stochastic-gradient")


def refuse_unsuitable_wake_model(campaign: Campaign) -> None:
    """Refuse steps that need a gradient the model does not have, and local wind that it does not know."""
    model, local = campaign.wake, campaign.site.local
    name = model.title
    for index, step in enumerate(campaign.method):
        if step.chosen[0] in _NEED_A_GRADIENT and not model.has_gradient:
            raise refusal(
                f"needs a gradient, which the wake model {name} does not have",
                remedy="use random-search or annealing, or another wake model",
                at=("method", index),
                value=step.chosen[0],
            )
    if local is not None and not model.knows_local_wind:
        raise refusal(
            f"the wake model {name} is defined only for wind that is the same all over the farm",
            remedy="use another wake model, or leave local out",
            at=("site", "local"),
        )
    if local is not None and local.turned_wakes and model.blockage is not None:
        raise refusal(
            "blockage is not defined for wakes that follow the turned wind",
            remedy="leave turned_wakes or blockage out",
            at=("site", "local", "turned_wakes"),
        )
