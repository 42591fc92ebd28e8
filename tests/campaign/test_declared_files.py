"""Files that parameters and options declare decide results, and so are part of the fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.examples import small
from vindeby.campaign import Campaign


def asking(**parameters: object) -> str:
    data = small()
    data["method"] = {"call": {"function": "mine:search", "parameters": parameters}}
    return next(iter(Campaign.from_data(data).fingerprints().values()))


@pytest.mark.parametrize("name", ["file", "depth_file"])
def test_a_file_that_a_parameter_declares_decides_the_result(name: str, tmp_path: Path) -> None:
    path = tmp_path / "depth.csv"
    path.write_text("1,2\n")
    before = asking(**{name: str(path)})
    assert asking(**{name: str(path)}) == before
    path.write_text("1,3\n")
    assert asking(**{name: str(path)}) != before
    assert asking(inner=[{name: str(path)}]) != before


def test_a_text_that_names_no_file_is_a_text(tmp_path: Path) -> None:
    assert asking(file="nowhere") == asking(file="nowhere") != asking(file="elsewhere")
    (tmp_path / "a").write_text("a")
    assert asking(name=str(tmp_path / "a")) == asking(name=str(tmp_path / "a"))


def test_a_model_of_ones_own_has_a_digest_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Search: ...\n")
    (tmp_path / "table.csv").write_text("1\n")
    data = small()
    data["method"] = {"python": {"model": "mine:Search", "options": {"file": "table.csv"}}}
    before = Campaign.from_data(data)
    kept = Campaign.loads(before.dumps())
    (tmp_path / "table.csv").write_text("2\n")
    assert Campaign.from_data(data).fingerprints() != before.fingerprints()
    assert kept.fingerprints() == before.fingerprints()
    assert kept.method[0].python is not None
    with pytest.raises(Exception, match="a file that its options name"):
        kept.method[0].python.refuse_other_code()
