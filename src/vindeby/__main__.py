"""``python -m vindeby`` is the command ``vindeby``."""

from vindeby.cli import main

main()
