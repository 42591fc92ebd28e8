"""Is the package of the engine that a campaign names installed? It is looked for, not imported."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.reading.code_files import file_of, search_path

_PACKAGES = {"pywake": ("py_wake", "PyWake"), "floris": ("floris", "FLORIS")}


def doubts_about_engine(campaign: Campaign) -> Iterator[str]:
    """A campaign may run on another machine than it is checked on, so this is no more than a doubt."""
    key = campaign.wake.chosen[0]
    given = campaign.wake.named_code
    if given is not None and file_of(given.module, search_path()) is None:
        yield f"wake.{key}: {given.model}: no module {given.module} is found here; start from the folder that it is in"
    if key in _PACKAGES and find_spec(_PACKAGES[key][0]) is None:
        name = _PACKAGES[key][1]
        yield f"wake.{key}: {name} is not installed here; install it with: pip install 'vindeby[{key}]'"
