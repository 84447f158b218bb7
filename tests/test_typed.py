"""Edge types, weights, rewards in sums and forbidden arms, against slow obvious twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import gbb
from gbb.learning import Record, Ridge, empty, observe
from gbb.learning.radius import confidence_radius, paper
from gbb.learning.record import regressors
from gbb.policies import LocalSearch, find, names
from gbb.policies._search import tuple_values
from indices import objective_of
from strategies import arm_sets, graphs

FEEDBACKS = ("edge", "link", "agent", "global")
GENERAL = [name for name in names() if find(name).requires == ""]


@st.composite
def general_environments(draw: st.DrawFn, *, feedback: str | None = None) -> gbb.Environment:
    """Small problems with types, weights (zero and negative ones too) and forbidden arms."""
    graph, arms = draw(graphs(max_n=5)), draw(arm_sets(max_K=3, max_d=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    K, m = len(arms), graph.m
    types = rng.integers(0, draw(st.integers(1, 3)), m)
    weights = rng.choice([0.0, 1.0, 1.0, 2.0, -0.5], m)
    weights[0] = 1.0
    allowed = rng.random((graph.n, K)) < 0.7
    allowed[np.arange(graph.n), rng.integers(0, K, graph.n)] = True
    problem = gbb.Problem(
        graph,
        arms,
        sigma=0.3,
        S=3.0,
        edge_types=types,
        edge_weights=weights,
        allowed=allowed,
        feedback=feedback or draw(st.sampled_from(FEEDBACKS)),
    )
    shape = (problem.types, problem.d, problem.d)
    return gbb.Environment(problem, rng.uniform(-1, 1, shape), noise="gaussian")


def naive_observations(env: gbb.Environment, arms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Regressors and expected values of a round, edge by edge with plain loops."""
    problem = env.problem
    sizes = {"edge": problem.m, "link": problem.m // 2, "agent": problem.n, "global": 1}
    size = sizes[problem.feedback]
    links = [(i, j) for i, j in problem.graph.edges.tolist() if i < j]
    q, y = np.zeros((size, problem.parameters)), np.zeros(size)
    for e, (i, j) in enumerate(problem.graph.edges.tolist()):
        link = links.index((min(i, j), max(i, j)))
        row = {"edge": e, "link": link, "agent": i, "global": 0}[problem.feedback]
        g, w = problem.edge_types[e], problem.edge_weights[e]
        outer = np.outer(problem.arms[arms[i]], problem.arms[arms[j]])
        q[row, g * problem.d**2 : (g + 1) * problem.d**2] += w * outer.ravel(order="F")
        M = env.M_star if env.M_star.ndim == 2 else env.M_star[g]
        y[row] += w * problem.arms[arms[i]] @ M @ problem.arms[arms[j]]
    return q, y


def random_arms(problem: gbb.Problem, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(row)) for row in problem.allowed])


@given(general_environments(), st.integers(0, 2**32))
def test_a_round_is_what_the_loops_say(env: gbb.Environment, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, arms = env.problem, random_arms(env.problem, rng)
    q, y = naive_observations(env, arms)
    np.testing.assert_allclose(regressors(problem, arms), q, atol=1e-12)
    assert env.expected_reward(arms) == pytest.approx(y.sum(), abs=1e-9)
    quiet = gbb.Environment(problem, env.M_star, noise="none")
    np.testing.assert_allclose(quiet.draw(1, arms, rng), y, atol=1e-9)
    noisy = env.draw(1, arms, rng) - y
    silent = problem.edge_weights == 0.0
    if problem.feedback == "edge":
        assert not noisy[silent].any()
    assert noisy.shape == (problem.observations,)


@given(general_environments(), st.integers(0, 2**32), st.floats(0.1, 10.0))
def test_the_estimate_is_ridge_regression_on_all_observations(
    env: gbb.Environment, seed: int, lam: float
) -> None:
    rng, problem = np.random.default_rng(seed), env.problem
    assume(not problem.symmetric_only)  # which has a test of its own
    record, rows, responses = empty(problem), [], []
    for _ in range(6):
        arms = random_arms(problem, rng)
        y = env.draw(1, arms, rng)
        record = record.merge(observe(problem, arms, y))
        rows.append(naive_observations(env, arms)[0])
        responses.append(y)
    Q, y = np.vstack(rows), np.concatenate(responses)
    A = lam * np.eye(problem.parameters) + Q.T @ Q
    theta = np.linalg.solve(A, Q.T @ y).reshape(problem.types, problem.d, problem.d)
    ridge = Ridge(problem, record, lam)
    np.testing.assert_allclose(ridge.M_hats, theta.transpose(0, 2, 1), atol=1e-8)
    assert ridge.log_det == pytest.approx(np.linalg.slogdet(A)[1] - len(A) * np.log(lam), abs=1e-8)
    if not ridge.coordinates.diagonal:  # there, of what is in the span of the edge-arms
        assert ridge.smallest == pytest.approx(np.linalg.eigvalsh(A)[0], rel=1e-6)
    assert (
        np.linalg.eigvalsh(A)[0] * (1 - 1e-9)
        <= ridge.smallest
        <= np.linalg.eigvalsh(A)[-1] * (1 + 1e-9)
    )
    arms = random_arms(problem, rng)
    total = naive_observations(env, arms)[0].sum(axis=0)
    mean, width = ridge.total(arms)
    assert mean == pytest.approx(total @ np.linalg.solve(A, Q.T @ y), abs=1e-8)
    assert width == pytest.approx(np.sqrt(total @ np.linalg.solve(A, total)), abs=1e-8)
    K, d = problem.K, problem.d
    for g, a, b in itertools.product(range(problem.types), range(K), range(K)):
        z = np.zeros((problem.types, d * d))
        z[g] = np.outer(problem.arms[a], problem.arms[b]).ravel(order="F")
        flat = z.ravel()
        assert ridge.means[g, a, b] == pytest.approx(
            problem.arms[a] @ ridge.M_hats[g] @ problem.arms[b], abs=1e-8
        )
        assert ridge.widths[g, a, b] == pytest.approx(
            np.sqrt(flat @ np.linalg.solve(A, flat)), abs=1e-8
        )


@given(general_environments(feedback="agent"), st.integers(0, 2**32))
def test_part_of_the_agents_is_a_part_of_the_record(env: gbb.Environment, seed: int) -> None:
    rng, problem = np.random.default_rng(seed), env.problem
    arms = random_arms(problem, rng)
    y = env.draw(1, arms, rng)
    some = rng.random(problem.n) < 0.5
    halves = [observe(problem, arms, np.where(part, y, np.nan)) for part in (some, ~some)]
    both, whole = halves[0].merge(halves[1]), observe(problem, arms, y)
    for name, value in whole.to_dict().items():
        np.testing.assert_allclose(both.to_dict()[name], value, atol=1e-12)


@given(general_environments())
def test_the_optimum_minds_types_weights_and_forbidden_arms(env: gbb.Environment) -> None:
    problem = env.problem
    choices = [np.flatnonzero(row) for row in problem.allowed]
    best = max(env.expected_reward(np.array(each)) for each in itertools.product(*choices))
    found = gbb.optimum.solve(problem, env.M_star)
    assert found.proven
    assert found.value == pytest.approx(best, abs=1e-8)
    assert problem.allowed[np.arange(problem.n), found.allocation].all()
    assert env.expected_reward(found.allocation) == pytest.approx(found.value, abs=1e-8)


def build(name: str, problem: gbb.Problem, **settings: object) -> gbb.policies.AnyPolicy:
    kind = gbb.policies.find(name)
    known = {"cut": gbb.cuts.greedy(problem.graph), "radius": "complete"}
    has = gbb.policies.setting_names(kind)
    return kind(problem, **{key: each for key, each in known.items() if key in has}, **settings)


@pytest.mark.parametrize("name", GENERAL)
@settings(max_examples=15)
@given(env=general_environments(), seed=st.integers(0, 2**32))
def test_every_general_policy_plays_every_problem(
    name: str, env: gbb.Environment, seed: int
) -> None:
    problem, rng = env.problem, np.random.default_rng(seed)
    policy = build(name, problem)
    state = policy.init()
    for _ in range(4):
        choice = policy.select(state, rng)
        assert problem.allowed[np.arange(problem.n), choice.allocation].all()
        state = policy.update(state, choice, env.draw(1, choice.allocation, rng))


@given(general_environments(), st.integers(0, 2**32), st.sampled_from(["paper", "complete"]))
def test_the_joint_value_is_that_of_its_allocation_and_never_below_a_couple(
    env: gbb.Environment, seed: int, radius: str
) -> None:
    problem, rng = env.problem, np.random.default_rng(seed)
    policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(problem.graph), radius=radius)
    state = policy.init()
    for _ in range(3):
        choice = policy.select(state, rng)
        objective = objective_of(policy, state)
        ridge, width = objective.ridge, objective.radius
        mean, norm = ridge.total(choice.allocation)
        assert choice.value == pytest.approx(mean + width * norm, rel=1e-9, abs=1e-9)
        couples = tuple_values(policy.search.tuples(problem), objective)
        assert choice.value >= couples.max() - 1e-9 * abs(couples.max())
        for agent in range(problem.n):  # a local optimum: nobody gains alone
            for arm in np.flatnonzero(problem.allowed[agent]):
                other = choice.allocation.copy()
                other[agent] = arm
                mean, norm = ridge.total(other)
                assert mean + width * norm <= choice.value + 1e-7 * max(1.0, abs(choice.value))
        state = policy.update(state, choice, env.draw(1, choice.allocation, rng))


@pytest.mark.parametrize("radius", ["paper", "complete", "symmetric"])
def test_the_confidence_set_holds_every_matrix(radius: str) -> None:
    """All of theta stays within the radius in every round, in far more than 1 - delta of the runs."""
    graph = gbb.Graph.random(6, p=0.7, seed=2)
    links = np.array([(i * 7 + j * 7) % 3 for i, j in graph.edges])
    feedback = "edge" if radius == "symmetric" else "agent"
    problem = gbb.Problem(graph, np.eye(2), sigma=1.0, S=2.0, edge_types=links, feedback=feedback)
    rng, misses = np.random.default_rng(0), 0
    for _ in range(60):
        M = rng.uniform(0, 1, (3, 2, 2))
        env = gbb.Environment(problem, M)
        record = empty(problem)
        worst = 0.0
        for t in range(1, 41):
            arms = rng.integers(0, 2, graph.n)
            record = record.merge(observe(problem, arms, env.draw(1, arms, rng)))
            ridge = Ridge(problem, record, 1.0)
            halves = Ridge(problem, record, 1.0, symmetric=radius == "symmetric")
            width = (
                float(paper(problem, np.array(t), 1.0, 0.05))
                if radius == "paper"
                else confidence_radius(halves, 0.05)
            )
            error = ridge.M_hat - M
            if radius == "symmetric":
                error = (error + error.transpose(0, 2, 1)) / 2
            flat = error.transpose(0, 2, 1).ravel()
            worst = max(worst, np.sqrt(flat @ ridge.A @ flat) / width)
        misses += worst > 1.0
    assert misses <= 3


@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("name", ["JointOFUL", "ThompsonSampling"])
def test_they_learn_typed_problems(feedback: str, name: str) -> None:
    rng = np.random.default_rng(4)
    graph = gbb.Graph.circle(6)
    types = np.array([min(i, j) % 2 for i, j in graph.edges])
    problem = gbb.Problem(graph, np.eye(3), sigma=0.2, S=2.0, edge_types=types, feedback=feedback)
    env = gbb.Environment(problem, rng.uniform(0, 1, (2, 3, 3)))
    policy = build(name, problem)
    result = gbb.simulate(env, [policy], rounds=400, runs=2, seed=1)
    late = result.fraction.values[0, :, -50:].mean()
    early = result.fraction.values[0, :, :20].mean()
    assert late > 0.97 > early
    assert (result.alpha.values == 1.0).all()


def test_each_agent_its_own_matrix_beats_a_shared_one() -> None:
    rng, graph = np.random.default_rng(1), gbb.Graph.complete(5)
    own = gbb.Problem(graph, np.eye(3), sigma=0.3, S=3.0, edge_types="source")
    assert own.types == 5
    assert not own.symmetric
    env = gbb.Environment(own, rng.uniform(0, 1, (5, 3, 3)))
    shared = gbb.Problem(graph, np.eye(3), sigma=0.3, S=3.0)
    earned = {}
    for problem in (own, shared):
        policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(graph))
        state, noise, own_rng = policy.init(), np.random.default_rng(2), np.random.default_rng(3)
        total = 0.0
        for t in range(600):
            choice = policy.select(state, own_rng)
            total += env.expected_reward(choice.allocation) if t >= 500 else 0.0
            state = policy.update(state, choice, env.draw(1, choice.allocation, noise))
        earned[problem.types] = total / 100
    best = gbb.optimum.solve(own, env.M_star).value
    assert earned[5] > 0.98 * best
    assert earned[5] > earned[1]


def test_typed_tables_of_a_type_are_the_ridge_of_that_type() -> None:
    rng, graph = np.random.default_rng(0), gbb.Graph.complete(5)
    problem = gbb.Problem(graph, rng.standard_normal((4, 3)), edge_types="source")
    env = gbb.Environment(problem, rng.standard_normal((5, 3, 3)))
    record = empty(problem)
    for _ in range(10):
        arms = rng.integers(0, 4, 5)
        record = record.merge(observe(problem, arms, env.draw(1, arms, rng)))
    plain = gbb.Problem(graph, problem.arms)
    ridge = Ridge(problem, record, 0.5)
    for g in range(5):
        own = Ridge(plain, Record(record.N[g], record.Y[g]), 0.5)
        np.testing.assert_allclose(ridge.M_hat[g], own.M_hat, atol=1e-9)
        np.testing.assert_allclose(ridge.widths[g].ravel(), own.width(plain.edge_arms), atol=1e-9)


GRAPH = gbb.Graph.circle(4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"edge_types": [0, 1]}, r"`edge_types` to have shape \(8,\)"),
        ({"edge_types": [0.5] * 8}, "`edge_types` to hold whole numbers"),
        ({"edge_types": [-1] + [0] * 7}, "`edge_types` to hold numbers from 0"),
        ({"edge_types": [10**9] + [0] * 7}, "`edge_types` to hold numbers from 0 to 999"),
        ({"edge_types": "target"}, "`edge_types` to be one of 'source'"),
        ({"edge_weights": [1.0] * 7}, r"`edge_weights` to have shape \(8,\)"),
        ({"edge_weights": [0.0] * 8}, "`edge_weights` to hold weights that are not all zero"),
        ({"edge_weights": [np.nan] * 8}, "`edge_weights` to hold finite numbers"),
        ({"feedback": "node"}, "`feedback` to be one of 'agent', 'edge', 'global'"),
        ({"allowed": np.ones((4, 3))}, "`allowed` to be a boolean array"),
        ({"allowed": np.zeros((4, 2), bool)}, "`allowed` to leave every agent an arm"),
    ],
)
def test_bad_links_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(gbb.InputError, match=message):
        gbb.Problem(GRAPH, np.eye(2), **settings)


def test_policies_say_which_problems_they_cannot_play() -> None:
    problem = gbb.Problem(GRAPH, np.eye(2), feedback="agent")
    cut = gbb.cuts.greedy(GRAPH)
    with pytest.raises(gbb.InputError, match="one matrix, no weights, rewards per edge"):
        gbb.policies.ExploreThenCommit(problem, cut=cut, horizon=10)
    with pytest.raises(gbb.InputError, match="Pass radius='complete'"):
        gbb.policies.JointOFUL(problem, cut=cut, radius="symmetric")
    policy = gbb.policies.JointOFUL(problem, cut=cut)
    choice = policy.select(policy.init(), np.random.default_rng(0))
    with pytest.raises(gbb.InputError, match=r"`rewards` to have shape \(4,\), one per agent"):
        policy.update(policy.init(), choice, np.ones(1))
    with pytest.raises(gbb.InputError, match="`env` to be of the paper's problem"):
        gbb.theory.report(gbb.Environment(problem, np.eye(2)), cut=cut)
    only = np.array([[True, False]] * 4)
    with pytest.raises(gbb.InputError, match="play allowed arms"):
        gbb.policies.FixedAllocation(
            gbb.Problem(GRAPH, np.eye(2), allowed=only), allocation=[1, 0, 0, 0]
        )


def test_a_pinned_agent_keeps_its_arm_in_every_part() -> None:
    allowed = np.ones((4, 3), dtype=bool)
    allowed[0] = [False, True, False]
    problem = gbb.Problem(GRAPH, np.eye(3), allowed=allowed)
    parts = gbb.Cut.of(GRAPH, [0, 1, 2, 1], 3)
    for policy in (
        gbb.policies.KCutOFUL(problem, cut=parts, k=3),
        gbb.policies.ImprovedOFUL(problem, cut=gbb.cuts.greedy(GRAPH)),
    ):
        state, rng = policy.init(), np.random.default_rng(0)
        env = gbb.Environment(problem, np.arange(9.0).reshape(3, 3) / 9)
        for _ in range(5):
            choice = policy.select(state, rng)
            assert choice.allocation[0] == 1
            state = policy.update(state, choice, env.draw(1, choice.allocation, rng))


@pytest.mark.parametrize("feedback", ["edge", "agent"])
@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4])
def test_large_arms_that_are_rarely_played_keep_honest_widths(feedback: str, scale: float) -> None:
    """Against a QR factorisation of all rows, which squares nothing: never narrower, never wild."""
    rng, graph = np.random.default_rng(2), gbb.Graph.grid(4, 4)
    arms = scale * rng.standard_normal((6, 3))
    kinds = rng.integers(0, 2, graph.m)
    problem = gbb.Problem(graph, arms, edge_types=kinds, feedback=feedback, S=1.0)
    record, rows = empty(problem), []
    for _ in range(300):
        played = rng.choice([0, 5], graph.n)
        rows.append(regressors(problem, played))
        record = record.merge(observe(problem, played, np.zeros(problem.observations)))
    stacked = np.vstack([*rows, np.eye(problem.parameters)])
    R = np.linalg.qr(stacked, mode="r")
    z = np.zeros((problem.types, problem.K**2, problem.parameters))
    for g in range(problem.types):
        z[g, :, g * 9 : (g + 1) * 9] = problem.edge_arms
    exact = np.linalg.norm(np.linalg.solve(R.T, z.reshape(-1, problem.parameters).T), axis=0)
    widths = Ridge(problem, record, 1.0).widths.ravel()
    assert (widths >= 0.99 * exact).all()
    seen = exact < 1e-3 * np.linalg.norm(z.reshape(len(exact), -1), axis=1)
    assert (widths[~seen] <= 1.01 * exact[~seen]).all()
    assert np.isfinite(widths).all()
    log_det = 2 * np.log(np.abs(np.diag(R))).sum()
    assert Ridge(problem, record, 1.0).log_det == pytest.approx(log_det, rel=0.02)


class NoRestarts(LocalSearch):
    """Local search from couples alone."""

    def restarts(self, problem: gbb.Problem) -> int:  # noqa: ARG002
        return 0


def test_random_starts_find_what_couples_do_not() -> None:
    """Every agent its own matrix, all but known: the search must not depend on couples alone."""
    graph = gbb.Graph.random(20, p=0.3, seed=0)
    problem = gbb.Problem(graph, np.eye(4), sigma=0.01, S=4.0, edge_types="source")
    cut, gains = gbb.cuts.greedy(graph), []
    for seed in range(12):
        M = np.random.default_rng(seed).standard_normal((problem.types, 4, 4))
        env, rng = gbb.Environment(problem, M / 2.0), np.random.default_rng(seed)
        policy = gbb.policies.ThompsonSampling(problem, cut=cut, v=0.0)
        state = policy.init()
        for _ in range(100):
            choice = gbb.policies.UniformRandom(problem).select(0, rng)
            state = policy.update(state, choice, env.draw(1, choice.allocation, rng))
        objective = objective_of(policy, state)
        only = NoRestarts(cut).maximise(objective, rng)
        gains.append(policy.select(state, rng).value - only.value)
    assert min(gains) >= -1e-9
    assert sum(gain > 0.1 for gain in gains) >= 3


@settings(max_examples=40, deadline=None)
@given(general_environments(), st.booleans(), st.integers(0, 99))
def test_widths_of_vectors_are_those_of_plain_matrices(env, halves, seed):
    problem, rng = env.problem, np.random.default_rng(seed)
    record = empty(problem)
    for _ in range(3):
        arms = rng.integers(problem.K, size=problem.n)
        record = record.merge(observe(problem, arms, env.draw(1, arms, rng)))
    ridge = Ridge(problem, record, 0.5, symmetric=halves and problem.symmetric)
    vectors = rng.normal(size=(4, problem.parameters))
    if ridge.symmetric:
        M = vectors.reshape(4, problem.types, problem.d, problem.d)
        vectors = ((M + M.transpose(0, 1, 3, 2)) / 2).reshape(4, -1)
        N, Y = record.tables
        even = Record((N + N.transpose(0, 2, 1)) / 2, (Y + Y.transpose(0, 2, 1)) / 2)
        inverse = np.linalg.inv(Ridge(problem, even, 0.5).A)
    else:
        inverse = np.linalg.inv(ridge.A)
    wanted = np.sqrt(np.einsum("si,ij,sj->s", vectors, inverse, vectors))
    np.testing.assert_allclose(ridge.width(vectors), wanted, rtol=1e-7)
    each = problem.d**2
    one = np.atleast_2d(ridge.width(vectors[:, :each]))
    for g in range(problem.types):
        own = np.zeros_like(vectors)
        own[:, g * each : (g + 1) * each] = vectors[:, :each]
        np.testing.assert_allclose(one[g], ridge.width(own), rtol=1e-9)


def test_vectors_that_are_of_no_type_are_refused():
    graph = gbb.Graph.complete(3)
    problem = gbb.Problem(graph, np.eye(2), edge_types=graph.sources % 2)
    ridge = Ridge(problem, empty(problem))
    with pytest.raises(
        gbb.InputError, match="`vectors` to have 4 columns, or 8 for all types, but"
    ):
        ridge.width(np.ones((1, 5)))
    with pytest.raises(gbb.InputError, match="`vectors` to have 2 dimensions"):
        ridge.width(np.ones(4))
