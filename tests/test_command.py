"""Commands of tests that are copies of a process behave as those that a user starts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import command
from tests.campaign.examples import SMALL
from tests.command import Server, vindeby

pytestmark = pytest.mark.slow

TELLS = """#!{python}
import os, sys
print(os.getcwd(), sys.argv, sys.path[0], __name__)
print("told", file=sys.stderr)
known = "arrays campaign errors lazy parameters readers text units _version".split()
print([name for name in sys.modules if name.startswith("vindeby.") and name.split(".")[1] not in known])
if sys.argv[1] == "die":
    os.kill(os.getpid(), 11)
if sys.argv[1] == "hang":
    sys.stdout.flush()
    import time
    time.sleep(1000)
if sys.argv[1] == "raise":
    raise BrokenPipeError("a mistake")
import atexit
atexit.register(print, "last words")
sys.exit(sys.argv[1])
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.end()


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for the installed command."""
    path = tmp_path / "bin" / "tells"
    path.parent.mkdir()
    path.write_text(TELLS.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setattr(command, "INSTALLED", str(path))
    return path


@pytest.mark.parametrize("words", [("why?", "ø"), ("",), ("die",)])
def test_a_copy_does_what_a_fresh_process_does(
    words: tuple[str, ...], server: Server, script: Path, tmp_path: Path
) -> None:
    started = subprocess.run([str(script), *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    copied = server.run(tmp_path, words, 60.0)
    assert (copied.returncode, copied.stdout, copied.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )
    assert started.returncode == (-11 if words == ("die",) else 1)


def test_arguments_longer_than_one_message_arrive_whole(server: Server, script: Path, tmp_path: Path) -> None:
    long = "x" * 3_000_000
    done = server.run(tmp_path, ("0", long), 60.0)
    assert done.returncode == 1
    assert long in done.stdout


def test_an_error_ends_a_copy_with_its_traceback(server: Server, script: Path, tmp_path: Path) -> None:
    done = server.run(tmp_path, ("raise",), 60.0)
    assert done.returncode == 1
    assert done.stderr.startswith("told\nTraceback (most recent call last):\n")
    assert done.stderr.endswith("BrokenPipeError: a mistake\n")


def test_a_copy_that_hangs_is_killed_and_the_next_one_works(
    server: Server, script: Path, tmp_path: Path
) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        server.run(tmp_path, ("hang",), 0.5)
    assert str(caught.value.stdout).startswith(str(tmp_path))
    assert server.run(tmp_path, ("0",), 60.0).stderr == "told\n0\n"


def test_the_first_command_in_an_environment_is_started_and_the_next_is_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = command._Servers()
    monkeypatch.setattr(command, "_SERVERS", servers)
    (tmp_path / "c.yaml").write_text(SMALL)
    monkeypatch.setenv("VINDEBY_MARK", str(tmp_path))
    started = vindeby(tmp_path, "check", "c.yaml")
    assert servers._servers == {}
    copied = vindeby(tmp_path, "check", "c.yaml")
    (server,) = servers._servers.values()
    assert (copied.returncode, copied.stdout, copied.stderr) == (0, started.stdout, started.stderr)
    assert servers.get() is server
    with server.busy:
        assert servers.get() is None
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "another")
    assert servers.get() is server
    monkeypatch.setenv("VINDEBY_MARK", "another")
    assert servers.get() is None
    monkeypatch.setattr(command, "_MOST_SERVERS", 1)
    assert servers.get() is not server
    assert server._process.returncode == 0
    servers.end()


def test_a_copy_has_no_hold_on_the_connection_of_its_server(
    server: Server, script: Path, tmp_path: Path
) -> None:
    """What a command leaves running would otherwise keep the connection open after the server has ended."""
    script.write_text(
        f"#!{sys.executable}\n"
        "import os, pathlib\n"
        "descriptors = [pathlib.Path('/proc/self/fd', name) for name in os.listdir('/proc/self/fd')]\n"
        "print([os.readlink(path) for path in descriptors if path.is_socket()])\n"
    )
    assert server.run(tmp_path, (), 60.0).stdout == "[]\n"


def test_of_too_many_servers_the_one_ends_that_was_not_used_for_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []

    class Named:
        def __init__(self) -> None:
            self.name, self.busy = os.environ["VINDEBY_MARK"], threading.Lock()

        def end(self) -> None:
            ended.append(self.name)

    monkeypatch.setattr(command, "Server", Named)
    monkeypatch.setattr(command, "_MOST_SERVERS", 2)
    servers = command._Servers()

    def use(name: str) -> None:
        monkeypatch.setenv("VINDEBY_MARK", name)
        servers.get()

    for name in ("a", "a", "b", "b", "a", "c"):  # the first in an environment has no server
        use(name)
    assert ended == []
    use("c")
    assert ended == ["b"]
    use("b")
    assert ended == ["b", "a"]
    servers.end()
    assert ended == ["b", "a", "c", "b"]
