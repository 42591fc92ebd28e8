"""Compare a wheel with the sources: the same files of the package, byte for byte.

    python scripts/check_wheel.py dist/vindeby-0.1.0-py3-none-any.whl

What the tests say about the sources then holds for what the wheel installs, except what depends on the place where it
is installed: CI runs the tests of that against the wheel. Exits with 1, and the names, when files differ.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src"


def differences(wheel: Path, sources: Path) -> list[str]:
    """One line for each file of the package that is missing in the wheel, or more, or other than in the sources."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    here = {
        path.relative_to(sources).as_posix(): path.read_bytes()
        for path in (sources / "vindeby").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return [
        *(f"{name}: is not in the wheel" for name in sorted(here.keys() - packed.keys())),
        *(f"{name}: is only in the wheel" for name in sorted(packed.keys() - here.keys())),
        *(f"{name}: differs" for name in sorted(here.keys() & packed.keys()) if here[name] != packed[name]),
    ]


if __name__ == "__main__":
    found = differences(Path(sys.argv[1]), SOURCES)
    print("\n".join(found) or "the wheel holds the package as it is in src")
    sys.exit(bool(found))
