"""Other policies on identical feedback, same instances and seeds. Prints Markdown.

python benchmarks/peers.py [MATRICES] [RUNS] [--marks 1000,20000] [--only TEXT] [--keep FILE]

``--keep`` reads and writes what has been played, run by run: all peers to 20,000 rounds take a
minute a run. Times are processor seconds of one core and one process.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import numpy as np
from bayesianbandits import InformationDirectedSampling, ThompsonSampling, UpperConfidenceBound
from threadpoolctl import threadpool_limits

import gbb
from _players import Played, Player, bayesian, edge_tabular, ours

FIRST_SEED = 5000
"""Of the matrices; none of our settings was chosen on these."""


def players() -> dict[str, Player]:
    cut = gbb.cuts.greedy(gbb.Graph.complete(5))
    couples = np.array([cut.allocation(c) for c in itertools.product(range(5), repeat=2)])
    # Agents of a complete graph are alike: 126 of the 3,125 allocations differ in what they play.
    everything = np.array(list(itertools.combinations_with_replacement(range(5), 5)))
    ucb = UpperConfidenceBound(alpha=0.84, samples=50)  # one posterior deviation
    ids = InformationDirectedSampling(samples=100)  # as many as ours
    return {
        "gbb JointOFUL": ours(lambda problem: gbb.policies.JointOFUL(problem, cut=cut)),
        "gbb ThompsonSampling": ours(
            lambda problem: gbb.policies.ThompsonSampling(problem, cut=cut)
        ),
        "gbb ThompsonSampling, v = 0.85": ours(
            lambda problem: gbb.policies.ThompsonSampling(problem, cut=cut, v=0.85)
        ),
        "gbb InformationDirected": ours(
            lambda problem: gbb.policies.InformationDirected(problem, cut=cut)
        ),
        "bayesianbandits Thompson, couples": bayesian(ThompsonSampling(), couples),
        "bayesianbandits UCB, couples": bayesian(ucb, couples),
        "bayesianbandits Thompson, all K^n": bayesian(ThompsonSampling(), everything),
        "bayesianbandits IDS, couples": bayesian(ids, couples),
        "bayesianbandits IDS, all K^n": bayesian(ids, everything),
        "edge-tabular UCB (as MAUCE)": edge_tabular,
        "bayesianbandits UCB, all K^n": bayesian(ucb, everything),
    }


def instance(seed: int) -> tuple[gbb.Environment, float]:
    """The setting of the paper's Figure 2, and its best reward."""
    M = gbb.instances.absolute_normal(5, seed=seed, frobenius=4.0, zeta=0.0, distinct_couple=True)
    env = gbb.Environment(gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0), M)
    return env, gbb.optimum.solve(env.problem, M).value


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("matrices", nargs="?", type=int, default=10)
    parser.add_argument("runs", nargs="?", type=int, default=1)
    parser.add_argument("--marks", default="1000,20000")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    marks = tuple(map(int, given.marks.split(",")))
    kept = json.loads(given.keep.read_text()) if given.keep and given.keep.exists() else {}
    heads = [f"T = {mark:,} | us a round" for mark in marks]
    print(f"| policy | {' | '.join(heads)} |")
    print("| --- " * (1 + 2 * len(marks)) + "|")
    for name, play in players().items():
        if given.only not in name:
            continue
        found = np.empty((given.matrices, given.runs, 2, len(marks)))
        play(instance(0)[0], (3,), 0, 1.0)  # compiles
        for i, run in itertools.product(range(given.matrices), range(given.runs)):
            seed = 1000 * (FIRST_SEED + i) + run  # of noise and policy: no two runs share it
            key = f"{name}, {seed}, {marks}"
            if key not in kept:
                env, best = instance(FIRST_SEED + i)
                kept[key] = play(env, marks, seed, best)
                if given.keep:
                    given.keep.write_text(json.dumps(kept))
            found[i, run] = Played(*kept[key])
        share, seconds = found[:, :, 0].mean(axis=1), found[:, :, 1].min(axis=(0, 1))
        error = share.std(axis=0, ddof=1) / np.sqrt(given.matrices)
        cells = (
            f"{100 * mean:.2f} ± {100 * e:.2f} % | {1e6 * s:,.1f}"
            for mean, e, s in zip(share.mean(axis=0), error, seconds, strict=True)
        )
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
