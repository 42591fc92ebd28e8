"""A campaign from elsewhere may name any file as a boundary: what is in that file is not shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.campaign.examples import SMALL
from tests.campaign.test_boundary import SQUARE
from tests.command import vindeby

SECRET = "hunter2"

CONTENTS = {
    "plain word": SECRET,
    "passwd": f"root:x:0:0:{SECRET}:/root:/bin/sh\ndaemon:{SECRET}:1:1::/:/bin/false\n",
    "environment": f"USER=me\nPASSWORD={SECRET}\n",
    "mapping": f"password: {SECRET}\n",
    "secret key": f"{SECRET}: 1\n",
    "nested": f"polygon:\n  - [0, {SECRET}]\n  - {{{SECRET}: 1}}\n",
    "text in a vertex": f"polygon: [[0, 0], [4000, {SECRET}], [4000, 3000]]\n",
    "text for a circle": f"circle: {{center: {SECRET}, radius_m: {SECRET}}}\n",
    "almost a key": f"polygn: {SECRET}\n",
    "list": f"- {SECRET}\n- {SECRET}\n",
    "alias": f"a: *{SECRET}\n",
    "anchor": f"&{SECRET} x\n*{SECRET}\n",
    "tag": f"!{SECRET} x\n",
    "key twice": f"{SECRET}: 1\n{SECRET}: 2\n",
    "broken YAML": f"{SECRET}: [1, 2\n{SECRET}: }}\n",
    "JSON": json.dumps({"token": SECRET, "user": "me"}),
    "comma-separated": f"user,{SECRET}\nme,{SECRET}\n",
    "header and words": f"x,y\n{SECRET},me\n{SECRET},you\n",
    "words in columns": f"1,{SECRET}\n2,{SECRET}\n3,{SECRET}\n",
    "one number": f"7,1,{SECRET}\n",
    "quotes": f'"{SECRET}\n{SECRET}\n',
    "long": f"x,y\n0,0\n4000,0\n{SECRET * 5},3000\n0,3000\n",
    "key file": f"-----BEGIN KEY-----\n{SECRET}{SECRET}\n-----END KEY-----\n",
}


@pytest.mark.parametrize("suffix", ["", ".csv", ".txt", ".yaml", ".json"])
@pytest.mark.parametrize("case", CONTENTS)
def test_no_message_shows_the_content_of_a_file_named_as_boundary(
    case: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vindeby.campaign import Campaign
    from vindeby.errors import CampaignError

    monkeypatch.chdir(tmp_path)
    (tmp_path / f"other{suffix}").write_text(CONTENTS[case])
    (tmp_path / "c.yaml").write_text(SMALL.replace(SQUARE, f"{{file: other{suffix}}}"))
    with pytest.raises(CampaignError) as caught:
        Campaign.load("c.yaml")
    told = str(caught.value)
    assert SECRET not in told
    assert told.startswith(f"other{suffix}:")
    assert all(problem.remedy for problem in caught.value.problems)


def test_the_command_shows_nothing_of_it_either(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(SMALL.replace(SQUARE, "{file: /etc/passwd}"))
    done = vindeby(tmp_path, "check", "c.yaml")
    assert done.returncode == 2
    assert "root" not in done.stdout + done.stderr
    assert "/etc/passwd" in done.stderr
    assert "Traceback" not in done.stderr
