"""Are the workers' Python, NumPy, Numba and vindeby those of the coordinator? Otherwise results might differ."""

from __future__ import annotations

from typing import Any

PACKAGES = ("numpy", "numba", "vindeby")
_NAMES = {"python": "Python", "numpy": "NumPy", "numba": "Numba", "vindeby": "vindeby"}


def here() -> dict[str, Any]:
    """What is installed here, in the form that Dask has for it."""
    from distributed.versions import get_versions

    versions: dict[str, Any] = get_versions(packages=list(PACKAGES))
    return versions


def mismatch(address: str, there: dict[str, Any], ours: dict[str, Any]) -> str:
    """What differs between a worker and here, both named; empty when nothing does."""
    found = []
    for package, name in _NAMES.items():
        theirs, mine = _version(there, package), _version(ours, package)
        if theirs != mine:
            found.append(f"{name} is {theirs or 'not installed'} there and {mine or 'not installed'} here")
    if not found:
        return ""
    return (
        f"the Dask worker {address} has other versions: {'; '.join(found)}; install the same versions on both, "
        "then rerun the same command"
    )


def _version(versions: dict[str, Any], package: str) -> str:
    text = (versions.get("packages") or {}).get(package) or ""
    return ".".join(text.split(".")[:3]) if package == "python" else text
