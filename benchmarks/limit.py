"""``c log T`` beside what policies lose, in the paper's Figure 2 setting (docs/theory.md).

``python benchmarks/limit.py [matrices] [runs]``
"""

import sys
from functools import partial

import numpy as np

import gbb
from gbb import sweep
from policies import instances

MATRICES = int(sys.argv[1]) if len(sys.argv) > 1 else 20
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
FIRST = 1000
HORIZONS = (1_000, 20_000, 200_000)


def play(env: gbb.Environment, seed: int) -> tuple[float, np.ndarray]:
    """The constant of the bound, and what both policies lost by horizon."""
    cut = gbb.cuts.greedy(env.problem.graph)
    policies = [
        gbb.policies.ThompsonSampling(env.problem, cut=cut),
        gbb.policies.JointOFUL(env.problem, cut=cut),
    ]
    given = {"rounds": HORIZONS[-1], "runs": RUNS, "seed": seed, "record": np.array(HORIZONS)}
    found = gbb.simulate(env, policies, workers=1, **given)
    return gbb.theory.lower_bound(env).constant, found.regret.mean("run").to_numpy()


def main() -> None:
    """Print means over the matrices."""
    calls = [partial(play, env, seed) for seed, env in enumerate(instances(MATRICES, FIRST), FIRST)]
    constants, lost = zip(*sweep.gather(calls, sweep.executors.local()), strict=True)
    print(f"c: mean {np.mean(constants):.1f}, median {np.median(constants):.1f}")
    print("| T | c log T | ThompsonSampling | JointOFUL |")
    print("| --- | --- | --- | --- |")
    for k, T in enumerate(HORIZONS):
        thompson, joint = np.mean(lost, axis=0)[:, k]
        print(f"| {T:,} | {np.mean(constants) * np.log(T):,.0f} | {thompson:,.0f} | {joint:,.0f} |")


if __name__ == "__main__":
    main()
