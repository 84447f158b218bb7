"""The studies whose tables stand in the docs. Each prints Markdown.

python benchmarks/studies.py NAME [NUMBERS]

policies [MATRICES RUNS SEED]       what policies lose in the setting of the paper's Figure 2
guard [MATRICES RUNS SEED]          what a guard costs Thompson sampling, and saves it
information [MATRICES RUNS SEED]    information-directed sampling, alone and behind a guard
unknown [MATRICES RUNS SEED]        what it costs not to know sigma and S
identify [MATRICES]                 rounds until a certificate
limit [MATRICES RUNS]               `c log T` beside what policies lose
products [MATRICES]                 the best product distribution over a cut beside the best couple
bernoulli [MATRICES ROUNDS]         weighing yes/no rewards by their variance
regimes [ROUNDS]                    what knowing the regime is worth
adversary [ROUNDS RUNS]             regret on a switching adversary as T grows
rank [INSTANCES]                    estimates that know the rank of M*

SEED is that of the first matrix. Settings were chosen on matrices 1000 to 1039, and on no others.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import gbb

P = gbb.policies
ROUNDS = 20_000

Policies = Callable[[gbb.Problem], Sequence[P.AnyPolicy]]


def table(head: str, rows: Iterable[Iterable[Any]]) -> None:
    """Print a Markdown table; the columns of ``head`` are set apart by bars."""
    print(f"\n| {head} |\n|{' --- |' * (1 + head.count(' | '))}")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def figure2(count: int, first: int) -> list[gbb.Environment]:
    """The setting of the paper's Figure 2 on matrices with these seeds."""
    draw = {"frobenius": 4.0, "zeta": 0.0, "distinct_couple": True}
    matrices = [gbb.instances.absolute_normal(5, seed=first + i, **draw) for i in range(count)]
    graph = gbb.Graph.complete(5)
    return [gbb.Environment(gbb.Problem(graph, np.eye(5), S=4.0), M) for M in matrices]


def interval(values: Sequence[float], digits: int) -> str:
    mean, low, high = (f"{value:,.{digits}f}" for value in values)
    return f"{mean} ({low} to {high})"


def policies(matrices: int = 20, runs: int = 10, seed: int = 1000) -> None:
    def players(problem: gbb.Problem) -> list[P.AnyPolicy]:
        own: dict[str, Any] = {"cut": gbb.cuts.greedy(problem.graph)}
        symmetric = {**own, "radius": "symmetric"}
        return [
            P.ImprovedOFUL(problem, **own),
            P.OFUL(problem, **own),
            P.ImprovedOFUL(problem, **symmetric, name="ImprovedOFUL, symmetric"),
            P.KCutOFUL(problem, k=3, **symmetric, name="KCutOFUL(3), symmetric"),
            P.JointOFUL(problem, **own, radius="paper", name="JointOFUL, paper"),
            P.JointOFUL(problem, **symmetric, name="JointOFUL, symmetric"),
            P.EpsilonGreedy(problem, **own),
            P.ThompsonSampling(problem, **own, starts=0, name="ThompsonSampling, couple"),
            P.ThompsonSampling(problem, **own),
        ]

    result = gbb.compare(
        figure2(matrices, seed), players, rounds=ROUNDS, runs=runs, record=[1000, ROUNDS]
    )
    rows = []
    for row in gbb.comparison(result).itertuples():
        lost = interval([100 * x for x in (row.lost, row.lost_low, row.lost_high)], 2)
        regret = interval((row.regret, row.regret_low, row.regret_high), 0)
        rows.append((row.policy, lost, regret, ratio(row, 4)))
    table("policy | lost, % of the optimum | total regret | of ImprovedOFUL's", rows)


def ratio(row: Any, digits: int) -> str:
    return f"{row.ratio:.2f} ({row.ratio_low:.{digits}f} to {row.ratio_high:.{digits}f})"


def beside_first(players: Policies, matrices: int, runs: int, seed: int) -> None:
    """Regret, its spread over runs, and the time of a round, beside those of the first policy."""
    envs = figure2(matrices, seed)
    result = gbb.compare(envs, players, rounds=ROUNDS, runs=runs, record=[ROUNDS])
    lost = result["lost"].isel(round=-1)
    seconds = [seconds_a_round(envs[0], policy) for policy in players(envs[0].problem)]
    rows = []
    for row, took in zip(gbb.comparison(result).itertuples(), seconds, strict=True):
        own = lost.sel(policy=row.policy).to_numpy()
        mean = interval((row.regret, row.regret_low, row.regret_high), 0)
        shares = (f"{np.median(own):,.0f}", f"{own.max():,.0f}", f"{took / seconds[0]:.2f}")
        rows.append((row.policy, mean, ratio(row, 3), *shares))
    table("policy | mean regret | of the first's | median | worst run | time a round", rows)


def seconds_a_round(env: gbb.Environment, policy: P.AnyPolicy) -> float:
    """Processor time: the least of five runs, which solve for no optimum."""
    best, times = gbb.optimum.solve(env.problem, env.M_star), []
    for _ in range(5):
        start = time.process_time()
        gbb.simulate(env, policy, rounds=ROUNDS, record=[ROUNDS], workers=1, optimum=best)
        times.append((time.process_time() - start) / ROUNDS)
    return min(times)


def guard(matrices: int = 20, runs: int = 16, seed: int = 9000) -> None:
    def players(problem: gbb.Problem) -> list[P.AnyPolicy]:
        cut = gbb.cuts.greedy(problem.graph)
        guarded = [
            P.GuardedThompson(problem, cut=cut, beta=beta, name=f"GuardedThompson, beta = {beta:g}")
            for beta in (0.95, 0.9, 0.8)
        ]
        last = P.GuardedThompson(problem, cut=cut, c=10.0, name="GuardedThompson, c = 10")
        return [P.JointOFUL(problem, cut=cut), P.ThompsonSampling(problem, cut=cut), *guarded, last]

    beside_first(players, matrices, runs, seed)


def information(matrices: int = 20, runs: int = 16, seed: int = 12000) -> None:
    # The seeds 12000 to 12019 were named before they were first played; so were 13000 to 13019 and
    # 14000 to 14039, with the same settings, once the first had been seen.
    def players(problem: gbb.Problem) -> list[P.AnyPolicy]:
        cut, guarded = gbb.cuts.greedy(problem.graph), "InformationDirected, guarded, 0.9"
        return [
            P.ThompsonSampling(problem, cut=cut),
            P.InformationDirected(problem, cut=cut),
            P.GuardedThompson(problem, cut=cut, beta=0.9, name="GuardedThompson, 0.9"),
            P.InformationDirected(problem, cut=cut, beta=0.9, name=guarded),
        ]

    beside_first(players, matrices, runs, seed)


def unknown(matrices: int = 20, runs: int = 16, seed: int = 7000) -> None:
    kinds = (P.ThompsonSampling, P.GuardedThompson)
    regrets = np.empty((2, 2, matrices, runs))  # known or not, policy, matrix, run
    for k, scales in enumerate(({"sigma": 1.0, "S": 4.0}, {"sigma": None, "S": None})):
        for i, env in enumerate(figure2(matrices, seed)):
            problem = gbb.Problem(env.problem.graph, np.eye(5), **scales)
            cut = gbb.cuts.greedy(problem.graph)
            result = gbb.simulate(
                gbb.Environment(problem, env.M_star, sigma=1.0),
                [kind(problem, cut=cut) for kind in kinds],
                rounds=ROUNDS,
                runs=runs,
                seed=5,
                record=[ROUNDS],
            )
            regrets[k, :, i] = result.regret[..., -1]
    drawn = np.random.default_rng(0).integers(matrices, size=(10_000, matrices))
    rows = []
    for kind, known, without in zip(kinds, *regrets, strict=True):
        one, two = known.mean(axis=1), without.mean(axis=1)
        ends = np.quantile(two[drawn].sum(axis=1) / one[drawn].sum(axis=1), [0.025, 0.975])
        cells = [known.mean(), without.mean(), known.max(), without.max()]
        spread = interval((two.mean() / one.mean(), *ends), 2)
        rows.append((kind.__name__, *(f"{cell:,.0f}" for cell in cells), spread))
    head = "told | not told | worst run, told | not told | ratio of means (95 %)"
    table(f"policy | {head}", rows)


def identify(matrices: int = 20) -> None:
    envs = figure2(matrices, 1000)
    tops = [gbb.optimum.solve(env.problem, env.M_star).value for env in envs]
    couples = [
        float(gbb.cuts.greedy(env.problem.graph).couple_values(env.reward_table).max())
        for env in envs
    ]
    print(f"Optimum {np.mean(tops):.2f} a round on average, best couple {np.mean(couples):.2f}.")
    ways = {
        "couple, `PhasedExploration`": (by_policy, couples),
        "couple, `identify`": (partial(by_identify, target="couple"), couples),
        "allocation, `identify`": (partial(by_identify, target="allocation"), tops),
    }

    def rows() -> Iterator[Sequence[Any]]:
        for epsilon in (2.0, 1.0, 0.5, 0.25):
            for name, (way, best) in ways.items():
                calls = [partial(way, env, epsilon, seed) for seed, env in enumerate(envs)]
                found = gbb.sweep.gather(calls, gbb.sweep.executors.local())
                rounds = [number for number, _ in found]
                losses = [
                    top - env.expected_reward(arms)
                    for top, env, (_, arms) in zip(best, envs, found, strict=True)
                ]
                wrong = sum(loss > epsilon + 1e-9 for loss in losses)
                numbers = (
                    f"{number:,.0f}" for number in (np.median(rounds), min(rounds), max(rounds))
                )
                yield f"{epsilon:g}", name, *numbers, f"{max(losses):.3f}", f"{wrong} of {matrices}"

    table("epsilon | what | median | least | most | largest loss | wrong", rows())


LIMIT = {"delta": 0.001, "max_rounds": 1_000_000}


def by_identify(
    env: gbb.Environment, epsilon: float, seed: int, target: str
) -> tuple[int, np.ndarray]:
    found = gbb.identify(env, epsilon=epsilon, target=target, seed=seed, **LIMIT)
    return found.rounds, found.allocation


def by_policy(env: gbb.Environment, epsilon: float, seed: int) -> tuple[int, np.ndarray]:
    """PhasedExploration until it commits."""
    cut = gbb.cuts.greedy(env.problem.graph)
    policy = P.PhasedExploration(env.problem, cut=cut, epsilon=epsilon, delta=LIMIT["delta"])
    rng, noise = (np.random.default_rng([seed, k]) for k in range(2))
    state = policy.init()
    while state.couple is None and state.learned.rounds < LIMIT["max_rounds"]:
        choice = policy.select(state, rng)
        state = policy.update(state, choice, env.draw(1, choice.allocation, noise))
    return state.learned.rounds, policy.select(state, rng).allocation


def limit(matrices: int = 20, runs: int = 4) -> None:
    horizons, constants, lost = np.array([1_000, 20_000, 200_000]), [], []
    for seed, env in enumerate(figure2(matrices, 1000), 1000):
        cut = gbb.cuts.greedy(env.problem.graph)
        players = [kind(env.problem, cut=cut) for kind in (P.ThompsonSampling, P.JointOFUL)]
        own = {"rounds": int(horizons[-1]), "runs": runs, "seed": seed, "record": horizons}
        lost.append(gbb.simulate(env, players, **own).regret.mean("run").to_numpy())
        constants.append(gbb.theory.lower_bound(env).constant)
    print(f"c: mean {np.mean(constants):.1f}, median {np.median(constants):.1f}")
    columns = [np.mean(constants) * np.log(horizons), *np.mean(lost, axis=0)]
    rows = [[f"{x:,.0f}" for x in row] for row in zip(horizons, *columns, strict=True)]
    table("T | c log T | ThompsonSampling | JointOFUL", rows)


def products(matrices: int = 200) -> None:
    graphs: dict[str, Callable[[int], gbb.Graph]] = {
        f"complete:{n}": lambda _, n=n: gbb.Graph.complete(n) for n in (5, 10, 30)
    }
    graphs["random:12, p = 0.6"] = lambda seed: gbb.Graph.random(12, p=0.6, seed=seed)

    def rows() -> Iterator[Sequence[Any]]:
        for name, make in graphs.items():
            for K, diagonal in ((3, "zeta = 0"), (3, "0"), (5, "zeta = 0")):
                found = [product(make(s), K, diagonal, s) for s in range(7000, 7000 + matrices)]
                alpha_2, couple, alpha_3, derandomised = np.array(found).T
                assert (alpha_3 >= alpha_2 - 1e-12).all()
                assert (derandomised >= alpha_3 - 1e-12).all()
                means = (f"{x.mean():.3f}" for x in (alpha_2, couple, alpha_3, derandomised))
                gain = 100 * (alpha_3 / couple - 1.0)
                yield name, K, diagonal, *means, f"{gain.mean():.1f}", f"{gain.max():.1f}"

    head = "alpha_2 | couple | alpha_3 | derandomised | gain, % | most, %"
    table(f"graph | K | diagonal | {head}", rows())


def product(graph: gbb.Graph, K: int, diagonal: str, seed: int) -> tuple[float, ...]:
    """alpha_2, the best couple, alpha_3 and the derandomised product, over the optimum."""
    M = gbb.instances.absolute_normal(K, seed=seed, zeta=0.0, distinct_couple=True)
    if diagonal == "0":  # no arm pays with itself
        np.fill_diagonal(M, 0.0)
    env = gbb.Environment(gbb.Problem(graph, np.eye(K), S=float(np.linalg.norm(M))), M)
    about = gbb.theory.report(env, cut=gbb.cuts.greedy(graph))
    couple = env.expected_reward(about.cut.allocation(about.best_couple_over_cut))
    arms = gbb.theory.derandomise(env, about.cut, about.product)
    best = about.optimum.value
    return about.alpha_2, couple / best, about.alpha_3, env.expected_reward(arms) / best


def bernoulli(matrices: int = 16, rounds: int = 1500) -> None:
    kinds = (P.ThompsonSampling, P.BernoulliThompson)

    def rows() -> Iterator[Sequence[Any]]:
        for arms in ("one-hot", "general"):
            for low, high in ((0.0, 1.0), (0.0, 0.1), (0.9, 1.0)):
                lost = []
                for seed in range(matrices):
                    rng = np.random.default_rng(seed)
                    # General arms are mixtures of three, so that probabilities stay in the range.
                    X = np.eye(3) if arms == "one-hot" else rng.dirichlet(np.ones(3), size=5)
                    M = low + (high - low) * rng.random((3, 3))
                    S = float(np.linalg.norm(M)) * (1 + 1e-9)
                    problem = gbb.Problem(gbb.Graph.complete(5), X, sigma=0.5, S=S)
                    env = gbb.Environment(problem, M, noise="bernoulli")
                    players = [kind(problem, cut=gbb.cuts.greedy(problem.graph)) for kind in kinds]
                    result = gbb.simulate(env, players, rounds=rounds, seed=seed, record=rounds)
                    lost.append(result.regret.values[:, 0, -1])
                worst, error = np.max(lost, axis=0), np.std(lost, axis=0, ddof=1) / matrices**0.5
                means = zip(np.mean(lost, axis=0), error, worst, strict=True)
                cells = [f"{mean:.0f} ± {half:.0f} | {most:.0f}" for mean, half, most in means]
                yield arms, f"{low:g} to {high:g}", *cells

    head = " | ".join(f"{kind.__name__} | worst" for kind in kinds)
    table(f"arms | probabilities | {head}", rows())


class Blind:
    """The same rounds for a learner that does not see the regime."""

    def __init__(self, env: gbb.Environment, problem: gbb.Problem) -> None:
        self.problem, self.expected, self.draw = problem, env.expected, env.draw


def regimes(rounds: int = 2000) -> None:
    """Fractions of the last tenth, seeing the regime and not, of five instances."""
    rows = []
    for name, graph in (
        ("complete:5", gbb.Graph.complete(5)),
        ("grid 4 x 4", gbb.Graph.grid(4, 4)),
    ):
        for kind, settings in ((P.ThompsonSampling, {}), (P.JointOFUL, {"delta": 1e-3})):
            found = [regime(graph, rounds, seed, partial(kind, **settings)) for seed in range(5)]
            told, blind, regret, bound = np.array(found).T
            first = f"{told.mean():.4f} (worst {told.min():.4f})"
            second = f"{blind.mean():.3f} (best {blind.max():.3f})"
            cells = (first, second, f"{regret.max():.0f}", f"{bound.min():.2g}")
            rows.append((f"{name}, `{kind.__name__}`", *cells))
    table("network, policy | told the regime | blind to it | alpha_2-regret, at most | bound", rows)


def regime(
    graph: gbb.Graph, rounds: int, seed: int, make: Callable[..., P.AnyPolicy]
) -> tuple[float, ...]:
    """Four regimes, d = K = 4, norm 1."""
    rng = np.random.default_rng(seed)
    M = np.abs(rng.normal(size=(4, 4, 4)))
    M /= np.linalg.norm(M, axis=(1, 2), keepdims=True)
    cut = gbb.cuts.greedy(graph)
    told = gbb.Problem(graph, np.eye(4), contexts=gbb.contexts.Regimes(4), sigma=0.1, S=1.0)
    blind = gbb.Problem(graph, np.eye(4), sigma=0.1, S=1.0)
    env = gbb.Environment(told, M, contexts=rng.integers(0, 4, rounds))
    seen = gbb.simulate(env, make(told, cut=cut), rounds=rounds, seed=seed)
    unseen = gbb.simulate(Blind(env, blind), make(blind, cut=cut), rounds=rounds, seed=seed)
    last = {"round": slice(rounds - rounds // 10 + 1, None)}
    optimum = (seen.expected_reward / seen.fraction).sel(last)
    return (
        float(seen.fraction.sel(last).mean()),
        float((unseen.expected_reward.sel(last) / optimum.values).mean()),
        float(seen.alpha_regret[0, 0, -1]),
        gbb.theory.regret_bound(told, rounds, delta=1e-3),
    )


def adversary(rounds: int = 100_000, runs: int = 8) -> None:
    """M = I and -I in turn, four arms in the plane, six agents on a path, no noise."""
    graph = gbb.Graph.path(6)
    arms = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    problem, cut = gbb.Problem(graph, arms, S=float(np.sqrt(2.0))), gbb.cuts.greedy(graph)
    matrices = gbb.adversary.switching([np.eye(2), -np.eye(2)])
    env = gbb.adversary.AdversarialEnvironment(problem, matrices, noise="none")
    marks, rows = np.unique(np.geomspace(1000, rounds, 9).astype(int)), []
    for kind in (P.ImprovedOFUL, P.JointOFUL, P.ExponentialWeights):
        own = runs if kind is P.ExponentialWeights else 2  # the others take much longer
        result = gbb.simulate(
            env, kind(problem, cut=cut), cut=cut, rounds=rounds, runs=own, record=marks
        )
        regret = result.regret.values[0]
        size = np.sqrt((regret**2).mean(axis=0))  # regrets near zero have either sign
        cells = [f"{m:,.0f} ({s:,.0f})" for m, s in zip(regret.mean(axis=0), size, strict=True)]
        slope = np.polyfit(np.log(marks), np.log(size), 1)[0]
        rows.append((kind.__name__, *cells[::4], f"{slope:.2f}"))
    heads = " | ".join(f"T = {mark:,}" for mark in marks[::4])
    table(f"policy | {heads} | exponent", rows)


def sphere(d: int, r: int, K: int, rng: np.random.Generator) -> gbb.Environment:
    """Unit arms in all directions and a matrix of rank r and norm 1, on six agents all linked."""
    arms = rng.normal(size=(K, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    M = rng.normal(size=(d, r)) @ rng.normal(size=(r, d))
    problem = gbb.Problem(gbb.Graph.complete(6), arms, sigma=0.1, S=1.0)
    return gbb.Environment(problem, M / np.linalg.norm(M))


def full(rng: np.random.Generator) -> gbb.Environment:
    M = gbb.instances.absolute_normal(5, seed=rng, frobenius=4.0, zeta=0.0, distinct_couple=True)
    return gbb.Environment(gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0), M)


def rank(instances: int = 20) -> None:
    settings = [
        ("d = 20, rank 1", partial(sphere, 20, 1, 60), 1, (10, 40, 160, 2560)),
        ("d = 30, rank 2", partial(sphere, 30, 2, 90), 2, (40, 160)),
        ("d = 20, rank 20, taken for 2", partial(sphere, 20, 20, 60), 2, (40, 160, 2560)),
        ("Figure 2 (d = 5, full), taken for 2", full, 2, (10, 40, 2560)),
    ]

    def rows() -> Iterator[Sequence[Any]]:
        for name, draw, r, marks in settings:
            for rounds in marks:
                found = []
                for seed in range(instances):
                    rng = np.random.default_rng([seed, rounds])
                    found.append(errors_and_shares(draw(rng), r, rounds, rng))
                mean = np.mean(found, axis=0)  # regulariser x estimator x (error, share)
                cells = (f"{x:.3f}" for x in (*mean[..., 0].min(axis=0), *mean[..., 1].max(axis=0)))
                yield name, f"{rounds:,}", *cells

    names = "ridge | low rank | of sums, rank 2 r | LowPopArt"
    table(f"setting | rounds | error: {names} | share: {names}", rows())
    whole_runs(instances)


def errors_and_shares(
    env: gbb.Environment, r: int, rounds: int, rng: np.random.Generator
) -> list[list[tuple[float, float]]]:
    """Error of the symmetric half, and the share of the best couple's reward, of every estimate.

    Each has three regularisers, of which the best on average counts: none is handicapped by it.
    """
    problem, record = env.problem, gbb.Record.empty(env.problem.K)
    steps = np.cumsum(gbb.g_optimal(problem.arms).weights)
    for _ in range(rounds):
        drawn = np.searchsorted(steps, rng.random(problem.n) * steps[-1], side="right")
        arms = np.minimum(drawn, problem.K - 1)
        paid = env.draw(1, arms, rng)
        record = record.merge(gbb.Record.of(problem.graph, arms, paid, problem.K))
    sums = gbb.Record((record.N + record.N.T) / 2, (record.Y + record.Y.T) / 2)
    cut, X, truth = gbb.cuts.greedy(problem.graph), problem.arms, env.M_star + env.M_star.T
    values, found = cut.couple_values(env.reward_table), []
    for factor in (0.01, 0.1, 1.0):
        # In units of the regulariser of the Bayes estimate for a full random matrix.
        lam = factor * (problem.sigma * problem.d / problem.S) ** 2
        estimates = [
            gbb.LowRank(problem, record, problem.d, lam).M_hat,
            gbb.LowRank(problem, record, r, lam).M_hat,
            gbb.LowRank(problem, sums, min(2 * r, problem.d), lam).M_hat,
            gbb.learning.LowPopArt(problem, record, r, lam).M_hat,
        ]
        row = []
        for M in estimates:
            error = np.linalg.norm(M + M.T - truth) / np.linalg.norm(truth)
            guess = np.argmax(cut.couple_values(X @ M @ X.T))
            row.append((float(error), float(values.ravel()[guess] / values.max())))
        found.append(row)
    return found


def whole_runs(instances: int, rounds: int = 120) -> None:
    """Exploring a third of the rounds, as is the default, each with the regulariser that suits it."""
    shares: dict[str, list[tuple[float, float]]] = {}
    for seed in range(instances):
        env = sphere(20, 1, 60, np.random.default_rng(seed))
        make = partial(
            P.ExploreThenCommit, env.problem, cut=gbb.cuts.greedy(env.problem.graph), horizon=rounds
        )
        low = partial(make, estimator="low_rank")
        players = [
            make(lam=4.0),
            low(rank=20, lam=4.0, name="ExploreThenCommit, low rank 20"),
            low(rank=1, lam=0.4, name="ExploreThenCommit, low rank 1"),
        ]
        result = gbb.simulate(env, players, rounds=rounds, seed=seed, method="reference", workers=1)
        for policy, fraction in zip(players, result.fraction.values[:, 0], strict=True):
            shares.setdefault(policy.name, []).append((fraction.mean(), fraction[-1]))
    rows = []
    for name, values in shares.items():
        error = np.std(values, axis=0, ddof=1) / np.sqrt(instances)
        both = zip(np.mean(values, axis=0), error, strict=True)
        rows.append((name, *(f"{mean:.3f} ± {half:.3f}" for mean, half in both)))
    table("policy | share of the optimum, all rounds | after exploring", rows)


STUDIES: dict[str, Callable[..., None]] = {
    each.__name__: each
    for each in (policies, guard, information, unknown, identify, limit, products)
} | {each.__name__: each for each in (bernoulli, regimes, adversary, rank)}


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in STUDIES:
        sys.exit(__doc__)
    STUDIES[sys.argv[1]](*map(int, sys.argv[2:]))
