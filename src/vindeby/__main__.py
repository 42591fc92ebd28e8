"""``python -m vindeby`` is the command ``vindeby``."""

from vindeby.looking.cli import main

main()
