"""Is the package of the engine that a campaign names installed? It is looked for, not imported."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from vindeby.campaign.campaign import Campaign

_PACKAGES = {"pywake": ("py_wake", "PyWake"), "floris": ("floris", "FLORIS")}


def doubts_about_engine(campaign: Campaign) -> Iterator[str]:
    """A campaign may run on another machine than it is checked on, so this is no more than a doubt."""
    key = campaign.wake.chosen[0]
    if key in _PACKAGES and find_spec(_PACKAGES[key][0]) is None:
        name = _PACKAGES[key][1]
        yield f"wake.{key}: {name} is not installed here; install it with: pip install 'vindeby[{key}]'"
