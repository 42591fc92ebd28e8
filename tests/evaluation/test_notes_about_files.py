"""What is said about files of other tools that a campaign of stored layouts names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vindeby.campaign import Campaign
from vindeby.runner import running


def test_what_was_done_with_the_wind_of_an_evaluation_is_said(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rose.csv").write_text("ws,wd,freq_val\n8,0,1\n10,0,1\n8,180,1\n10,180,1\n")
    study = tmp_path / "study.yaml"
    study.write_text("name: rose\nmethod: stored\nsite: {file: rose.csv, turbulence_intensity: 0.06}\n")
    asked: list[Any] = []
    monkeypatch.setattr(running, "run", lambda campaign, *_, **__: asked.append(campaign))
    said: list[str] = []
    running.evaluate(source, study, tmp_path / "out.h5", on_message=said.append)
    assert len(asked) == 1
    (note,) = said
    assert note.startswith("warning: site, from ")
    assert "frequencies sum to 4 and are divided by this sum" in note


def test_an_evaluation_has_its_own_options_of_a_run(source: Path) -> None:
    given = {"name": "quiet", "run": {"device": "cuda", "retries": 1}}
    options = Campaign.of_stored(source, given).run
    assert (options.device, options.retries) == ("cuda", 1)
