"""What a guard costs Thompson sampling, and saves it, in the setting of Figure 2. Prints Markdown.

python benchmarks/guard.py [MATRICES] [RUNS] [SEED OF THE FIRST MATRIX]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import gbb
from gbb.policies import AnyPolicy, GuardedThompson, JointOFUL, ThompsonSampling
from policies import ROUNDS, instances

DEFAULTS = (20, 16, 9000)
"""Matrices, runs on each, and the seed of the first matrix: on these nothing was tuned."""

BETAS = (0.95, 0.9, 0.8)
C = 10.0
REPEATS = 5


def contenders(problem: gbb.Problem) -> list[AnyPolicy]:
    cut = gbb.cuts.greedy(problem.graph)
    guarded = [GuardedThompson(problem, cut=cut, beta=x, name=f"guarded, {x:g}") for x in BETAS]
    return [
        JointOFUL(problem, cut=cut),
        ThompsonSampling(problem, cut=cut),
        *guarded,
        GuardedThompson(problem, cut=cut, c=C, name=f"guarded, 1 - {C:g} / sqrt(t)"),
    ]


def seconds_a_round(
    env: gbb.Environment, policies: list[AnyPolicy], rounds: int = ROUNDS
) -> dict[str, float]:
    """Processor time of a round of each policy, side by side: the least of a few runs of each."""
    for policy in policies:
        policy.guarantee = None  # no theory report
    best = gbb.optimum.solve(env.problem, env.M_star)
    least = dict.fromkeys((policy.name for policy in policies), np.inf)
    for _ in range(REPEATS):
        for policy in policies:
            start = time.process_time()
            gbb.simulate(env, policy, rounds=rounds, record=[rounds], workers=1, optimum=best)
            least[policy.name] = min(least[policy.name], time.process_time() - start)
    return {name: seconds / rounds for name, seconds in least.items()}


def main(
    contenders: Callable[[gbb.Problem], list[AnyPolicy]] = contenders,
    defaults: tuple[int, int, int] = DEFAULTS,
) -> None:
    given = [int(text) for text in sys.argv[1:]]
    count, runs, seed = (*given, *defaults[len(given) :])
    family = instances(count, seed)
    result = gbb.compare(family, contenders, rounds=ROUNDS, runs=runs, record=[ROUNDS])
    times = seconds_a_round(family[0], contenders(family[0].problem))
    first, base = next(iter(times.items()))
    lost = result["lost"].isel(round=-1)
    print(f"| policy | mean regret | of {first}'s | median | worst run | time a round |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in gbb.comparison(result).itertuples():
        own = lost.sel(policy=row.policy).to_numpy()
        mean = f"{row.regret:,.0f} ({row.regret_low:,.0f} to {row.regret_high:,.0f})"
        share = f"1/{1 / row.ratio:.2f} ({row.ratio_low:.3f} to {row.ratio_high:.3f})"
        took = f"{times[row.policy] / base:.2f}"
        print(
            f"| {row.policy} | {mean} | {share} | {np.median(own):,.0f} | {own.max():,.0f} | {took} |"
        )


if __name__ == "__main__":
    main()
