"""Choice of the device for energies and gradients of searches: the processor, or a CUDA card for many tasks."""

import importlib.util
import os
from typing import Literal

from vindeby.campaign import Campaign

TOGETHER = 64
"""Tasks that a worker computes at the same time if a card is used, at most."""


def chosen_device(campaign: Campaign, asked: str) -> tuple[Literal["cpu", "cuda"], str]:
    """Return the device that computes energies and gradients, and the name of the card or the reason for none."""
    if asked == "cpu":
        return "cpu", "a card is used with --device cuda or auto, or run.device"
    if reason := _reason_against(campaign):
        return "cpu", reason
    simulated = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
    if not simulated and importlib.util.find_spec("numba_cuda") is None:  # found out without loading Numba
        return "cpu", "numba-cuda is not installed: pip install 'vindeby[gpu]'"
    from vindeby.wake.gpu.devices import found_device

    usable, why, _ = found_device()
    return "cuda" if usable and (asked == "cuda" or not simulated) else "cpu", why


def _reason_against(campaign: Campaign) -> str:
    """Return why tasks of a campaign would not gain from a GPU; empty if all would."""
    each = campaign.distinct("method", "wake", "scenarios", "objective", "site")
    return next(filter(None, map(_reason_against_one, each)), "")


def _reason_against_one(campaign: Campaign) -> str:
    steps, wake = [step.chosen[0] for step in campaign.method], campaign.wake
    if campaign.stored is not None:
        return "stored layouts are evaluated on processors"
    if not {"gradient", "auto"} & set(steps):
        return f"methods with the step gradient or auto gain from a card, not {' -> '.join(steps)}"
    if own := [step.title for step in campaign.method if step.python or step.call]:
        return f"code of your own ({own[0]}) is computed on processors"
    if wake.engine is not None and wake.python is None:
        return f"wakes are computed by {wake.title}"
    if wake.is_limited or wake.blockage is not None or campaign.site.local is not None:
        return "cumulative-curl, blockage and wind that differs from place to place are computed on processors only"
    return ""
