"""Read real files of other tools and compare what is found with what their own libraries find.

    python scripts/check_formats.py FOLDER

FOLDER holds ``windio/`` and ``formats/``, each with an ``expected.json``. Prints one line per file, all lines of what
does not hold, and exits with 1 if anything does not.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from pathlib import Path

PARTS = ("windio", "files", "boundaries", "engines")
"""Modules of ``scripts/formats``, each with ``checks(folder) -> Iterator[Check]``."""


def main(folder: Path) -> int:
    if not folder.is_dir():
        print(f"{folder}: is not a folder; name the one that holds windio/ and formats/", file=sys.stderr)
        return 2
    failed = 0
    for part in PARTS:
        held: Counter[str] = Counter()
        for check in importlib.import_module(f"formats.{part}").checks(folder):
            held[check.file] += check.holds
            if not check.holds:
                failed += 1
                print(f"NOT {check.file}: {check.what}: expected {check.expected}, found {check.found}")
        for file, count in held.items():
            print(f"{part}: {file}: {count} hold")
    print(f"{failed} do not hold" if failed else "everything holds")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1]).resolve()))  # files name each other, also from folders elsewhere
