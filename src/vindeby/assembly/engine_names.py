"""What computed an energy, in words that are kept with the result; and what of it is not installed code.

Nothing is imported: versions come from the metadata of installed packages, modules are only looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import file_of, is_installed, search_path
from vindeby.campaign.sections.engine import NamedCode

_PACKAGES = {"pywake": "py_wake", "floris": "floris"}


def engine_name(campaign: Campaign) -> str:
    """For example ``vindeby jensen`` or ``py_wake 2.6.20 py_wake.literature:Nygaard_2022``.

    A model of the user's own has a digest of its code, too: ``py_wake 2.6.20 mywakes:Mine (code 0f3a2b1c5d6e7f80)``.
    """
    given = campaign.wake.engine
    if given is None:
        return f"vindeby {campaign.wake.chosen[0]}"
    package = _PACKAGES.get(campaign.wake.chosen[0], "vindeby")
    try:
        package = package if campaign.wake.python else f"{package} {version(package)}"
    except PackageNotFoundError:
        package = f"{package} (not installed)"
    if not isinstance(given, NamedCode):
        return f"{package} {given.title.removeprefix('floris ')}"
    code = given.with_code().code
    return f"{package} {given.model} (code {code})" if code else f"{package} {given.model}"


def engine_warning(campaign: Campaign, path: Sequence[str] | None = None) -> str:
    """What to say before the model that a campaign names is imported; empty where there is nothing to say."""
    given = campaign.wake.named_code
    file = None if given is None else file_of(given.module, search_path() if path is None else path)
    if given is None or file is None or is_installed(file):
        return ""
    return (
        f"wake.{given.key}: {given.model} is not from an installed package: {file} will be executed, and "
        "may do whatever you may do; run only code that you trust"
    )
