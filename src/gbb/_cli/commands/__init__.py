"""All commands of ``gbb``: where each stands, and the line of help that lists it."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_group

import gbb
from gbb._cli.on_demand import Places, add_commands

PLACES: Places = {
    "compare": (
        "commands.compare",
        "Play policies on the same instances with the same seeds, side by side.",
    ),
    "inspect": (
        "commands.inspect",
        "Show a graph and its cut; with --matrix also the theory report.",
    ),
    "simulate": ("commands.simulate", "Play policies on an instance and sum up what they earned."),
    "sweep": ("commands.sweep", "Play policies on many instances, on one machine or a cluster."),
    "cut": ("commands.solvers", "Cut a graph in parts so that many edges run between them."),
    "optimum": (
        "commands.solvers",
        "Find the best allocation for a known matrix, and say what is proven of it.",
    ),
    "warm": ("commands.warm", "Compile ahead what is usually played."),
    "control": (
        "control",
        "Run a real network: ask what to play, tell what it paid, keep all of it.",
    ),
    "serve": (
        "commands.serve",
        "Let others ask and tell over HTTP, and watch a network on a page; who may do what.",
    ),
    "demo": ("commands.demo", "Control a real simulator: each demo needs an extra of its own."),
    "paper": ("commands.paper", "Reproduce the paper's Table 1, Figure 1 and Figure 2."),
}


def commands() -> TyperGroup:
    """The group ``gbb``, of which only the command that is called will be imported."""
    app = typer.Typer(
        name="gbb",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(gbb_command)
    return add_commands(get_group(app), PLACES)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gbb {gbb.__version__}")
        raise typer.Exit


def gbb_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Graphical bilinear bandits: one arm per agent of a network, rewards on its links."""
