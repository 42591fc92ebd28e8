"""Look for turns of phrase that a native speaker would not write, in src/ and docs/.

    python scripts/check_english.py [PATH ...]

Prints FILE:LINE: what was found and what to write instead, and exits with 1 where anything was found. Lines that
contain ``english: ok`` are skipped.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PATTERNS = {
    r"(?<![Tt]here )\b(is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|other\b|better\b|worse\b|larger\b|"
    r"smaller\b|slower\b|faster\b|farther\b|further\b|different\b|matter\b|such\b|room\b)": 'write "is not a"',
    r"\bis not said\b": 'write "the file does not say", or "is missing"',
    r"\d[\w ,.]* a second\b|(?<!once) a second[.,;:)|]": 'write "per second"',
    r"\btold\b(?! apart)": 'write "reported" or "said"; in code, name what it holds',
}
"""By pattern, what to write instead."""

SUFFIXES = (".py", ".md", ".yaml")
SKIPPED = "english: ok"


def findings(path: Path) -> list[str]:
    """What is found in one file, as lines to print."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        f"{path}:{number}: {match[0].strip()!r}: {instead}"
        for number, line in enumerate(lines, start=1)
        if SKIPPED not in line
        for pattern, instead in PATTERNS.items()
        for match in re.finditer(pattern, line)
    ]


def main(roots: list[str]) -> int:
    """Check the files under these folders; the exit status."""
    files = [
        path
        for root in map(Path, roots or ["src", "docs"])
        for path in ([root] if root.is_file() else sorted(root.rglob("*")))
        if path.suffix in SUFFIXES
    ]
    found = [text for path in files for text in findings(path)]
    print("\n".join(found) if found else f"{len(files)} files: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
