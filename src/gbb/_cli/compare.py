"""``gbb compare``: policies side by side over a family of instances."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gbb import policies
from gbb._cli import options as opt
from gbb._cli.graphs import cut_of, graph_of
from gbb._cli.instance import DIMENSION, Bounds, Draw, Links, environment
from gbb._cli.outputs import check_output
from gbb._cli.show import as_json, console, grid, number
from gbb._support import checks
from gbb.problem import Problem
from gbb.simulation import Comparison, comparison, save
from gbb.simulation import compare as play

DEFAULT = ("ImprovedOFUL", "JointOFUL", "ThompsonSampling")
RUN = "The comparison"


def compare(
    graph: opt.GraphSpec,
    *,
    policy: Annotated[
        list[str] | None,
        opt.option(
            "--policy",
            panel=RUN,
            metavar="SPEC",
            help="NAME or NAME:KEY=VALUE,..., once or more; ratios are to the first. "
            f"Names: {', '.join(policies.classes())}.",
            shown=", ".join(DEFAULT),
        ),
    ] = None,
    rounds: Annotated[
        int, opt.option("--rounds", panel=RUN, help="The horizon T.", shown=1000)
    ] = 1000,
    instances: Annotated[
        int, opt.option("--instances", panel=RUN, help="Random matrices to play on.", shown=5)
    ] = 5,
    runs: Annotated[int, opt.option("--runs", panel=RUN, help="Runs per matrix.", shown=4)] = 4,
    out: Annotated[
        Path | None,
        opt.option("--out", panel=RUN, metavar="FILE", help="Write the result here (.nc)."),
    ] = None,
    plot: Annotated[
        Path | None,
        opt.option("--plot", panel=RUN, metavar="FILE", help="Draw it here (.png, .pdf or .svg)."),
    ] = None,
    json: Annotated[bool, opt.option("--json", panel=RUN, help="Print the table as JSON.")] = False,
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
            "--d", panel=opt.INSTANCE, help="Dimension of random matrices.", shown=DIMENSION
        ),
    ] = None,
    zeta: Annotated[
        float | None,
        opt.option("--zeta", panel=opt.INSTANCE, help="The paper's zeta construction, in [0, 1]."),
    ] = None,
    frobenius: Annotated[
        float | None,
        opt.option("--frobenius", panel=opt.INSTANCE, help="Scale random matrices to this norm."),
    ] = None,
    distinct_couple: Annotated[
        bool,
        opt.option(
            "--distinct-couple",
            panel=opt.INSTANCE,
            help="Redraw a matrix until its best couple has two different arms.",
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
) -> None:
    """Play policies on the same instances with the same seeds, side by side.

    Prints what each loses with 95 % intervals over the instances (over runs when
    there is one instance), and the ratio of its regret to the first policy's.
    """
    check_output("--out", out, (".nc",))
    check_output("--plot", plot, (".png", ".pdf", ".svg"))
    checks.integer("--instances", instances, low=1)
    if matrix is not None:
        instances = 1
    built = graph_of(graph, p=p, degree=degree, undirected=undirected, seed=seed)
    family = [
        environment(
            built,
            matrix,
            arms,
            Bounds(sigma, S, L),
            draw=Draw(d, zeta, frobenius, distinct_couple, seed + i),
            noise=noise,
            links=Links(own_matrices, feedback),
        )
        for i in range(instances)
    ]
    chosen_cut = cut_of(built, cut, seed)
    shared: dict[str, Any] = {"cut": chosen_cut, "horizon": rounds}
    shared |= {key: value for key, value in (("lam", lam), ("delta", delta)) if value is not None}
    specs = [parse(text) for text in policy or DEFAULT]

    def make(problem: Problem) -> list[policies.AnyPolicy]:
        return [
            policies.build(name, problem, **{**shared, "name": label, **settings})
            for label, name, settings in specs
        ]

    result = play(family, make, rounds=rounds, runs=runs, seed=seed, progress=sys.stderr.isatty())
    if out is not None:
        save(result, out)
    if plot is not None:
        from gbb.plotting import figure_of, save_figure  # noqa: PLC0415  (slow to import)

        save_figure(figure_of(result), plot)
    rows = comparison(result)
    if json:
        typer.echo(as_json({"rounds": rounds, "policies": [row._asdict() for row in rows]}))
        return
    shape = f"{instances} instance{'s' * (instances > 1)} x {runs} run{'s' * (runs > 1)}"
    _print(f"{graph}: {rounds:,} rounds, {shape}; 95 % intervals", rows)
    if written := [str(path) for path in (out, plot) if path is not None]:
        console.print(f"wrote {', '.join(written)}", markup=False, soft_wrap=True)


def parse(spec: str) -> tuple[str, str, dict[str, Any]]:
    """Label, class name and settings of ``NAME:KEY=VALUE,...``; small and capital letters are alike."""
    name, _, rest = spec.partition(":")
    known = {each.lower(): each for each in policies.classes()}
    name = known.get(name.lower(), name)
    settings: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, sign, text = item.partition("=")
        if not sign or not key or not text:
            raise checks.input_error("--policy", "be NAME or NAME:KEY=VALUE,...", repr(spec))
        settings[_setting(name, key.strip())] = _value(text.strip())
    return (f"{name}, {rest}" if rest else name), name, settings


def _setting(policy: str, key: str) -> str:
    """``key``, if the policy has such a setting; an unknown policy is refused where it is built."""
    if policy in policies.classes():
        known = set(inspect.signature(policies.classes()[policy]).parameters) - {"problem", "name"}
        checks.choice(f"a setting of {policy}", key, known)
    return key


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _print(title: str, rows: Sequence[Comparison]) -> None:
    table = [
        (
            row.policy,
            _around(100 * row.lost, 100 * row.lost_high, 2),
            number(row.regret),
            _around(row.ratio, row.ratio_high, 4),
        )
        for row in rows
    ]
    console.print(grid(title, ("policy", "lost, %", "regret", "ratio"), table))
    console.print("lost: share of the optimal reward, all rounds; ratio: regret to the first's")


def _around(value: float, high: float, digits: int) -> str:
    sign = "±" if console.encoding.startswith("utf") else "+-"
    half = "" if math.isnan(high) else f" {sign}{high - value:.{digits}f}"
    return f"{value:.{digits}f}{half}"
