from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_init_and_check import vindeby
from tests.results.examples import campaign, finished
from vindeby.cli.monitor import command
from vindeby.cli.quick import options_of
from vindeby.monitor.telling import tell

HEAVY = {"h5py", "matplotlib", "numba", "pydantic", "shapely", "typer", "yaml"}


@pytest.mark.parametrize("options", [[], ["--json"], ["--by", "farm,seed"], ["--seed=1"], ["--failures"]])
def test_monitor_loads_nothing_heavy(options: list[str], tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign())
    code = (
        "import sys\nfrom vindeby.cli import main\nmain()\n"
        "sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "monitor", str(tmp_path / "o.h5"), *options],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "numpy" in done.stderr.split()
    assert HEAVY & set(done.stderr.split()) == set()
    assert done.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["o.h5"], {"output": Path("o.h5")}),
        (["--watch", "o.h5", "--interval=0.5"], {"output": Path("o.h5"), "watch": True, "interval": 0.5}),
        (["o.h5", "--by", "farm", "--seed", "3"], {"output": Path("o.h5"), "by": "farm", "seed": 3}),
        (["o.h5", "--json", "--campaign=c"], {"output": Path("o.h5"), "json_": True, "campaign": "c"}),
    ],
)
def test_plain_words_are_understood(words: list[str], found: dict[str, Any]) -> None:
    assert options_of(tell, words) == found


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["o.h5", "p.h5"],
        ["o.h5", "--seed"],
        ["o.h5", "--seed", "x"],
        ["o.h5", "--json=1"],
        ["o.h5", "--output", "p.h5"],
        ["o.h5", "--nothing"],
        ["o.h5", "-j"],
        ["--", "o.h5"],
    ],
)
def test_other_words_are_left_to_typer(words: list[str]) -> None:
    assert options_of(tell, words) is None


def test_both_ways_know_the_same_options() -> None:
    one, other = (
        [(name, parameter.default) for name, parameter in inspect.signature(function).parameters.items()]
        for function in (tell, command)
    )
    assert one == other


def test_both_ways_say_the_same(tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign())
    quick = vindeby(tmp_path, "monitor", "o.h5", "--by", "seed")
    typed = vindeby(tmp_path, "monitor", "--by", "seed", "--", "o.h5")
    assert quick.returncode == typed.returncode == 0
    assert quick.stdout == typed.stdout
    assert json.loads(vindeby(tmp_path, "monitor", "--json", "--", "o.h5").stdout)["done"] == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["o.h5", "--nothing"], "No such option: --nothing"),
        (["o.h5", "--seed", "x"], "--seed"),
        (["o.h5", "--interval", "0"], "--interval: 0 is too short; give 0.1 seconds or more"),
        (["o.h5", "--interval", "nan"], "--interval: nan is too short"),
    ],
)
def test_mistakes_have_status_2_and_words(words: list[str], message: str, tmp_path: Path) -> None:
    done = vindeby(tmp_path, "monitor", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
