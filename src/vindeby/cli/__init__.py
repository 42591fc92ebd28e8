"""The command ``vindeby``: one file per command, and one place where errors become messages and exit statuses.

Each module named in ``COMMANDS`` has a typer function ``command``. Only the module of the requested command is loaded,
and it imports what it computes with inside its functions, so that help pages and shell completion stay fast.
"""

import gc
import io
import os
import sys

from vindeby.errors import VindebyError
from vindeby.text import one_line

COMMANDS = {
    "init": "Write a campaign file to start from.",
    "check": "Check a campaign file, and list what it would run.",
    "run": "Run what is missing, then merge and validate.",
    "slurm": "Run a campaign as an array of SLURM jobs.",
    "monitor": "Show the progress of a campaign.",
    "missing": "List what has no valid result, and why.",
    "merge": "Merge finished results into the database.",
    "validate": "Check every result of a database.",
    "salvage": "Save results from damaged or foreign files.",
    "adopt": "Take over the run of an older script, and check it.",
    "show": "Draw layouts, or the campaign.",
    "pareto": "List the front of a campaign with two objectives.",
    "query": "List the results that a condition is true for.",
    "diff": "Compare the results of two databases.",
    "evaluate": "Evaluate stored layouts in other wind or among neighbours.",
    "report": "Write one HTML page about a campaign.",
    "board": "Show a campaign in the browser while it runs.",
    "export": "Write results in a format that other tools read.",
    "doctor": "Check what this machine offers a campaign.",
    "schema": "Print the campaign file as a JSON schema.",
    "cases": "List open cases and records, and score layouts.",
}
"""The help line of each command, in the order of the help page, which is the order in which a campaign uses them."""


def main() -> None:
    """Run the command line; turn the errors that vindeby raises into a message and an exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # never fail on what a terminal cannot show
    try:
        _run(sys.argv[1:])
    except VindebyError as error:
        sys.stderr.write("".join(f"vindeby: {one_line(str(line))}\n" for line in error.args))
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader of stdout went away (`vindeby check c.yaml | head`): nothing is left to say, and nowhere to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        from vindeby.cli.app import as_vindeby_error

        known = as_vindeby_error(error)
        sys.stderr.write(f"vindeby: {one_line(str(known))}\n")
        sys.exit(known.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)


def _run(words: list[str]) -> None:
    if words[:1] == ["monitor"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # too short a command for threads to pay off
    gc.disable()  # what is loaded stays, so that collecting garbage only costs time
    from vindeby.cli.app import run_app  # loads typer, and what typer loads

    run_app(words)
