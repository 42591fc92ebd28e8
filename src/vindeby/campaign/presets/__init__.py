"""The campaign files that are shipped with the package, ready to run or to change."""

import difflib
import re
from importlib import resources

_SUFFIX = ".yaml"


def names() -> tuple[str, ...]:
    """The presets there are."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


def text(name: str) -> str:
    """A preset's campaign file, comments and all."""
    return (resources.files(__name__) / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def description(name: str) -> str:
    """What a preset is, in one line; read without YAML, for help pages."""
    found = re.search(r"^description: (.*)$", text(name), re.MULTILINE)
    return found[1] if found else ""


def remedy(name: str) -> str:
    """What to say to somebody who asked for a preset that is not there."""
    close = difflib.get_close_matches(name, names(), n=1, cutoff=0.5)
    known = f"the presets are: {', '.join(names())}"
    return f"did you mean {close[0]!r}? {known}" if close else known
