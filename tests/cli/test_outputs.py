"""What ``-o`` may name, as the real command sees it: refused before anything is computed, without a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell
from tests.store.locks import held_by
from vindeby.store.disk.run_directory import RunDirectory

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def campaign(folder: Path) -> None:
    trace = {"trace": str(folder / "computed")}
    (folder / "c.yaml").write_text(one_cell(calling("slow", 2, trace)).dumps())


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("/dev/null", "vindeby: /dev/null: this is a character device"),
        ("fifo", "vindeby: fifo: this is a named pipe"),
        (".", "vindeby: .: is a folder"),
        ("n" * 300, "the name has 300 bytes"),
        (os.fsdecode(b"\xff\xfe.h5"), "\\xff\\xfe.h5: the name is not valid UTF-8"),
    ],
)
def test_an_output_that_cannot_become_a_database_is_refused_before_computing(
    tmp_path: Path, name: str, what: str
) -> None:
    campaign(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    before = {path.name for path in tmp_path.iterdir()}
    done = vindeby(tmp_path, "run", "c.yaml", "-o", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == before
    assert not Path("/dev/null.run").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "layout.csv", "--with", "study.yaml", "-o", "out.h5"),
        ("adopt", "layout.csv", "--campaign", "c.yaml", "-o", "out.h5"),
        ("salvage", "layout.csv", "-o", "out.h5"),
        ("validate", "layout.csv"),
        ("show", "layout.csv", "farm0_t0_s0"),
    ],
    ids=lambda words: words[0],
)
def test_a_file_of_another_format_is_refused_and_nothing_is_left_behind(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    campaign(tmp_path)
    (tmp_path / "layout.csv").write_text("x,y\n0,0\n900,0\n")
    (tmp_path / "study.yaml").write_text("name: study\n")
    before = {path.name for path in tmp_path.iterdir()}
    done = vindeby(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "vindeby: layout.csv: is named as a .csv file; name an HDF5 file, such as layouts.h5\n"
    )
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("command", ["monitor", "missing", "validate", "merge", "report"])
def test_a_name_that_is_too_long_is_refused_by_every_command(tmp_path: Path, command: str) -> None:
    done = vindeby(tmp_path, command, f"{'n' * 300}.h5")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "File name too long" in done.stderr or "the name has 303 bytes" in done.stderr


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign whose run directory holds what no run puts there, wherever a file is looked for."""
    folder = tmp_path_factory.mktemp("hostile")
    trace = {"trace": str(folder / "computed")}
    (folder / "c.yaml").write_text(one_cell(calling("slow", 2, trace)).dumps())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        assert vindeby(folder, "run", "c.yaml", "-o", "out.h5").returncode == 0
    run = RunDirectory(folder / "out.h5")
    nested = f'{{"event":"published","time":{"[" * 200_000}1{"]" * 200_000}}}\n'
    huge = f'{{"event":"set aside","task":"x","attempts":1e999,"time":1{"0" * 400}}}\n'
    for path in (
        run.events / "deep.jsonl",
        run.events / "deep.now.json",
        run.audit / "z.json",
    ):
        path.write_text(nested)
    (run.events / "huge.jsonl").write_text(huge)
    (run.events / "huge.now.json").write_text(huge.replace("set aside", "1", 1))
    with (run.events / "large.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    run.verdicts_file.unlink()
    for path in (
        run.events / "pipe.jsonl", run.events / "pipe.now.json", run.audit / "merge-z.json", run.verdicts_file,
        run.path / "slurm.json",
    ):  # fmt: skip
        os.mkfifo(path)
    return folder


@pytest.mark.parametrize("command", ["monitor", "missing", "report", "run"])
def test_odd_files_in_a_run_directory_neither_hang_nor_end_a_command(hostile: Path, command: str) -> None:
    words = ["run", "c.yaml", "-o", "out.h5"] if command == "run" else [command, "out.h5"]
    done = vindeby(hostile, *words, timeout_s=600.0)
    text = done.stdout + done.stderr
    assert (done.returncode, "Traceback" in text) == (0, False), text


def test_a_frozen_campaign_that_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "out.h5").create()
    os.mkfifo(run.campaign_file)
    done = vindeby(tmp_path, "monitor", "out.h5", timeout_s=600.0)
    assert done.returncode == 2
    assert "campaign.yaml: it is a named pipe (FIFO), not a regular file" in done.stderr


def test_the_same_command_by_a_link_goes_on_with_its_target(tmp_path: Path) -> None:
    campaign(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link.h5").symlink_to("real/target.h5")
    first = vindeby(tmp_path, "run", "c.yaml", "-o", "link.h5")
    assert first.returncode == 0, first.stderr
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["target.h5", "target.h5.run"]
    assert (tmp_path / "link.h5").is_symlink()
    second = vindeby(tmp_path, "run", "c.yaml", "-o", "real/target.h5")
    assert "2 results are there already" in second.stderr
    assert (tmp_path / "computed").read_text().count("\n") == 2
    seen = vindeby(tmp_path, "monitor", "link.h5")
    assert seen.returncode == 0, seen.stderr
    assert "2 of 2" in seen.stdout


def test_merge_takes_over_from_a_machine_that_is_gone_and_names_it(tmp_path: Path) -> None:
    campaign(tmp_path)
    assert vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5").returncode == 0
    held_by(RunDirectory(tmp_path / "out.h5").path / "merge.lock", host="node17", pid=42)
    done = vindeby(tmp_path, "merge", "out.h5", "--take-over")
    assert done.returncode == 0, done.stderr
    assert "process 42 on node17 holds it (merge) since" in done.stderr
    assert "it is taken over" in done.stderr
