"""``gbb control``: ask and tell from the shell, from scripts and from any language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gbb import policies
from gbb._cli import options as opt
from gbb._cli.control import answers, changes, files
from gbb._cli.control.diagnose import diagnose
from gbb._cli.control.estimate import estimate
from gbb._cli.control.links import links_of
from gbb._cli.control.options import Format, Name, Storage, TrialNumber, opened, url_of
from gbb._cli.errors import worded
from gbb._cli.graphs import cut_of, graph_of
from gbb._cli.tables import read_arms
from gbb._support import checks
from gbb.problem import Problem

if TYPE_CHECKING:
    from gbb.controller import Trial

OWN_WORDS = {
    "`horizon`": "`--horizon`",
    "Give the horizon, or the number of exploring rounds as `exploration`.": "Say how many rounds "
    "are to come.",
    "`edge_types`": "`--links`",
    "`edge_weights`": "`--links`",
}
"""What ``create`` calls things that the library, or another command, calls otherwise."""

app = typer.Typer(
    help="Run a real network: ask what to play, tell what it paid, keep all of it.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command()
def create(  # noqa: PLR0917
    url: Storage,
    graph: opt.GraphSpec,
    arms: Annotated[
        Path,
        typer.Option("--arms", metavar="FILE", help="The arms, a CSV with names and features."),
    ],
    name: Annotated[str, typer.Option("--name", help="The controller's name.")] = "default",
    policy: Annotated[str, typer.Option("--policy", help="The policy.")] = "ImprovedOFUL",
    horizon: Annotated[
        int | None, typer.Option("--horizon", help="Rounds to come, for policies that must know.")
    ] = None,
    seed: opt.SeedNumber = 0,
    cut: opt.CutName = "greedy",
    p: opt.EdgeProbability = None,
    degree: opt.Degree = None,
    undirected: opt.Undirected = False,
    links: Annotated[
        Path | None,
        opt.option(
            "--links",
            panel=opt.INSTANCE,
            metavar="FILE",
            help="A CSV with the columns source, target, and type and/or weight.",
        ),
    ] = None,
    feedback: opt.Feedback = "edge",
    sigma: opt.Sigma = None,
    S: Annotated[
        float | None,
        opt.option("--S", panel=opt.INSTANCE, help="Bound on the norm of M*.", shown=1),
    ] = None,
    L: opt.EdgeArmBound = None,
    lam: opt.Lam = None,
    delta: opt.Delta = None,
    radius: opt.RadiusName = "paper",
) -> None:
    """Start a controller for a graph and its arms."""
    from gbb.controller import Controller  # noqa: PLC0415  (slow to import)

    built = graph_of(graph, p=p, degree=degree, undirected=undirected, seed=seed)
    features, names = read_arms(arms)
    bound, noise = (1.0 if S is None else S), (1.0 if sigma is None else sigma)
    with worded(OWN_WORDS):
        types, weights = links_of(links, built, undirected=undirected)
        problem = Problem(
            built,
            features,
            L=L,
            S=bound,
            sigma=noise,
            arm_names=names,
            edge_types=types,
            edge_weights=weights,
            feedback=feedback,
        )
        known = {kind.lower(): kind for kind in policies.classes()}
        settings: dict[str, Any] = {
            "lam": lam,
            "delta": delta,
            "radius": radius,
            "horizon": horizon,
        }
        chosen = policies.build(
            known.get(policy.lower(), policy),
            problem,
            cut=cut_of(built, cut, seed),
            **{key: value for key, value in settings.items() if value is not None},
        )
    with Controller.create(url_of(url), problem, chosen, seed, name=name) as controller:
        typer.echo(f"created {name!r}: {controller.problem!r}, policy {chosen.name}")
    assumed = [f"{key} = 1" for key, given in (("S", S), ("sigma", sigma)) if given is None]
    if assumed:
        typer.echo(
            f"assumed {' and '.join(assumed)}, as not given: asks, intervals and bounds rely on it"
        )


@app.command()
def ask(
    url: Storage,
    name: Name = None,
    trial: Annotated[
        int | None, typer.Option("--trial", help="Show this open trial again; ask for nothing.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", help="Ask for so many trials at once; 1 when left out."),
    ] = None,
    format: Format = "text",
) -> None:
    """What each agent should do next."""
    files.format_of(format)
    if trial is not None and count is not None:
        raise checks.input_error("ask", "have one of --trial and --count", "both")
    asked = 1 if count is None else count
    with opened(url, name) as controller:
        trials = controller.ask_many(asked) if trial is None else [controller.trial(trial)]
    data = [_trial(each) for each in trials]
    rows = [(t.id, t.round, *pair) for t in trials for pair in t.allocation.items()]
    title = f"trial {trials[0].id}" if len(trials) == 1 else f"{len(trials)} trials"
    columns = ("trial", "round", "agent", "arm")
    files.show(format, title, columns, rows, data=data[0] if len(data) == 1 else data)


def _trial(trial: Trial) -> dict[str, Any]:
    return {"trial": trial.id, "round": trial.round, "allocation": trial.allocation}


@app.command()
def tell(  # noqa: PLR0917
    url: Storage,
    trial: TrialNumber,
    rewards: Annotated[
        str | None,
        typer.Argument(
            metavar="[REWARDS]",
            help="CSV or JSON rows of source, target and reward (some edges or all), of agent and "
            "reward, or one number, whichever the feedback is; - reads them from standard input.",
        ),
    ] = None,
    fail: Annotated[bool, typer.Option("--fail", help="It was played and gave nothing.")] = False,
    abandon: Annotated[bool, typer.Option("--abandon", help="It was not played.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why it gave nothing.")] = "",
    name: Name = None,
) -> None:
    """What was paid when a trial was played."""
    if (rewards is not None) + fail + abandon != 1:
        raise checks.input_error(
            "tell", "have one of REWARDS, --fail and --abandon", "none or several"
        )
    if rewards is not None and reason:
        raise checks.input_error("--reason", "go with --fail or --abandon", "it with REWARDS")
    with opened(url, name) as controller:
        if rewards is not None:
            controller.tell(trial, files.rewards_from(rewards, controller.problem.feedback))
        else:
            (controller.fail if fail else controller.abandon)(trial, reason)
        status = controller.status()
    typer.echo(
        f"trial {trial} is closed; {status['rounds']} rounds told, {len(status['open'])} open"
    )


@app.command()
def attach(
    url: Storage,
    allocation: Annotated[
        str,
        typer.Argument(
            metavar="ALLOCATION", help="CSV of agent and arm, or JSON {agent: arm}; - reads it."
        ),
    ],
    rewards: Annotated[str, typer.Argument(metavar="REWARDS", help="CSV or JSON rows as in tell.")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The round's own name: attached again, it counts once."),
    ] = None,
    name: Name = None,
) -> None:
    """Learn from a round that was played elsewhere."""
    arms = files.allocation_from(allocation)
    with opened(url, name) as controller:
        given = files.rewards_from(rewards, controller.problem.feedback)
        controller.attach(arms, given, key=key)
        rounds = controller.status()["rounds"]
    typer.echo(f"attached; {rounds} rounds told")


for command in (
    changes.retract,
    changes.forbid,
    answers.recommend,
    estimate,
    answers.status,
    diagnose,
    answers.history,
    answers.export,
):
    app.command()(command)
