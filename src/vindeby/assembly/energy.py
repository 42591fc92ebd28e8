"""The engine of a campaign's energies: its name for results, and a warning before code of others is imported."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import file_of, is_installed, search_path
from vindeby.campaign.sections.wake_model import NamedCode

_PACKAGES = {"pywake": "py_wake", "floris": "floris"}


def engine_name(campaign: Campaign) -> str:
    """Return the name of the engine, e.g. ``vindeby jensen`` or ``py_wake 2.6.20 py_wake.literature:Nygaard_2022``.

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
    """Return the warning to show before the model that a campaign names is imported; empty if there is none."""
    named = (one.wake.named_code for one in campaign.distinct("wake"))
    texts = (code_warning(f"wake.{given.key}", given.model, path) for given in named if given is not None)
    return next(filter(None, texts), "")


def code_warning(field: str, name: str, path: Sequence[str] | None = None) -> str:
    """Return the warning to show before ``package.module:name`` is imported; empty if it is installed or not found."""
    file = file_of(name.partition(":")[0], search_path() if path is None else path)
    if file is None or is_installed(file):
        return ""
    return (
        f"{field}: {name} is not from an installed package: {file} will be executed, and "
        "may do whatever you may do; run only code that you trust"
    )
