from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.campaign.examples import changed, small
from vindeby.campaign import Campaign
from vindeby.campaign import outline as outlines
from vindeby.campaign.outline import outline_of, read_outline, write_outline


@pytest.mark.parametrize("seeds", [1, 3, [7, 0, 12]])
def test_an_outline_expects_the_tasks_of_its_campaign(seeds: int | list[int]) -> None:
    campaign = Campaign.from_data(changed("seeds", seeds))
    text = campaign.dumps()
    outline = read_outline(write_outline(campaign, text), text)
    assert outline == outline_of(campaign)
    assert outline is not None
    assert tuple(task for cell in outline.cells for task in cell.tasks(outline.seeds)) == campaign.tasks()
    assert (outline.name, outline.farms) == ("small", ("north", "south"))
    assert outline.types == ("five", "tabulated")
    assert outline.total_configs == campaign.total_configs


def test_an_outline_of_another_text_version_or_revision_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign.from_data(small())
    text = campaign.dumps()
    kept = write_outline(campaign, text)
    assert read_outline(kept, text + "# more\n") is None
    with monkeypatch.context() as patch:
        patch.setattr(outlines, "__version__", "99.0")
        assert read_outline(kept, text) is None
    with monkeypatch.context() as patch:
        patch.setattr(outlines, "RESULT_REVISION", 99)
        assert read_outline(kept, text) is None
    assert read_outline(kept, text) is not None


def test_what_is_no_outline_is_not_used() -> None:
    campaign = Campaign.from_data(small())
    text = campaign.dumps()
    kept = json.loads(write_outline(campaign, text))
    del kept["cells"][0]["identity"]
    for broken in (None, "", "{", "[]", "3", "{}", json.dumps(kept)):
        assert read_outline(broken, text) is None


def test_reading_an_outline_loads_neither_pydantic_nor_shapely() -> None:
    code = "import sys, vindeby.campaign.outline; print({'numpy', 'pydantic', 'shapely', 'yaml'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
