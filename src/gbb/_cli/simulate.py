"""``gbb simulate``: policies played on an instance."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import xarray as xr
from rich.text import Text

from gbb import optimum, policies
from gbb._cli import options as opt
from gbb._cli.errors import warn
from gbb._cli.graphs import cut_of, graph_of
from gbb._cli.instance import DIMENSION, Bounds, Draw, Links, environment
from gbb._cli.outputs import check_output
from gbb._cli.show import as_json, console, grid, number
from gbb._cli.summary import summary
from gbb._cli.tables import write_matrix
from gbb._support import checks
from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.simulation import save
from gbb.simulation import simulate as play
from gbb.theory import check_assumptions

DEFAULT = ("OFUL", "ImprovedOFUL", "ExploreThenCommit")
RUN = "The simulation"


def simulate(
    graph: opt.GraphSpec,
    *,
    policy: Annotated[
        list[str] | None,
        opt.option(
            "--policy",
            panel=RUN,
            metavar="NAME",
            help=f"A policy, once or more: {', '.join(policies.classes())}.",
            shown=", ".join(DEFAULT),
        ),
    ] = None,
    rounds: Annotated[
        int, opt.option("--rounds", panel=RUN, help="The horizon T.", shown=1000)
    ] = 1000,
    runs: Annotated[
        int, opt.option("--runs", panel=RUN, help="Independent runs of each policy.", shown=1)
    ] = 1,
    record: Annotated[
        str,
        opt.option("--record", panel=RUN, metavar="K|log", help="Keep every K-th round.", shown=1),
    ] = "1",
    reference: Annotated[
        bool,
        opt.option("--reference", panel=RUN, help="Play edge by edge, by the plain Python loop."),
    ] = False,
    workers: Annotated[
        int | None,
        opt.option("--workers", panel=RUN, help="Threads for the runs.", shown="all cores"),
    ] = None,
    out: Annotated[
        Path | None,
        opt.option("--out", panel=RUN, metavar="FILE", help="Write the result here (.nc)."),
    ] = None,
    plot: Annotated[
        Path | None,
        opt.option("--plot", panel=RUN, metavar="FILE", help="Draw it here (.png, .pdf or .svg)."),
    ] = None,
    save_matrix: Annotated[
        Path | None,
        opt.option(
            "--save-matrix", panel=RUN, metavar="FILE", help="Write the M* that was drawn (.csv)."
        ),
    ] = None,
    json: Annotated[
        bool, opt.option("--json", panel=RUN, help="Print the summary as JSON.")
    ] = False,
    p: opt.EdgeProbability = None,
    degree: opt.Degree = None,
    undirected: opt.Undirected = False,
    seed: opt.SeedNumber = 0,
    cut: opt.CutName = "greedy",
    matrix: opt.MatrixFile = None,
    arms: opt.ArmsFile = None,
    d: Annotated[
        int | None,
        opt.option(
            "--d", panel=opt.INSTANCE, help="Dimension of a random matrix.", shown=DIMENSION
        ),
    ] = None,
    zeta: Annotated[
        float | None,
        opt.option("--zeta", panel=opt.INSTANCE, help="The paper's zeta construction, in [0, 1]."),
    ] = None,
    frobenius: Annotated[
        float | None,
        opt.option("--frobenius", panel=opt.INSTANCE, help="Scale a random matrix to this norm."),
    ] = None,
    distinct_couple: Annotated[
        bool,
        opt.option(
            "--distinct-couple",
            panel=opt.INSTANCE,
            help="Redraw a random matrix until its best couple has two different arms.",
        ),
    ] = False,
    own_matrices: opt.OwnMatrices = False,
    feedback: opt.Feedback = "edge",
    noise: opt.Noise = "gaussian",
    sigma: opt.Sigma = None,
    S: opt.FrobeniusBound = None,
    L: opt.EdgeArmBound = None,
    lam: opt.Lam = None,
    delta: opt.Delta = None,
    radius: opt.RadiusName = "paper",
) -> None:
    """Play policies on an instance and sum up what they earned.

    The matrix M* is read from --matrix, or drawn: absolute values of standard
    normals. Without --S the learner is told the Frobenius norm of M* itself.
    """
    check_output("--out", out, (".nc",))
    check_output("--plot", plot, (".png", ".pdf", ".svg"))
    check_output("--save-matrix", save_matrix, (".csv",))
    if save_matrix is not None and own_matrices:
        raise checks.input_error("--save-matrix", "go with one matrix", "--own-matrices as well")
    if save_matrix is not None and matrix is not None:
        raise checks.input_error("--save-matrix", "go with a random matrix", "--matrix as well")
    every = _record(record)
    built = graph_of(graph, p=p, degree=degree, undirected=undirected, seed=seed)
    draw = Draw(d, zeta, frobenius, distinct_couple, seed)
    links = Links(own_matrices, feedback)
    env = environment(built, matrix, arms, Bounds(sigma, S, L), draw=draw, noise=noise, links=links)
    settings: dict[str, Any] = {"lam": lam, "delta": delta, "radius": radius, "horizon": rounds}
    chosen = _policies(env, cut_of(built, cut, seed), policy or _default(env), settings)
    best = optimum.solve(env.problem, env.M_star)
    if plot is not None and best.value <= 0:
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
        method="reference" if reference else "engine",
        workers=workers,
    )
    if env.problem.is_paper_problem:
        _warn_of_assumptions(env)
    if save_matrix is not None:
        write_matrix(env.M_star, save_matrix)
    if out is not None:
        save(result, out)
    if plot is not None:
        _draw(result, plot)
    rows = summary(result)
    if json:
        typer.echo(as_json({"attributes": _plain(result.attrs), "policies": rows}))
    else:
        _print(graph, result, rows)
        written = [str(path) for path in (save_matrix, out, plot) if path is not None]
        if written:
            console.print(f"wrote {', '.join(written)}", markup=False, soft_wrap=True)


def _default(env: Environment) -> tuple[str, ...]:
    """The paper's policies, those of them that play the problem."""
    plain = env.problem.is_paper_problem
    return tuple(name for name in DEFAULT if plain or policies.classes()[name].plays_any_problem)


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


def _policies(
    env: Environment, cut: Cut, names: Sequence[str], settings: dict[str, Any]
) -> list[policies.AnyPolicy]:
    """The named policies; small and capital letters are alike."""
    checks.integer("rounds", settings["horizon"], low=1)
    for name in names:
        if "," in name:
            cure = "Repeat it: " + " ".join(f"--policy {one.strip()}" for one in name.split(","))
            raise checks.input_error("--policy", "name one policy", repr(name), f"{cure}.")
    known = {name.lower(): name for name in policies.classes()}
    given = {key: value for key, value in settings.items() if value is not None}
    return [
        policies.build(known.get(name.lower(), name), env.problem, cut=cut, **given)
        for name in names
    ]


def _draw(result: xr.Dataset, path: Path) -> None:
    from gbb.plotting import figure_of, save_figure  # noqa: PLC0415  (slow to import)

    save_figure(figure_of(result), path)


def _plain(attributes: dict[Any, Any]) -> dict[str, Any]:
    """Attributes as plain numbers and text."""
    return {str(k): v.item() if hasattr(v, "item") else v for k, v in attributes.items()}


def _print(graph: str, result: xr.Dataset, rows: list[dict[str, Any]]) -> None:
    facts = result.attrs
    rounds, runs = int(result["round"][-1]), result.sizes["run"]
    proven = "proven" if facts["optimum_proven"] else "best known"
    title = (
        f"{graph}: n = {facts['n']:,}, m = {facts['m']:,}, K = {facts['K']}, d = {facts['d']}; "
        f"{rounds:,} round{'s' * (rounds > 1)}, {runs:,} run{'s' * (runs > 1)}"
    )
    columns = ("policy", "fraction", "last 10 %", "regret", "alpha", "alpha-regret")
    table = [
        (
            row["policy"],
            _fraction(row, "fraction"),
            _fraction(row, "fraction_last"),
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
    value, error = row[name], row[f"{name}_error"]
    if math.isnan(value):
        return "-"
    sign = "±" if console.encoding.startswith("utf") else "+-"
    return f"{value:.3f}" if math.isnan(error) else f"{value:.3f} {sign}{error:.3f}"
