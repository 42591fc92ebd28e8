"""``run: {notify: COMMAND}``: a command that is run when a run has ended, in whatever way.

Environment variables say how. It has a time limit, and whatever becomes of it, the run ends as it did: a
command that fails is a warning.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vindeby.errors import BusyError, StoppedError
from vindeby.runner.summary import Summary
from vindeby.runner.task_executor import one_line as text_of
from vindeby.text import one_line

LONGEST_S = 60.0
_LONGEST_REASON = 4000
_TRUST = "will be executed when this run ends, and may do whatever you may do; run only campaign files that you trust"


class Ending:
    """How a run ended, as far as it is known; the run sets ``summary`` when it has one."""

    summary: Summary | None = None

    def variables(self, name: str, output: Path, error: BaseException | None) -> dict[str, str]:
        """The environment variables of the command."""
        summary = self.summary
        if error is None:
            state = "complete" if summary is not None and summary.complete else "incomplete"
        else:
            state = "stopped" if isinstance(error, StoppedError | KeyboardInterrupt) else "failed"
        return {
            "VINDEBY_STATE": state,
            "VINDEBY_CAMPAIGN": name,
            "VINDEBY_OUTPUT": str(output.absolute()),
            "VINDEBY_TOTAL": "" if summary is None else str(summary.total),
            "VINDEBY_DONE": "" if summary is None else str(summary.safe),
            "VINDEBY_FAILED": "" if summary is None else str(len(summary.all_failed)),
            "VINDEBY_REASON": "" if error is None else one_line(text_of(error))[:_LONGEST_REASON],
        }


@contextmanager
def notifying(
    command: str | Sequence[str] | None, name: str, output: Path, say: Callable[[str], None]
) -> Iterator[Ending]:
    """Run a command (a list of arguments, or text that is split as a shell would) when what is inside has ended."""
    ending, raised = Ending(), None
    arguments = shlex.split(command) if isinstance(command, str) else [*(command or ())]
    if arguments:
        say(f"run.notify: {shlex.join(arguments)} {_TRUST}")
    try:
        yield ending
    except BaseException as error:
        raised = error
        raise
    finally:
        is_another = isinstance(raised, BusyError) and ending.summary is None  # which notifies when it ends
        if arguments and not is_another:
            problem = _run(arguments, ending.variables(name, output, raised))
            if problem:
                say(f"warning: run.notify: {shlex.join(arguments)} {problem}")


def _run(arguments: list[str], variables: dict[str, str]) -> str:
    """Run the command; what is wrong with how it went, or nothing. What it prints goes to standard error."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the campaign's own command, announced before
            arguments, stdin=subprocess.DEVNULL, stdout=2, env=os.environ | variables, start_new_session=True
        )
    except (OSError, ValueError) as error:
        return f"cannot be started: {error}"
    try:
        status = process.wait(LONGEST_S)
    except BaseException as error:
        with suppress(ProcessLookupError):  # with everything that it started
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            return f"was ended after {LONGEST_S:g} s"
        if isinstance(error, KeyboardInterrupt):
            return "was ended, as the user asked for"
        raise
    return f"ended with status {status}" if status else ""
