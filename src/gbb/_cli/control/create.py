"""``gbb control create``: a controller for a graph and its arms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gbb import policies
from gbb._cli import options as opt
from gbb._cli.control.contexts import ContextsFile, contexts_of
from gbb._cli.control.links import LINK_WORDS, LinksFile, graph_beside, links_of
from gbb._cli.control.options import Storage
from gbb._cli.control.positions import PositionsFile, graph_at
from gbb._cli.control.safety import Safety
from gbb._cli.errors import reword
from gbb._cli.given.as_read import print_as_read, print_understood
from gbb._cli.given.graphs import CutName, GraphOptions, cut_of
from gbb._cli.given.instance import MEANING, EdgeArmBound, Feedback
from gbb._cli.given.policies import HORIZON_WORDS, SPEC, Horizon, Learner, RadiusName, read_policies
from gbb._cli.given.tables import read_arms
from gbb.problem import Problem

OWN_WORDS = {
    **HORIZON_WORDS,
    **LINK_WORDS,
    "Open it, or give another name.": "Use it as it is, or give another --name.",
}
"""What ``create`` calls things that the library, or another command, calls otherwise."""


def create(
    url: Storage,
    graph: opt.GraphSpec,
    *,
    arms: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="The arms, a CSV with names and features; names only, under arm, are one-hot arms.",
        ),
    ],
    name: Annotated[str, typer.Option(help="The controller's name.")] = "default",
    policy: Annotated[
        str, typer.Option(metavar="SPEC", help=f"The policy, {SPEC}.")
    ] = "ImprovedOFUL",
    horizon: Horizon = None,
    options: GraphOptions,
    cut: CutName = "best",
    links: LinksFile = None,
    positions: PositionsFile = None,
    contexts: ContextsFile = None,
    feedback: Feedback = "edge",
    sigma: Annotated[
        float | None, opt.option("Scale of the noise, >= 0.", "estimated", panel=opt.INSTANCE)
    ] = None,
    S: Annotated[
        float | None, opt.option("Bound on the norm of M*.", "estimated", panel=opt.INSTANCE)
    ] = None,
    L: EdgeArmBound = None,
    learner: Learner,
    radius: RadiusName = None,
    safety: Safety,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what was understood, and what is wrong; create nothing."
        ),
    ] = False,
) -> None:
    """Start a controller for a graph and its arms."""
    from gbb.controller import Controller

    seed = options.seed
    built = graph_at(positions, graph_beside(graph, options, links))
    read = read_arms(arms)
    with reword(OWN_WORDS):
        types, weights = links_of(links, built, undirected=options.undirected)
        settings = learner.settings(radius=radius, horizon=horizon)
        (spec,) = read_policies([policy], settings)
        estimates = policies.find(spec.name).estimates_scales and not safety.is_given
        unsaid = None if estimates else 1.0
        problem = Problem(
            built,
            read.features,
            L=L,
            S=unsaid if S is None else S,
            sigma=unsaid if sigma is None else sigma,
            arm_names=read.names,
            edge_types=types,
            edge_weights=weights,
            feedback=feedback,
            contexts=contexts_of(contexts),
        )
        inner = spec.build(problem, cut=cut_of(built, cut, seed), **settings)
        chosen = safety.hold_back(inner, **learner.settings())
    if dry_run:
        with reword(OWN_WORDS):
            Controller.rehearse(url, problem, chosen, seed, name=name)
        print_as_read(built, read)
        print_understood(problem, chosen)
        typer.echo(
            f"\nwould create {name!r}: {problem!r}, policy {chosen.name}; nothing is written"
        )
    else:
        with reword(OWN_WORDS), Controller.create(url, problem, chosen, seed, name=name) as made:
            typer.echo(f"created {name!r}: {made.problem!r}, policy {chosen.name}")
    if read.names_only:
        typer.echo(f"the arms have names only: one-hot, d = {len(read.features)}")
    missing = [key for key, given in (("S", S), ("sigma", sigma)) if given is None]
    if missing and estimates:
        what = f"{' and '.join(missing)} not given: estimated from what is told, as `status` says"
        typer.echo(f"{what}; asks, intervals and bounds depend on it; {MEANING}")
    elif missing:
        what = f"assumed {' and '.join(f'{key} = 1' for key in missing)}, not given"
        typer.echo(f"{what}: asks, intervals and bounds depend on it; {MEANING}")
