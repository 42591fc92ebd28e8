"""``scripts/validate.py``: what it writes into the page, and when."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("py_wake")
pytestmark = pytest.mark.slow  # it loads PyWake


@pytest.fixture(scope="module")
def script() -> Any:
    path = Path(__file__).parents[2] / "scripts" / "validate.py"
    spec = importlib.util.spec_from_file_location("validate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_figure_within_its_limit_does_not_look_larger_than_it(script: Any) -> None:
    assert script.difference("", "", [5e-5, -1e-9], 6e-5, " MWh")[2:] == ("below 6e-5 MWh", "6e-5 MWh", True)
    assert script.difference("", "", [7e-5], 6e-5, " MWh")[2:] == ("below 1e-4 MWh", "6e-5 MWh", False)
    assert script.difference("", "", [-3e-13], 1e-10)[2:] == ("below 1e-12", "1e-10", True)
    assert script.difference("", "", [0.0], 1e-10).figure == "none"


def test_nothing_compared_is_not_all_equal(script: Any) -> None:
    assert script.count("", "", 2, 2).within
    assert not script.count("", "", 1, 2).within
    assert not script.count("", "", 0, 0).within


def test_figures_beyond_their_limits_are_not_written(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- figures -->\nfigures\n<!-- end -->\n")
    monkeypatch.setattr(script, "PAGE", page)
    for part in ("pywake", "floris", "topfarm", "published", "open_cases", "readers"):
        monkeypatch.setattr(script, part, lambda: iter([script.count("judge", "compared", 1, 2)]))
    assert script.main() == 1
    assert "\nfigures\n" in page.read_text()
    for part in ("pywake", "floris", "topfarm", "published", "open_cases", "readers"):
        monkeypatch.setattr(script, part, lambda: iter([script.count("judge", "compared", 2, 2)]))
    assert script.main() == 0
    assert "| judge | compared | 2 of 2 | all |" in page.read_text()
