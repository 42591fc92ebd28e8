"""Styles and scripts for the browser, which ``report`` puts into its page and ``board`` serves as files.

Plain JavaScript, no build step, nothing from elsewhere. Text from a database reaches the page only as ``textContent``
or escaped; there is no ``innerHTML``.
"""

from importlib import resources

ASSETS = {
    "look.css": "text/css",
    "drawing.js": "text/javascript",
    "board.js": "text/javascript",
    "board.html": "text/html",
    "report.js": "text/javascript",
}
"""The files that are served, with their types; nothing else is served."""


def asset(name: str) -> str:
    """Return the text of a file of this folder."""
    if name not in ASSETS:
        raise KeyError(name)
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
