"""Four regimes: what knowing the regime is worth, and the alpha-regret beside its bound.

Run with ``python benchmarks/regimes.py [rounds]``: complete:5 and a 4 x 4 grid, d = K = 4, matrices with
entries ``|N(0, 1)|`` scaled to norm 1, sigma = 0.1, regimes drawn uniformly, 5 instances.
"""

import sys
import warnings

import numpy as np

import gbb

REGIMES, SIZE, INSTANCES, DELTA = 4, 4, 5, 1e-3


class Blind:
    """The same rounds for a learner that is not told the regime."""

    def __init__(self, env: gbb.Environment, problem: gbb.Problem) -> None:
        self.env, self.problem = env, problem
        self.expected, self.draw = env.expected, env.draw


def measure(graph: gbb.Graph, rounds: int, seed: int) -> dict[str, tuple[float, ...]]:
    """Fractions over the last tenth of every policy, told the regime and blind; regret and bound."""
    rng = np.random.default_rng(seed)
    M = np.abs(rng.normal(size=(REGIMES, SIZE, SIZE)))
    M /= np.linalg.norm(M, axis=(1, 2), keepdims=True)
    cut = gbb.cuts.greedy(graph)
    settings = {"sigma": 0.1, "S": 1.0}
    told = gbb.Problem(graph, np.eye(SIZE), contexts=gbb.contexts.Regimes(REGIMES), **settings)
    blind = gbb.Problem(graph, np.eye(SIZE), **settings)
    env = gbb.Environment(told, M, contexts=rng.integers(0, REGIMES, rounds))
    kinds = {"ThompsonSampling": {}, "JointOFUL": {"delta": DELTA}}
    found = {}
    for name, given in kinds.items():
        policy = getattr(gbb.policies, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = gbb.simulate(env, policy(told, cut=cut, **given), rounds=rounds, seed=seed)
            other = gbb.simulate(
                Blind(env, blind), policy(blind, cut=cut, **given), rounds=rounds, seed=seed
            )
        last = slice(rounds - rounds // 10 + 1, None)
        fraction = float(result.fraction.sel(round=last).mean())
        optimum = (result.expected_reward / result.fraction).sel(round=last).values[0, 0]
        blind_fraction = float(
            (other.expected_reward.sel(round=last).values[0, 0] / optimum).mean()
        )
        bound = gbb.theory.regret_bound(told, rounds, delta=DELTA)
        found[name] = fraction, blind_fraction, float(result.alpha_regret[0, 0, -1]), bound
    return found


def main() -> None:
    """Print a line for each graph and policy: the mean and the worst instance."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for name, graph in (
        ("complete:5", gbb.Graph.complete(5)),
        ("grid 4 x 4", gbb.Graph.grid(4, 4)),
    ):
        runs = [measure(graph, rounds, seed) for seed in range(INSTANCES)]
        for policy in runs[0]:
            told, blind, regret, bound = np.array([run[policy] for run in runs]).T
            print(
                f"{name:11}{policy:18}told {told.mean():.4f} (worst {told.min():.4f})  "
                f"blind {blind.mean():.4f} (best {blind.max():.4f})  "
                f"alpha_2-regret at most {regret.max():.0f}, bound {bound.min():.3g}"
            )


if __name__ == "__main__":
    main()
