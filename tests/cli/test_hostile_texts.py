"""Whatever is in names, keys and texts of others, nothing unprintable reaches the terminal, and no line is forged."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml

from tests.campaign.examples import small
from tests.results.examples import campaign, events, finished, publish, set_aside
from vindeby import cli
from vindeby.text import one_line, printable

pytestmark = pytest.mark.slow

FORGED = "vindeby: FORGED"
EVIL = f"a\x1b]0;owned\x07\x1b[31m\x9b2J\u202eb\r\x0b\x85\u2028\n{FORGED}\x7f"
"""Retitles the terminal, colours and clears it, turns the direction, begins lines of its own."""
TURNED = "a\u202eb\u2066c"
"""The worst that a campaign may use as a name."""


class Terminal:
    """Runs commands in this process and looks at everything that they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def run(self, *words: str) -> tuple[int, str]:
        self._monkeypatch.setattr(sys, "argv", ["vindeby", *words])
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = self._capsys.readouterr()
        for text in (out, err):
            # Further lines of a text, such as a traceback, are indented; a message begins with the command's name.
            assert {letter for letter in text if not letter.isprintable()} <= {"\n", "\t"}, repr(text)
            assert not any(
                FORGED in line[: 2 * len(FORGED)] for line in text.split("\n") if line[:1] != " "
            ), text
        return status, out + err


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(capsys, monkeypatch)


def test_printable_text_is_left_as_it_is_and_the_rest_is_escaped() -> None:
    assert printable("Östersjön 北 x²\n\tend") == "Östersjön 北 x²\n\tend"
    assert one_line("a\nb\tc\x1b\x9b\u202e\udc80\U000e0001") == r"a\nb\tc\x1b\x9b\u202e\udc80\U000e0001"


def test_a_campaign_with_evil_names_is_checked(terminal: Terminal, tmp_path: Path) -> None:
    data = small()
    data["name"] = data["farms"][0]["name"] = data["turbines"][0]["name"] = TURNED
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(data))
    status, text = terminal.run("check", "c.yaml")
    assert (status, text.count(r"a\u202eb\u2066c")) == (0, 3)
    assert json.loads(terminal.run("check", "c.yaml", "--json")[1])["name"] == TURNED


@pytest.mark.parametrize(
    "broken",
    [
        {EVIL: 1},
        {"name": EVIL},
        {"seeds": EVIL},
        {"wake": EVIL},
        {"method": {"call": EVIL}},
        {"farms": [{"name": EVIL, "boundary": {"file": EVIL}}]},
        {"farms": [{"name": EVIL, "boundary": [[0, 0], [1, 1]]}]},
    ],
    ids=["key", "name", "value", "choice", "function", "file", "farm"],
)
def test_a_broken_campaign_is_explained_in_lines_of_its_own(
    broken: dict[str, object], terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(small() | broken))
    assert terminal.run("check", "c.yaml")[0] == 2
    assert terminal.run("run", "c.yaml", "-o", "o.h5")[0] == 2


def test_evil_yaml_that_cannot_be_parsed_is_explained(terminal: Terminal, tmp_path: Path) -> None:
    for number, text in enumerate(
        (f'"{EVIL}: [', '"\\e]0;a\\a": *b', "a: !\x9b b", "a: &\u202e b", "\x1b: ]")
    ):
        (tmp_path / f"{number}.yaml").write_text(text)
        assert terminal.run("check", f"{number}.yaml")[0] == 2


def test_evil_arguments_and_file_names_are_escaped_in_usage_errors(terminal: Terminal) -> None:
    assert terminal.run("check", "a.yaml", EVIL)[0] == 2
    assert terminal.run(EVIL)[0] == 2
    assert terminal.run("check", EVIL)[0] == 2
    assert terminal.run("init", EVIL)[0] == 2
    assert terminal.run("init", "iea37-cs1-16", os.fsdecode(b"\x80\x1b[31m.yaml"))[0] == 0
    for command in ("monitor", "missing", "merge", "validate", "show", "report"):
        assert terminal.run(command, EVIL, *(["k"] if command == "show" else []))[0] in {1, 2}, command
    assert terminal.run("salvage", EVIL, "-o", "o.h5")[0] in {1, 2}


def _foreign(path: Path) -> None:
    """A worker file of another script, with evil names, and attributes; one group is no result."""
    with h5py.File(path, "w") as file:
        file.attrs["made by\x1b[31m"] = EVIL
        for name in (EVIL, "farm0_t0_s0", "farm0_t0_s1\x1b[2J"):
            group = file.create_group(name)
            group["layout"] = np.arange(12.0).reshape(2, 6) * 1000
            group["aep"] = -1.0
            group.attrs["farm_idx"], group.attrs["type_idx"], group.attrs["ss_seed"] = 0, 0, 0
            group.attrs[EVIL] = EVIL
        file.create_group(f"no result {EVIL}")["nothing"] = np.arange(3)


def test_evil_groups_of_a_foreign_file_are_shown_escaped(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(small()))
    folder = tmp_path / "workers"
    folder.mkdir()
    evil = folder / os.fsdecode(f"w{EVIL.replace('/', '')}".encode() + b"\x80.h5")
    _foreign(evil)
    (folder / f"cut{EVIL}.h5").write_bytes(evil.read_bytes()[:3000])
    (folder / f"empty{EVIL}.h5").touch()
    given = ("--campaign", "c.yaml")
    assert terminal.run("validate", str(evil), *given)[0] == 1
    for command in ("validate", "missing", "monitor"):
        terminal.run(command, "workers", *given)
    assert terminal.run("missing", "workers", "--format", "csv", *given)[0] == 1
    for command in ("validate", "missing", "monitor"):
        out = terminal.run(command, "workers", *given, "--json")[1]
        json.loads(out[out.index("{" if command != "missing" else "[") :].partition("\nvindeby: ")[0])
    assert terminal.run("salvage", "workers", "-o", "saved.h5", *given)[0] == 1
    assert terminal.run("merge", "saved.h5", str(evil))[0] in {0, 1}
    assert terminal.run("validate", "saved.h5")[0] == 1


def test_evil_failures_coordinators_and_shards_of_a_run_are_shown_escaped(
    terminal: Terminal, tmp_path: Path
) -> None:
    asked = campaign(farm=TURNED)
    run = publish(tmp_path / "o.h5", asked, lambda task: task.seed == 1)
    events(run, [set_aside("farm1_t0_s0", f"ValueError: {EVIL}", log=f"{EVIL}.log", kind=EVIL)])
    state = {"time": time.time(), "trouble": EVIL, "ending": True, "workers": [{"slot": 0, "task": EVIL}]}
    (run.events / f"node-1{EVIL}.state.json").write_text(json.dumps(state))
    (run.shards / f"s{EVIL}.shard").write_bytes(b"no shard")
    for more in ([], ["--failures"], ["--by", "farm"], ["--json"]):
        assert terminal.run("monitor", "o.h5", *more)[0] == 0
    assert terminal.run("missing", "o.h5")[0] == 1
    assert terminal.run("validate", "o.h5")[0] == 1
    assert terminal.run("merge", "o.h5")[0] == 1
    assert terminal.run("merge", "o.h5", "--on-bad", "skip")[0] == 1
    assert terminal.run("show", "o.h5", "farm0", "-o", "a.png")[0] == 2
    assert terminal.run("report", "o.h5")[0] == 0


def test_evil_additions_to_a_database_are_shown_escaped(terminal: Terminal, tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign())
    with h5py.File(tmp_path / "o.h5", "r+") as file:
        file["farm0_t0_s0"].attrs[EVIL] = EVIL
        file[f"added {EVIL}"] = 1
        file[f"soft {EVIL}"] = h5py.SoftLink(f"/{EVIL}")
        file[f"out {EVIL}"] = h5py.ExternalLink(EVIL, "/x")
    terminal.run("validate", "o.h5")
    assert terminal.run("merge", "o.h5")[0] == 0


def test_evil_exceptions_of_a_function_are_shown_escaped(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "evil_module.py").write_text(f"def fail(task):\n    raise ValueError({EVIL!r} + '\\udc80')\n")
    data = small() | {"method": {"call": "evil_module:fail"}, "seeds": 1}
    data["farms"][0]["name"] = TURNED
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(data))
    status, text = terminal.run("run", "c.yaml", "-o", "o.h5", "-j", "1")
    assert (status, r"ValueError: a\x1b]0;owned" in text) == (1, True)
    assert terminal.run("missing", "o.h5")[0] == 1
    assert terminal.run("monitor", "o.h5", "--failures")[0] == 0
