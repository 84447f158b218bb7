"""Policies over whole allocations: optimism, posterior draws and greed, by tuple and local search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import gbb
import naive
from gbb.cuts import kcut
from gbb.learning import empty, observe
from gbb.policies import (
    EpsilonGreedy,
    GuardedThompson,
    ImprovedOFUL,
    JointOFUL,
    KCutOFUL,
    Learned,
    ThompsonSampling,
)
from gbb.simulation import engine
from gbb.simulation.reference import run_reference
from gbb.simulation.trace import recorded_rounds
from indices import couple_vectors, objective_of
from strategies import environments, graphs

GRAPHS = {
    "complete": gbb.Graph.complete(5),
    "odd circle": gbb.Graph.circle(7),
    "isolated agents": gbb.Graph.from_edges([[1, 3], [3, 4], [1, 4]], n=6, undirected=True),
    "random": gbb.Graph.random(9, p=0.5, seed=3),
}


def instance(graph, *, seed=0, K=4, d=3, arms=None, noise="gaussian"):
    """General arms and a matrix whose like arms do not go together, so that many arms are of use."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(K, d)) if arms is None else arms
    M = np.abs(rng.normal(size=(X.shape[1],) * 2))
    np.fill_diagonal(M, -1.0)
    problem = gbb.Problem(graph, X, sigma=0.5, S=float(np.linalg.norm(M)))
    return gbb.Environment(problem, M, noise=noise)


def seen(env, rounds, seed=0):
    """A state after rounds of random play."""
    rng = np.random.default_rng(seed)
    record = empty(env.problem)
    for _ in range(rounds):
        arms = rng.integers(env.problem.K, size=env.problem.n)
        rewards = env.draw(1, arms, rng)
        record = record.merge(observe(env.problem, arms, rewards))
    return Learned(rounds, record)


def index(policy, state):
    """Estimate, inverse and radius by dense algebra, for the naive twins."""
    problem, lam = policy.problem, objective_of(policy, state).ridge.lam
    ridge = gbb.Ridge(problem, state.record, lam)
    radius = 0.0
    if isinstance(policy, EpsilonGreedy):
        pass
    elif policy.radius == "paper":
        known = {"sigma": problem.sigma, "S": problem.S, "L": problem.L, "d": problem.d}
        known |= {"m": problem.m, "t": state.rounds, "lam": lam, "delta": policy.delta}
        radius = naive.paper_radius(**known)
    else:
        B = symmetric_basis(problem.d)
        grown = np.linalg.slogdet(B @ ridge.A @ B.T / lam)[1] - 2.0 * np.log(policy.delta)
        bias = lam / np.sqrt(smallest_eigenvalue(problem, ridge.A))
        radius = problem.sigma * np.sqrt(grown) + problem.S * bias
    return {"theta": ridge.theta_hat, "inverse": np.linalg.inv(ridge.A), "radius": radius}


def symmetric_basis(d):
    """An orthonormal basis of the symmetric matrices (d (d + 1) / 2 x d^2)."""
    basis = []
    for i, j in itertools.combinations_with_replacement(range(d), 2):
        E = np.zeros((d, d))
        E[i, j] = E[j, i] = 1.0
        basis.append(naive.vec(E) / np.linalg.norm(E))
    return np.array(basis)


def smallest_eigenvalue(problem, A):
    """Of A on symmetric matrices, or on the span of the pairs of orthogonal arms."""
    B = symmetric_basis(problem.d)
    if problem.orthogonal:
        u, s, _ = np.linalg.svd(np.array(problem.edge_arms).T)
        span = u[:, : np.count_nonzero(s > 1e-12)]
        u, s, _ = np.linalg.svd(span @ span.T @ B.T, full_matrices=False)
        B = u[:, s > 1e-6].T
    return np.linalg.eigvalsh(B @ A @ B.T)[0]


def edges_of(problem):
    return [tuple(edge) for edge in problem.graph.edges.tolist()]


@pytest.mark.parametrize("radius", ["paper", "symmetric", None])
@pytest.mark.parametrize("arms", [None, np.diag([1.0, 0.5, 2.0])], ids=["general", "orthogonal"])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_the_choice_is_that_of_the_plain_search(graph, arms, radius):
    env = instance(graph, arms=arms)
    problem, cut = env.problem, gbb.cuts.greedy(graph)
    policy = (
        EpsilonGreedy(problem, cut=cut, lam=0.7, epsilon=0.0, starts=2)
        if radius is None
        else JointOFUL(problem, cut=cut, lam=0.7, radius=radius, starts=2)
    )
    decided = 0
    for rounds in (1, 4, 30):
        state = seen(env, rounds, seed=rounds)
        terms = index(policy, state)
        everything = {
            couple: naive.index_of(problem.arms, edges_of(problem), cut.allocation(couple), **terms)
            for couple in itertools.product(range(problem.K), repeat=2)
        }
        first = max(everything, key=everything.get)
        rest = {key: value for key, value in everything.items() if set(key) != set(first)}
        second = max(rest, key=rest.get)
        ends = [
            naive.search(problem.arms, edges_of(problem), cut.allocation(couple), **terms)
            for couple in (first, second)
        ]
        values = [naive.index_of(problem.arms, edges_of(problem), end, **terms) for end in ends]
        choice = policy.select(state, np.random.default_rng(0))
        ties = [
            np.isclose(list(everything.values()), everything[x], rtol=1e-9) for x in (first, second)
        ]
        if np.sum(ties) == 2 and not np.isclose(*values, rtol=1e-9):
            assert choice.allocation.tolist() == ends[int(np.argmax(values))]
            decided += 1
        value = naive.index_of(problem.arms, edges_of(problem), choice.allocation, **terms)
        assert choice.value == pytest.approx(value, rel=1e-9)


@given(
    env=environments(), rounds=st.integers(0, 12), radius=st.sampled_from(["paper", "symmetric"])
)
def test_never_below_the_couples_optimistic_value(env, rounds, radius):
    """All that the proof of Theorem 4.1 asks of the allocation that is played."""
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    state = seen(env, rounds)
    joint = JointOFUL(problem, cut=cut, radius=radius)
    chosen = joint.select(state, np.random.default_rng(0))
    terms = index(joint, state)
    couple = max(
        naive.index_of(problem.arms, edges_of(problem), cut.allocation(couple), **terms)
        for couple in itertools.product(range(problem.K), repeat=2)
    )
    assert chosen.value >= couple - 1e-9 * abs(couple)
    true = naive.index_of(problem.arms, edges_of(problem), chosen.allocation, **index(joint, state))
    assert chosen.value == pytest.approx(true, rel=1e-8, abs=1e-9)


@given(env=environments(), rounds=st.integers(0, 12))
def test_no_single_agent_can_raise_the_value(env, rounds):
    problem = env.problem
    policy = JointOFUL(problem, cut=gbb.cuts.greedy(problem.graph))
    state = seen(env, rounds)
    choice = policy.select(state, np.random.default_rng(1))
    terms = index(policy, state)
    for agent, arm in itertools.product(range(problem.n), range(problem.K)):
        other = choice.allocation.copy()
        other[agent] = arm
        value = naive.index_of(problem.arms, edges_of(problem), other, **terms)
        assert value <= choice.value + 1e-7 * (1 + abs(choice.value))


@given(env=environments(nonnegative=True), seed=st.integers(0, 99))
def test_the_bound_of_theorem_2_holds(env, seed):
    cut = gbb.cuts.greedy(env.problem.graph)
    best = gbb.optimum.solve(env.problem, env.M_star)
    report = gbb.theory.report(env, cut=cut, optimum=best)
    policies = [
        JointOFUL(env.problem, cut=cut, radius=radius, name=radius)
        for radius in ("paper", "symmetric")
    ]
    found = gbb.simulate(env, policies, rounds=60, seed=seed, optimum=best)
    assert float(found.alpha[0]) == report.alpha_2
    bound = np.array([report.regret_bound(t) for t in range(1, 61)])
    assert (found.alpha_regret.values <= bound).all()


POLICIES = {
    "JointOFUL symmetric": (JointOFUL, {}),
    "JointOFUL paper": (JointOFUL, {"radius": "paper", "lam": 0.3}),
    "ThompsonSampling": (ThompsonSampling, {}),
    "GuardedThompson": (GuardedThompson, {"beta": 0.95}),
    "ThompsonSampling couple": (ThompsonSampling, {"starts": 0, "v": 2.0}),
    "EpsilonGreedy": (EpsilonGreedy, {"epsilon": 0.2}),
    "KCutOFUL": (KCutOFUL, {"k": 3, "radius": "symmetric"}),
}


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("arms", [None, np.eye(4)], ids=["general", "one-hot"])
@pytest.mark.parametrize("graph", ["complete", "random"])
def test_the_engine_replays_the_reference_bit_by_bit(graph, arms, name):
    env = instance(GRAPHS[graph], arms=arms)
    kind, options = POLICIES[name]
    policy = kind(env.problem, cut=gbb.cuts.greedy(env.problem.graph), **options)
    kept = recorded_rounds(800, 1)
    settings = (env, policy, 800, kept)
    plain = run_reference(*settings, np.random.SeedSequence(3), keep_allocations=True)
    seeds = [np.random.SeedSequence(3)]
    task = engine.Task(*settings[2:], seeds, keep_allocations=True, edge_noise=True)
    (fast,) = engine.run_batch(*settings[:2], task)
    np.testing.assert_array_equal(fast.allocation, plain.allocation)
    np.testing.assert_array_equal(fast.couple, plain.couple)
    np.testing.assert_allclose(fast.cumulative, plain.cumulative, rtol=1e-11)


@pytest.mark.parametrize("name", ["ThompsonSampling", "KCutOFUL"])
def test_aggregated_and_edge_level_runs_have_the_same_distribution(name):
    env = instance(GRAPHS["random"], noise="gaussian")
    kind, options = POLICIES[name]
    policy = kind(env.problem, cut=gbb.cuts.greedy(env.problem.graph), **options)
    settings = {"rounds": 100, "runs": 800, "record": [100]}
    fast = gbb.simulate(env, policy, seed=1, **settings).regret.values.ravel()
    slow = gbb.simulate(env, policy, seed=2, edge_noise=True, **settings).regret.values.ravel()
    # scipy's exact count fails where two samples of four values agree as well as these (p = 1)
    assert stats.ks_2samp(fast, slow, method="asymp").pvalue > 1e-3
    assert fast.std() > 0


@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("arms", [None, np.eye(4)], ids=["general", "one-hot"])
def test_two_parts_are_the_improved_algorithm(arms, radius):
    env = instance(gbb.Graph.complete(5), arms=arms)
    cut = gbb.cuts.greedy(env.problem.graph)
    settings = {"cut": cut, "radius": radius, "name": "same"}
    runs = [
        gbb.simulate(env, policy, rounds=5000, seed=1, edge_noise=True)
        for policy in (
            ImprovedOFUL(env.problem, **settings),
            KCutOFUL(env.problem, k=2, **settings),
        )
    ]
    np.testing.assert_array_equal(runs[0].couple, runs[1].couple)
    assert len(np.unique(runs[0].couple.values.reshape(-1, 2), axis=0)) > 3
    xr.testing.assert_allclose(*runs, rtol=1e-10)


@pytest.mark.parametrize("arms", [None, np.eye(3)], ids=["general", "one-hot"])
def test_the_tuple_is_the_best_of_all(arms):
    env = instance(gbb.Graph.circle(7), arms=arms, K=3)
    problem = env.problem
    policy = KCutOFUL(problem, cut=gbb.cuts.greedy(problem.graph), k=3)
    for rounds in range(6):
        state = seen(env, rounds)
        terms = index(policy, state)
        values = [
            naive.index_of(problem.arms, edges_of(problem), policy.cut.allocation(arms), **terms)
            for arms in itertools.product(range(3), repeat=3)
        ]
        choice = policy.select(state, np.random.default_rng(0))
        assert choice.value == pytest.approx(max(values), rel=1e-9)
        assert choice.couple is None


@pytest.mark.parametrize("arms", [None, np.eye(3)], ids=["general", "one-hot"])
def test_thompson_draws_from_the_posterior(arms):
    """How often each couple is best, against draws of the whole matrix by dense algebra."""
    env = instance(gbb.Graph.circle(5), arms=arms, K=3)
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    policy = ThompsonSampling(problem, cut=cut, v=0.8, starts=0)
    state = seen(env, 3)
    draws = 4000
    rng = np.random.default_rng(0)
    couples = [policy.select(state, rng).couple for _ in range(draws)]
    found = np.zeros(9)
    np.add.at(found, [a * 3 + b for a, b in couples], 1.0)
    ridge = objective_of(policy, state).ridge
    objectives = couple_vectors(ImprovedOFUL(problem, cut=cut))
    full = gbb.Ridge(problem, state.record, ridge.lam)
    root = np.linalg.cholesky(np.linalg.inv(full.A))
    theta = full.theta_hat + 0.8 * rng.standard_normal((draws, len(root))) @ root.T
    expected = np.bincount(np.argmax(theta @ objectives.T, axis=1), minlength=9)
    kept = found + expected > 20
    assert kept.sum() >= 3
    assert stats.chi2_contingency([found[kept], expected[kept]]).pvalue > 1e-3


def test_epsilon_is_the_share_of_random_rounds():
    env = instance(gbb.Graph.complete(5))
    policy = EpsilonGreedy(env.problem, cut=gbb.cuts.greedy(env.problem.graph), epsilon=0.3)
    rng, state = np.random.default_rng(0), seen(env, 200)
    values = [policy.select(state, rng).value for _ in range(3000)]
    assert np.isnan(values).mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 3000))
    every = EpsilonGreedy(env.problem, cut=policy.cut, epsilon=1.0)
    arms = np.array([every.select(state, rng).allocation for _ in range(2000)])
    assert np.bincount(arms.ravel()) / arms.size == pytest.approx(np.full(4, 0.25), abs=0.02)


def test_less_is_lost_than_by_two_arms_on_the_papers_figure_2():
    """A few matrices of the setting of Figure 2; docs/policies.md has twenty."""
    graph = gbb.Graph.complete(5)
    problem = gbb.Problem(graph, np.eye(5), S=4.0)
    cut = gbb.cuts.greedy(graph)
    policies = [kind(problem, cut=cut) for kind in (ImprovedOFUL, JointOFUL, ThompsonSampling)]
    total = np.zeros(3)
    for seed in range(100, 106):
        M = gbb.instances.absolute_normal(
            5, seed=seed, frobenius=4.0, zeta=0.0, distinct_couple=True
        )
        env = gbb.Environment(problem, M)
        found = gbb.simulate(env, policies, rounds=20_000, runs=2, seed=seed, record=[20_000])
        total += found.regret.mean("run").values.ravel()
    assert total[1] <= total[0] / 5
    assert total[2] <= total[0] / 25


class TestParts:
    @given(graph=graphs(max_n=9), k=st.integers(2, 4))
    def test_refining_a_cut_leaves_no_agent_that_gains_by_moving(self, graph, k):
        found = gbb.cuts.refine(gbb.cuts.greedy(graph), k)
        assert found.rho >= max(1 - 1 / k, gbb.cuts.greedy(graph).rho) - 1e-12
        assert found.k == k

    def test_three_parts_of_an_odd_circle_stay_near_its_cut(self):
        graph = gbb.Graph.circle(21)
        cut = gbb.cuts.greedy(graph)
        found = gbb.cuts.refine(cut, 3)
        assert found.rho == 1
        assert np.count_nonzero(found.parts != cut.sides) == 1
        assert found.merged.rho == cut.rho

    @given(graph=graphs(max_n=8), seed=st.integers(0, 9))
    def test_the_best_grouping_in_two(self, graph, seed):
        parts = kcut(graph, 3, seed=seed)
        groupings = [
            gbb.Cut.of(graph, np.array(side)[parts.parts])
            for side in itertools.product(range(2), repeat=3)
        ]
        assert parts.merged.m12 == max(cut.m12 for cut in groupings)

    def test_too_many_parts_are_refused(self):
        parts = gbb.Cut.of(gbb.Graph.circle(21), np.arange(21) % 20, 20)
        with pytest.raises(gbb.InputError, match=r"`k` to be at most 16, but got 20.*2\^k"):
            parts.merged  # noqa: B018


def problem_of(graph, K=3):
    return gbb.Problem(graph, np.eye(K), S=2.0)


CIRCLE = problem_of(gbb.Graph.circle(5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda cut: JointOFUL(CIRCLE, cut=cut, radius="symetric"),
            r"`radius` to be one of .* got 'symetric'\. Did you mean 'symmetric'\?",
        ),
        (
            lambda cut: JointOFUL(CIRCLE, cut=cut, starts=0),
            r"`starts` to be a whole number >= 1, but got 0",
        ),
        (
            lambda cut: ThompsonSampling(CIRCLE, cut=cut, v=-1.0),
            r"`v` to be a finite number >= 0, but got -1",
        ),
        (
            lambda cut: EpsilonGreedy(CIRCLE, cut=cut, epsilon=1.5),
            r"`epsilon` to be a finite number >= 0 and <= 1, but got 1\.5",
        ),
        (lambda cut: KCutOFUL(CIRCLE, cut=cut, k=1), r"`k` to be a whole number >= 2"),
        (
            lambda cut: KCutOFUL(CIRCLE, cut=kcut(CIRCLE.graph, 4), k=3),  # noqa: ARG005
            r"`cut` to have 3 parts, but got 4",
        ),
        (
            lambda cut: KCutOFUL(CIRCLE, cut=kcut(gbb.Graph.circle(7), 3), k=3),  # noqa: ARG005
            r"`cut` to cut the problem's graph",
        ),
        (
            lambda cut: KCutOFUL(problem_of(gbb.Graph.circle(5), 200), cut=cut, k=3),
            r"`k` to have at most 2,000,000 tuples of arms.*200\^3\. Take fewer parts",
        ),
        (lambda cut: JointOFUL(CIRCLE, cut="greedy"), r"`cut` to be a gbb\.Cut, but got str"),  # noqa: ARG005
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(gbb.InputError, match=message):
        call(gbb.cuts.greedy(CIRCLE.graph))


UNIT = np.random.default_rng(1).normal(size=(6, 4))
UNIT /= np.linalg.norm(UNIT, axis=1)[:, None]


@pytest.mark.parametrize(
    ("arms", "sigma", "S", "feedback"),
    [
        *((np.eye(5), sigma, 4.0, "edge") for sigma in (1e-3, 1e-4, 1e-5, 1e-9, 0.0)),
        (np.eye(5), 0.1, 4000.0, "edge"),
        (UNIT, 1e-5, 4.0, "edge"),
        (UNIT, 0.0, 4.0, "agent"),
        (UNIT * 1e3, 1e-3, 4.0, "edge"),
        (UNIT * 1e-3, 1e-9, 4.0, "edge"),
    ],
)
def test_less_noise_does_not_narrow_the_prior_of_thompson_sampling(arms, sigma, S, feedback):
    graph = gbb.Graph.complete(5)
    problem = gbb.Problem(graph, arms, sigma=sigma, S=S, feedback=feedback)
    policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(graph))
    v, lam = policy.learner.prior(problem)
    assert v / np.sqrt(lam) >= (1 - 1e-9) * S / problem.d
    for seed in range(3):
        M = gbb.instances.absolute_normal(problem.d, seed=seed, frobenius=S)
        env = gbb.Environment(problem, M)
        played = gbb.simulate(env, policy, rounds=400, runs=2, seed=seed, workers=1)
        assert played["fraction"].values[..., -100:].mean() >= 0.99


def test_thompson_sampling_is_as_it_was_where_there_is_noise():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(problem.graph))
    assert policy.learner.prior(problem) == (1.0, 1.0)
    given = gbb.policies.ThompsonSampling(problem, cut=policy.cut, v=0.01)
    assert given.learner.prior(problem) == (0.01, (0.01 * 5 / 4.0) ** 2)
