"""``gbb compare``: policies side by side over a family of instances."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from gbb import policies
from gbb._cli import options as opt
from gbb._cli.given.graphs import cut_of, graph_of
from gbb._cli.given.instance import InstanceOptions, draw_environment
from gbb._cli.given.policies import Learner, parse, policies_option
from gbb._cli.given.results import Results, say_written
from gbb._cli.show import around, as_json, console, grid, number
from gbb._support import checks
from gbb.problem import Problem
from gbb.simulation import Comparison, comparison
from gbb.simulation import compare as play

DEFAULT = ("ImprovedOFUL", "JointOFUL", "ThompsonSampling")


def compare(
    graph: opt.GraphSpec,
    *,
    policy: Annotated[
        list[str] | None,
        policies_option(DEFAULT, metavar="SPEC", note=" (NAME or NAME:KEY=VALUE,...)"),
    ] = None,
    rounds: opt.Rounds = 1000,
    instances: Annotated[int, opt.option("Random matrices to play on.", 5, panel=opt.RUN)] = 5,
    runs: Annotated[int, opt.option("Runs per matrix.", 4, panel=opt.RUN)] = 4,
    results: Results,
    json: opt.Json = False,
    instance: InstanceOptions,
    learner: Learner,
) -> None:
    """Play policies on the same instances with the same seeds, side by side.

    Prints what each loses with 95 % intervals over the instances (over runs when
    there is one instance), and the ratio of its regret to the first policy's.
    """
    results.check()
    checks.integer("--instances", instances, low=1)
    if instance.files.matrix is not None:
        instances = 1
    seed, built = instance.graph.seed, graph_of(graph, instance.graph)
    family = [draw_environment(built, instance, seed + i) for i in range(instances)]
    shared = learner.settings(cut=cut_of(built, instance.cut, seed), horizon=rounds)
    specs = [parse(text) for text in policy or DEFAULT]

    def make(problem: Problem) -> list[policies.AnyPolicy]:
        return [
            policies.build(name, problem, **{**shared, "name": label, **settings})
            for label, name, settings in specs
        ]

    result = play(family, make, rounds=rounds, runs=runs, seed=seed, progress=sys.stderr.isatty())
    results.write(result)
    rows = comparison(result)
    if json:
        typer.echo(as_json({"rounds": rounds, "policies": [row._asdict() for row in rows]}))
        return
    shape = f"{instances} instance{'s' * (instances > 1)} x {runs} run{'s' * (runs > 1)}"
    _print(f"{graph}: {rounds:,} rounds, {shape}; 95 % intervals", rows)
    say_written(results.out, results.plot)


def _print(title: str, rows: Sequence[Comparison]) -> None:
    table = [
        (
            row.policy,
            around(100 * row.lost, 100 * row.lost_high - 100 * row.lost, 2),
            number(row.regret),
            around(row.ratio, row.ratio_high - row.ratio, 4),
        )
        for row in rows
    ]
    console.print(grid(title, ("policy", "lost, %", "regret", "ratio"), table))
    console.print("lost: share of the optimal reward, all rounds; ratio: regret to the first's")
