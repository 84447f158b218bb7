"""The command line: argument parsing only; each command has its own file in ``_cli``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import gbb
from gbb._cli.errors import exit_code_of


def commands() -> typer.Typer:
    """All commands; their help lists what is found in the folders, so that may fail."""
    from gbb._cli.compare import compare  # noqa: PLC0415
    from gbb._cli.control import app as control  # noqa: PLC0415
    from gbb._cli.demo import app as demo  # noqa: PLC0415
    from gbb._cli.inspect import inspect  # noqa: PLC0415
    from gbb._cli.paper import app as paper  # noqa: PLC0415
    from gbb._cli.simulate import simulate  # noqa: PLC0415
    from gbb._cli.solvers import cut, optimum  # noqa: PLC0415

    app = typer.Typer(
        name="gbb",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(gbb_command)
    app.command("compare")(compare)
    app.command("inspect")(inspect)
    app.command("simulate")(simulate)
    app.command("cut")(cut)
    app.command("optimum")(optimum)
    app.add_typer(control, name="control")
    app.add_typer(demo, name="demo")
    app.add_typer(paper, name="paper")
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gbb {gbb.__version__}")
        raise typer.Exit


def gbb_command(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Graphical bilinear bandits: one arm per agent of a network, rewards on its links."""


def main(args: Sequence[str] | None = None) -> None:
    """Run ``gbb``; what goes wrong is one line on standard error and exit code 2."""
    given = list(sys.argv[1:] if args is None else args) or ["--help"]
    sys.exit(exit_code_of(lambda: commands()(given, prog_name="gbb", standalone_mode=False)))
