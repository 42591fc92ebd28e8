"""The comparison of a wheel with the sources, which stands for the tests that CI does not run against the wheel."""

from __future__ import annotations

import runpy
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "check_wheel.py"
FILES = {"vindeby/__init__.py": "x = 1\n", "vindeby/py.typed": "", "vindeby/web/board.js": "draw()\n"}


@pytest.mark.parametrize(
    ("packed", "expected"),
    [
        ({**FILES, "vindeby-0.1.0.dist-info/METADATA": "Name: vindeby"}, []),
        (
            {name: FILES[name] for name in list(FILES)[:2]},
            ["vindeby/web/board.js: is not in the wheel"],
        ),
        ({**FILES, "tests/conftest.py": ""}, ["tests/conftest.py: is only in the wheel"]),
        ({**FILES, "vindeby/__init__.py": "x = 2\n"}, ["vindeby/__init__.py: differs"]),
    ],
    ids=["same", "less", "more", "other"],
)
def test_every_difference_is_named(packed: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        for name, text in packed.items():
            archive.writestr(name, text)
    differences = runpy.run_path(str(SCRIPT))["differences"]
    assert differences(tmp_path / "a.whl", tmp_path / "src") == expected
