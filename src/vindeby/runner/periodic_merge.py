"""Merges while a campaign runs (``run: {merge_every_s: 300}``), for those who read OUT.h5 and know nothing of shards.

Each merge is a process of its own, so that neither the workers nor the coordinator wait for it; one at a time, and none
while nothing new was published. It takes the lock that every merge takes. A failure is reported and does
not end the run: the shards stay where they are, and the merge at the end of the run has the last word. Killed at any
moment, it leaves the old OUT.h5 or the new one, like every merge.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from vindeby.assembly.merging import merge_options
from vindeby.campaign import Campaign
from vindeby.errors import BusyError, VindebyError
from vindeby.runner.processes import die_with_parent, start_python
from vindeby.runner.protocol import how_it_ended
from vindeby.store.disk.events import EventLog
from vindeby.store.disk.lock import Lock, is_held_by
from vindeby.store.disk.run_directory import RunDirectory, read_verdicts
from vindeby.store.merge.merge import MergeOptions, merge

_TAIL = 4_000


class PeriodicMerger:
    """Starts a merge every so many seconds, and notes how it ended."""

    def __init__(
        self,
        directory: RunDirectory,
        every_s: float,
        log: EventLog,
        say: Callable[[str], None],
        lock: Lock,
    ) -> None:
        self._directory, self._every_s, self._log, self._say = directory, every_s, log, say
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        """What the process writes to its standard error: a file, because nobody reads a pipe before it ends."""
        self._due = time.monotonic() + every_s
        self._merged = 0

    def look(self, published: int) -> None:
        """Called again and again: start a merge when it is time and there is something new, or note its end."""
        if self._process is not None:
            if self._process.poll() is not None:
                self._note_end(self._process)
        elif time.monotonic() >= self._due and published > self._merged:
            self._merged = published
            self._start()

    def _start(self) -> None:
        self._due = time.monotonic() + self._every_s
        arguments = self._directory.output, self._lock.path, self._lock.token
        try:
            self._words = self._words or tempfile.TemporaryFile()  # noqa: SIM115 - closed in ``close``
            self._words.truncate(self._words.seek(0))
            self._process = start_python(
                "vindeby.runner.periodic_merge",
                sys.path,
                *arguments,
                stdout=subprocess.DEVNULL,
                stderr=self._words,
            )
        except OSError as error:
            self._note_failure(f"cannot be started: {error.strerror}")
        else:
            self._log.write("merge started", pid=self._process.pid)

    def _note_end(self, process: subprocess.Popen[bytes]) -> None:
        self._process = None
        self._due = time.monotonic() + self._every_s
        assert self._words is not None
        self._words.seek(0)
        words = self._words.read()[-_TAIL:].decode(errors="replace").strip()
        if process.returncode == 0:
            self._log.write("merged", results=self._merged)
        else:
            self._merged = -1  # what it should have merged is still to be merged
            self._note_failure(words or how_it_ended(process.returncode))

    def _note_failure(self, reason: str) -> None:
        self._log.write("merge failed", reason=reason)
        self._say(
            f"results were not merged, the run goes on and tries again in {self._every_s:g} s: {reason}"
        )

    def close(self) -> None:
        """The run is over: its own merge does all that a merge which is still running would do."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._words is not None:
            self._words.close()


def main() -> None:
    """The entry of the process: merge into the database at ``argv[2]``, for the run that holds the lock at ``argv[3]``.

    ``argv[4]`` is the token that the run holds it with.
    """
    die_with_parent()
    output, lock, token = sys.argv[2:5]
    try:
        merge_now(RunDirectory(Path(output)), Path(lock), token)
    except VindebyError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


def merge_now(run: RunDirectory, lock: Path, token: str) -> None:
    """Merge what is there, for the campaign that is frozen in the run directory, while its run holds the lock.

    What the run found invalid when it began is kept in the run directory; what it publishes is checked before.
    """

    def confirm() -> None:
        if not is_held_by(lock, token):
            raise BusyError(f"{run.output}: another process has taken over {lock}; nothing was changed")

    confirm()
    text = run.campaign_text() or ""
    campaign = Campaign.loads(text, str(run.campaign_file))
    invalid = read_verdicts(run, text).invalid
    merge(run, merge_options(campaign, MergeOptions(on_bad="skip", confirm=confirm), invalid=invalid.keys()))
