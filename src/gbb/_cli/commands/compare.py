"""``gbb compare``: policies side by side over a family of instances."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import typer

from gbb import policies
from gbb._cli import options as opt
from gbb._cli.errors import warn
from gbb._cli.given.graphs import cut_of, graph_of
from gbb._cli.given.instance import InstanceOptions, draw_environment
from gbb._cli.given.policies import Learner, policies_option, read_own_policies
from gbb._cli.given.results import Results, say_written
from gbb._cli.show import as_json, between, console, grid, number
from gbb._support import checks, seeds
from gbb.problem import Problem
from gbb.simulation import comparison
from gbb.sweep import compare as play

INSTANCES = 5
MATRICES = 0x6D617472
"""Sets the matrices' seeds apart from those of the runs."""

DEFAULT = ("ImprovedOFUL", "JointOFUL", "ThompsonSampling")


def compare(
    graph: opt.GraphSpec,
    *,
    policy: Annotated[
        list[str] | None,
        policies_option(DEFAULT),
    ] = None,
    rounds: opt.Rounds = 1000,
    instances: Annotated[
        int | None, opt.option("Random matrices to play on.", INSTANCES, panel=opt.RUN)
    ] = None,
    runs: Annotated[int, opt.option("Runs per matrix.", 4, panel=opt.RUN)] = 4,
    cuda: opt.Cuda = False,
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
    count = _count(instances, given=instance.files.matrix is not None)
    seed, built = instance.graph.seed, graph_of(graph, instance.graph)
    family = [draw_environment(built, instance, child) for child in _seeds(seed, count)]
    given = learner.settings()
    specs = read_own_policies(policy or DEFAULT, given)
    shared = {**given, "cut": cut_of(built, instance.cut, seed), "horizon": rounds}

    def make(problem: Problem) -> list[policies.AnyPolicy]:
        return [spec.build(problem, name=spec.label, **shared) for spec in specs]

    result = play(
        family,
        make,
        rounds=rounds,
        runs=runs,
        seed=seed,
        progress=sys.stderr.isatty(),
        method="cuda" if cuda else "engine",
    )
    results.write(result)
    rows = comparison(result).to_dict("records")
    unproven = int(result.attrs["unproven_optima"])
    if unproven:
        which = f"{unproven} of {count} optima are" if count > 1 else "The optimum is"
        warn(f"{which} not proven; all policies may have lost more than it says.")
    if json:
        shown = {"rounds": rounds, "unproven_optima": unproven}
        typer.echo(as_json({**shown, "policies": rows}))
        return
    shape = f"{count} instance{'s' * (count > 1)} x {runs} run{'s' * (runs > 1)}"
    _print(f"{graph}: {rounds:,} rounds, {shape}; 95 % intervals", rows)
    say_written(results.out, results.plot)


def _count(instances: int | None, *, given: bool) -> int:
    """How many instances to play on: as many as asked for, or the one that is given."""
    if instances is None:
        return 1 if given else INSTANCES
    checks.integer("--instances", instances, low=1)
    if given and instances > 1:
        what = "`--instances` is for random matrices"
        raise checks.conflict(f"{what} and cannot be combined with `--matrix`.")
    return instances


def _seeds(seed: int, count: int) -> list[np.random.SeedSequence]:
    """Where the matrix of each instance comes from: the first as of all commands, no two seeds alike."""
    first = seeds.sequence(seed)
    others = [np.random.SeedSequence(seed, spawn_key=(MATRICES, i)) for i in range(1, count)]
    return [first, *others]


def _print(title: str, rows: Sequence[Mapping[Hashable, Any]]) -> None:
    table = [
        (
            row["policy"],
            between(100 * row["lost"], 100 * row["lost_low"], 100 * row["lost_high"]),
            number(row["regret"]),
            between(row["ratio"], row["ratio_low"], row["ratio_high"]),
        )
        for row in rows
    ]
    console.print(grid(title, ("policy", "lost, %", "regret", "ratio"), table))
    console.print("lost: share of the optimal reward, all rounds; ratio: regret to the first's")
