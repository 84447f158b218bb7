"""The entry point of ``gbb``: nearly nothing is imported before an interrupt can be answered."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import gbb
from gbb._cli.loading import handling, loading


def main(args: Sequence[str] | None = None) -> None:
    """Run ``gbb``; what goes wrong is one line on standard error and exit code 2.

    ``gbb control watch`` exits with 3 then, as 2 is its code for critical alerts.
    """
    given = list(sys.argv[1:] if args is None else args) or ["--help"]
    if given == ["--version"]:  # without the parser, which takes longer to load than to answer
        sys.stdout.write(f"gbb {gbb.__version__}\n")
        sys.exit(0)
    with handling():
        with loading():
            from gbb._cli.commands import commands
            from gbb._cli.errors import BAD_INPUT, UNKNOWN, exit_code_of
        bad_input = UNKNOWN if given[:2] == ["control", "watch"] else BAD_INPUT
        code = exit_code_of(
            lambda: commands()(given, prog_name="gbb", standalone_mode=False), bad_input
        )
    sys.exit(code)
