"""``gbb simulate``: policies played on an instance."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gbb import optimum, policies
from gbb._cli import options as opt
from gbb._cli.commands.summary import summary
from gbb._cli.errors import warn
from gbb._cli.given.graphs import cut_of, graph_of
from gbb._cli.given.instance import InstanceOptions, draw_environment
from gbb._cli.given.outputs import check_output
from gbb._cli.given.policies import Learner, RadiusName, policies_option, read_own_policies
from gbb._cli.given.results import Results, say_written
from gbb._cli.given.tables import write_matrix
from gbb._cli.show import around, as_json, console, grid, number
from gbb._support import checks
from gbb.environment import Environment
from gbb.simulation import simulate as play
from gbb.theory import check_assumptions

if TYPE_CHECKING:
    import xarray as xr

DEFAULT = ("OFUL", "ImprovedOFUL", "ExploreThenCommit")


def simulate(
    graph: opt.GraphSpec,
    *,
    policy: Annotated[list[str] | None, policies_option(DEFAULT)] = None,
    rounds: opt.Rounds = 1000,
    runs: Annotated[int, opt.option("Independent runs of each policy.", 1, panel=opt.RUN)] = 1,
    record: Annotated[
        str, opt.option("Keep every K-th round.", 1, metavar="K|log", panel=opt.RUN)
    ] = "1",
    reference: Annotated[
        bool, opt.option("Play edge by edge, by the plain Python loop.", panel=opt.RUN)
    ] = False,
    cuda: opt.Cuda = False,
    workers: Annotated[
        int | None, opt.option("Threads for the runs.", "all cores", panel=opt.RUN)
    ] = None,
    results: Results,
    save_matrix: Annotated[
        Path | None,
        opt.option("Write the M* that was drawn (.csv).", metavar="FILE", panel=opt.RUN),
    ] = None,
    json: opt.Json = False,
    instance: InstanceOptions,
    learner: Learner,
    radius: RadiusName = None,
    unknown: Annotated[
        bool,
        opt.option(
            "Tell the learner neither --sigma nor S; it estimates both.", panel=opt.INSTANCE
        ),
    ] = False,
) -> None:
    """Play policies on an instance and sum up what they earned.

    The matrix M* is read from --matrix, or drawn: absolute values of standard
    normals. Without --S the learner is told the Frobenius norm of M* itself.
    """
    results.check()
    if cuda and reference:
        raise checks.conflict("`--cuda` and `--reference` cannot be combined.")
    check_output("--save-matrix", save_matrix, (".csv",))
    if save_matrix is not None and instance.draw.own_matrices:
        raise checks.conflict("`--save-matrix` writes one matrix: leave out `--own-matrices`.")
    if save_matrix is not None and instance.files.matrix is not None:
        raise checks.conflict("`--save-matrix` writes a random matrix: leave out `--matrix`.")
    every = _record(record)
    seed, built = instance.graph.seed, graph_of(graph, instance.graph)
    env = draw_environment(built, instance, seed, unknown=unknown)
    checks.integer("rounds", rounds, low=1)
    given = learner.settings(radius=radius)
    specs = read_own_policies(policy or _default(env), given)
    shared = {**given, "cut": cut_of(built, instance.cut, seed), "horizon": rounds}
    chosen = [spec.build(env.problem, name=spec.label, **shared) for spec in specs]
    best = optimum.solve(env.problem, env.M_star)
    if results.plot is not None and best.value <= 0:
        raise checks.input_error(
            "--plot", "have a positive optimum to draw fractions of", best.value
        )
    result = play(
        env,
        chosen,
        rounds=rounds,
        runs=runs,
        seed=seed,
        record=every,
        optimum=best,
        progress=sys.stderr.isatty(),
        method="reference" if reference else "cuda" if cuda else "engine",
        workers=workers,
    )
    if env.problem.has_one_matrix and not unknown:
        _warn_of_assumptions(env)
    if save_matrix is not None:
        write_matrix(env.M_star, save_matrix)
    results.write(result)
    rows = summary(result)
    if json:
        typer.echo(as_json({"attributes": _plain(result.attrs), "policies": rows}))
    else:
        _print(graph, result, rows)
        _say_assumed(env, instance)
        say_written(save_matrix, results.out, results.plot)


def _default(env: Environment) -> tuple[str, ...]:
    """The paper's policies, those of them that play the problem."""
    return tuple(name for name in DEFAULT if policies.find(name).plays(env.problem))


def _say_assumed(env: Environment, instance: InstanceOptions) -> None:
    """A sentence on what the learner was told of the problem that the user did not."""
    problem, given = env.problem, instance.bounds
    if problem.unknown:
        typer.echo("the learner was told neither S nor sigma, and estimated both")
        return
    assumed = {"--S": f"S = {number(problem.S)} (the norm of M*)"} if given.S is None else {}
    if given.sigma is None:
        assumed["--sigma"] = f"sigma = {number(problem.sigma)}"
    if assumed:
        told, options = " and ".join(assumed.values()), " and ".join(assumed)
        verb = "were" if len(assumed) > 1 else "was"
        typer.echo(f"the learner was told {told},\nbecause {options} {verb} not given")


def _warn_of_assumptions(env: Environment) -> None:
    """One line on the assumptions of the paper that the instance breaks."""
    broken = [
        f"{rule} ({number(value)} against {number(limit)})"
        for rule, value, limit, holds in check_assumptions(env)
        if not holds
    ]
    if broken:
        what = "; ".join(broken)
        warn(f"what the paper assumes does not hold, so no alpha is guaranteed: {what}.")


def _record(text: str) -> int | str:
    if text == "log":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise checks.input_error("--record", "be a whole number >= 1 or 'log'", repr(text))
    return int(text)


def _plain(attributes: dict[Any, Any]) -> dict[str, Any]:
    """Attributes as plain numbers and text."""
    return {str(k): v.item() if hasattr(v, "item") else v for k, v in attributes.items()}


def _print(graph: str, result: xr.Dataset, rows: list[dict[str, Any]]) -> None:
    facts = result.attrs
    rounds, runs = int(result["round"][-1]), result.sizes["run"]
    known = bool(facts["optimum_proven"])
    proven = "proven" if known else f"best known, at most {number(facts['optimum_upper_bound'])}"
    title = (
        f"{graph}: n = {facts['n']:,}, m = {facts['m']:,}, K = {facts['K']}, d = {facts['d']}; "
        f"{rounds:,} round{'s' * (rounds > 1)}, {runs:,} run{'s' * (runs > 1)}"
    )
    shares = {"fraction": "fraction", "last 10 %": "fraction_last"}
    if not known:
        shares["proven"] = "proven_fraction"
    columns = ("policy", *shares, "regret", "alpha", "alpha-regret")
    table = [
        (
            row["policy"],
            *(_fraction(row, name) for name in shares.values()),
            number(row["regret"]),
            f"{row['alpha']:.3f}",
            number(row["alpha_regret"]),
        )
        for row in rows
    ]
    console.print(Text(title, style="bold", overflow="fold"))
    console.print(grid("", columns, table))
    console.print(f"optimum {number(facts['optimum'])} a round ({proven}); fractions of it")


def _fraction(row: dict[str, Any], name: str) -> str:
    return "-" if math.isnan(row[name]) else around(row[name], row[f"{name}_error"], 3)
