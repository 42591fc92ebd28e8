"""The campaign files that are shipped with the package, ready to run or to change: presets, and open cases.

``cases/`` holds what belongs to the open cases: ``index.yaml`` with the figures of each, the campaign files of those
that are not presets already, and the best layouts found by vindeby as tables.
"""

import difflib
import re
from importlib import resources

_SUFFIX = ".yaml"
CASE = "case:"
"""The prefix of an open case's name in place of a campaign file."""


def names() -> tuple[str, ...]:
    """Return the names of the presets."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


def cases() -> tuple[str, ...]:
    """Return the names of the open cases, which may stand for a campaign file: ``case:NAME``."""
    return tuple(f"{CASE}{name}" for name in re.findall(r"^([\w-]+):", case_file("index.yaml"), re.MULTILINE))


def known() -> tuple[str, ...]:
    """Return every name that stands for a campaign file."""
    return (*names(), *cases())


def case_file(name: str) -> str:
    """Return the text of a file of the open cases; empty if there is none of this name."""
    file = resources.files(__name__) / "cases" / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def text(name: str) -> str:
    """Return the campaign file of a preset or an open case, with its comments."""
    plain = name.removeprefix(CASE)
    own = case_file(f"{plain}{_SUFFIX}") if name.startswith(CASE) else ""
    return own or (resources.files(__name__) / f"{plain}{_SUFFIX}").read_text(encoding="utf-8")


def description(name: str) -> str:
    """Return the description of a preset in one line; the text is read without YAML, for help pages."""
    found = re.search(r"^description: (.*)$", text(name), re.MULTILINE)
    return found[1] if found else ""


def remedy(name: str) -> str:
    """Return the remedy to show for a preset or a case that does not exist."""
    known = {one.removeprefix(CASE): one for one in (cases() if name.startswith(CASE) else names())}
    close = difflib.get_close_matches(name.removeprefix(CASE), known, n=1, cutoff=0.5)
    is_case = name.startswith(CASE)
    listed = "list the cases with: vindeby cases" if is_case else f"the presets are: {', '.join(names())}"
    return f"did you mean {known[close[0]]!r}? {listed}" if close else listed
