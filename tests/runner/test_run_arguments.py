"""What ``vindeby.run`` takes: a campaign, its file, or a preset; and who is told what."""

from __future__ import annotations

from pathlib import Path

import pytest

import vindeby
from tests.runner.campaigns import calling
from vindeby.campaign import presets
from vindeby.errors import ArgumentError, CampaignError
from vindeby.runner.supervisor import Progress


def test_a_campaign_file_and_the_campaign_itself_run_alike(tmp_path: Path) -> None:
    asked = calling("good", 2)
    path = tmp_path / "campaign.yaml"
    path.write_text(asked.dumps())
    messages: list[str] = []
    progress: list[Progress] = []
    first = vindeby.run(str(path), tmp_path / "out.h5", on_progress=progress.append)
    assert first.complete
    assert progress[-1].total == first.total
    for campaign in (path, asked):
        again = vindeby.run(campaign, tmp_path / "out.h5", on_message=messages.append)
        assert again.complete
        assert again.done == 0
    assert f"{first.total:,} results are there already" in messages


def test_a_preset_runs_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The presets need the compiled engine; here another campaign stands for them."""
    text = calling("good", 1).dumps()
    monkeypatch.setattr(presets, "text", lambda name: {"energy-island-quick": text}[name])
    monkeypatch.chdir(tmp_path)
    assert vindeby.run("energy-island-quick").complete
    assert len(vindeby.open("layouts.h5")) == calling("good", 1).total_configs


def test_what_is_wrong_with_a_campaign_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("name: x\nfarmz: []\n")
    with pytest.raises(CampaignError, match="farmz"):
        vindeby.run(path, tmp_path / "out.h5")
    with pytest.raises(CampaignError, match="nowhere"):
        vindeby.run(tmp_path / "nowhere.yaml", tmp_path / "out.h5")
    assert not (tmp_path / "out.h5.run").exists()


def test_anything_else_is_refused_with_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"not dict; for plain data use Campaign\.from_data"):
        vindeby.run({"name": "x"}, tmp_path / "out.h5")  # type: ignore[arg-type]
