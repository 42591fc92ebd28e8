"""The command ``vindeby``: one file per command, and one place where errors become messages and exit statuses.

Each module named in ``COMMANDS`` has a typer function ``command``. Only the module of the command that was asked
for is loaded, so that ``vindeby check`` does not wait for what only ``vindeby merge`` needs.
"""

from __future__ import annotations

import gc
import os
import sys

from vindeby.errors import VindebyError

COMMANDS = (
    "init",
    "check",
    "run",
    "monitor",
    "missing",
    "merge",
    "validate",
    "salvage",
    "show",
    "report",
    "board",
)
"""In the order in which a campaign uses them, which is the order of the help page."""


def main() -> None:
    """Run the command line; turn what vindeby raises on purpose into a message and an exit status."""
    try:
        _run(sys.argv[1:])
    except VindebyError as error:
        sys.stderr.write("".join(f"vindeby: {line}\n" for line in str(error).splitlines()))
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader of stdout went away (`vindeby check c.yaml | head`): nothing is left to say, and nowhere to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        from vindeby.cli.system_errors import as_vindeby_error

        known = as_vindeby_error(error)
        sys.stderr.write(f"vindeby: {known}\n")
        sys.exit(known.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)


def _run(words: list[str]) -> None:
    if words[:1] == ["monitor"]:
        os.environ.setdefault(
            "OPENBLAS_NUM_THREADS", "1"
        )  # it is over before threads for linear algebra would pay
    gc.disable()  # what is loaded stays, so that searching it for garbage is lost time
    from vindeby.cli.app import build  # loads typer, and what typer loads

    app = build(words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS)
    gc.freeze()
    gc.enable()
    app()
