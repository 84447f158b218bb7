"""``python -m gbb`` is the command ``gbb``."""

from gbb.cli import main

main()
