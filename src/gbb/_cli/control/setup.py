"""``gbb control replace-graph | set-policy | discount``: what is played, and what it starts from."""

from __future__ import annotations

from typing import Annotated

import typer

from gbb import cuts, policies
from gbb._cli import options as opt
from gbb._cli.control.links import LINK_WORDS, LinksFile, graph_beside, links_of
from gbb._cli.control.options import Name, Storage, open_controller
from gbb._cli.control.safety import Safety
from gbb._cli.errors import reword
from gbb._cli.given.graphs import GraphOptions, cut_of
from gbb._cli.given.policies import HORIZON_WORDS, SPEC, Horizon, Learner, RadiusName, read_policies
from gbb._cli.show import counted

CutName = Annotated[
    str | None,
    opt.option(
        f"Cut method, for a policy that has one: {', '.join(cuts.methods())}.",
        "best",
        panel=opt.GRAPH,
    ),
]


def replace_graph(
    url: Storage,
    graph: opt.GraphSpec,
    *,
    name: Name = None,
    options: GraphOptions,
    links: LinksFile = None,
    cut: CutName = None,
) -> None:
    """Play on another graph and keep what was learnt; agents go by their names."""
    built = graph_beside(graph, options, links)
    chosen = None if cut is None else cut_of(built, cut, options.seed)
    cure = {"Pass one for each directed edge.": "Give them in a file, --links."}
    with reword({**LINK_WORDS, **cure}), open_controller(url, name) as controller:
        types, weights = links_of(links, built, undirected=options.undirected)
        controller.replace_graph(built, edge_types=types, edge_weights=weights, cut=chosen)
        status = controller.status()
    typer.echo(
        f"plays on {built.n} agents and {built.m} directed edges; "
        f"{counted(status['rounds'], 'round')} told before still "
        f"{'counts' if status['rounds'] == 1 else 'count'}, "
        f"{counted(len(status['open']), 'trial')} open"
    )


def set_policy(
    url: Storage,
    policy: Annotated[str, typer.Argument(metavar="POLICY", help=f"The policy, {SPEC}.")],
    *,
    name: Name = None,
    horizon: Horizon = None,
    cut: CutName = None,
    learner: Learner,
    radius: RadiusName = None,
    safety: Safety,
) -> None:
    """Let another policy choose, from everything told so far; or the same with other settings."""
    settings = learner.settings(radius=radius, horizon=horizon)
    with reword({"--policy": "POLICY", **HORIZON_WORDS}):
        (spec,) = read_policies([policy], settings)
    words = {f"`{key}`": f"`{spec.name}:{key}`" for key in spec.settings}
    with reword({**words, **HORIZON_WORDS}), open_controller(url, name) as controller:
        if cut is not None:
            settings["cut"] = cut_of(controller.problem.graph, cut, 0)
        if safety.is_given or "baseline" in policies.setting_names(spec.name):
            own = {"cut": cut_of(controller.problem.graph, "best", 0), **settings}
            inner = spec.build(controller.problem, **own)
            controller.set_policy(safety.hold_back(inner, **learner.settings()))
        else:
            controller.set_policy(spec.name, **{**settings, **spec.settings})
        now, rounds = controller.policy, controller.status()["rounds"]
    typer.echo(f"{now.name} chooses from now on; it has learnt from {counted(rounds, 'round')}")


def discount(
    url: Storage,
    factor: Annotated[
        float, typer.Argument(metavar="FACTOR", help="What the weight is multiplied by, (0, 1].")
    ],
    name: Name = None,
) -> None:
    """Let everything told so far count less from now on."""
    with open_controller(url, name) as controller:
        controller.discount(factor)
        rounds = controller.status()["rounds"]
    verb = "counts" if rounds == 1 else "count"
    typer.echo(
        f"the {counted(rounds, 'round')} told so far {verb} {factor:g} times as much as before"
    )
