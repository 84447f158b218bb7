"""Where nobody knows sigma and S: what the record says of them, and policies that play by it."""

import math

import numpy as np
import pytest

import gbb
from gbb.learning import Record, confidence, observe
from gbb.learning.record import empty, from_dict, regressors
from gbb.learning.scales import (
    LAMS,
    UNSEEN,
    Scales,
    estimate_scales,
    estimation_rounds,
    needs_estimate,
)
from gbb.policies import OFUL, EpsilonGreedy, JointOFUL, ThompsonSampling

ARMS = np.array([[1.0, 0.2], [0.3, 0.9], [-0.4, 0.8]])
M = np.array([[1.0, 0.4], [-0.3, 0.9]])
KINDS = {
    "paper": {},
    "typed": {"edge_types": "source"},
    "weighted": {"edge_weights": [0.5, 0.5, 2.0, 2.0, 0.0, 0.0, 1.0, 1.0]},
    "links": {"feedback": "link"},
    "agents": {"feedback": "agent"},
    "sum": {"feedback": "global"},
}


def unknown(kind="paper", *, arms=ARMS, scale=1.0, sigma=0.5, noise="gaussian", **known):
    """An environment whose learner knows neither."""
    graph = gbb.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], undirected=True)
    given = {"sigma": None, "S": None, **KINDS[kind], **known}
    problem = gbb.Problem(graph, arms, **given)
    matrices = M if problem.types == 1 else np.stack([M * (1 + g) for g in range(problem.types)])
    return gbb.Environment(problem, scale * matrices, noise=noise, sigma=scale * sigma)


def play(env, rounds, seed=0):
    """The record of rounds of random allocations, with all that was told."""
    problem, rng, record = env.problem, np.random.default_rng(seed), empty(env.problem)
    rows = []
    for t in range(1, rounds + 1):
        arms = rng.integers(problem.K, size=problem.n)
        rewards = env.draw(t, arms, rng)
        record = record.merge(observe(problem, arms, rewards))
        rows += list(zip(regressors(problem, arms), rewards, strict=True))
    q, y = map(np.array, zip(*rows, strict=True))
    paying = np.abs(q).sum(axis=1) > 0
    return record, q[paying], y[paying]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_expected_is_the_average_over_the_posterior(kind):
    """Against the dense Gaussian law of all rewards, on the same grid of lam."""
    env = unknown(kind)
    problem = env.problem
    record, q, y = play(env, 12)
    assert (record.count, record.squares) == (len(y), pytest.approx(y @ y))
    logs, sigmas = [], []
    lams = LAMS * problem.L**2
    for lam in lams:
        C = np.eye(len(y)) + q @ q.T / lam
        s = y @ np.linalg.solve(C, y)
        x = problem.L / math.sqrt(lam)
        logs.append(
            -len(y) / 2 * math.log(s) - np.linalg.slogdet(C)[1] / 2 + math.log(x / (1 + x * x))
        )
        sigmas.append(math.sqrt(s / len(y)))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    sigma, lam = (np.exp(weights @ np.log(each)) for each in (sigmas, lams))
    found = estimate_scales(problem, record, 0.1)
    assert found.sigma == pytest.approx(sigma, rel=1e-6)
    assert pytest.approx(problem.d * sigma / math.sqrt(lam), rel=1e-6) == found.S


@pytest.mark.parametrize("kind", KINDS)
def test_much_told_says_what_the_scales_are(kind):
    env = unknown(kind)
    found = estimate_scales(env.problem, play(env, 1200)[0], 0.1)
    norm = np.linalg.norm(env.M_star, axis=(-2, -1)).max()
    if env.problem.symmetric_only:
        norm = np.linalg.norm((env.M_star + env.M_star.T) / 2)
    assert found.sigma == pytest.approx(0.5, rel=0.05)
    assert 0.5 <= found.sigma_max <= 0.62
    assert 0.5 * norm <= found.S <= 2.0 * norm
    assert norm <= found.S_max <= 6.0 * norm


LAWS = {
    "gaussian": lambda rng, *shape: rng.normal(size=shape),
    "uniform": lambda rng, *shape: rng.uniform(-math.sqrt(3), math.sqrt(3), size=shape),
    "rademacher": lambda rng, *shape: rng.choice([-1.0, 1.0], size=shape),
}


def follow_the_best(law, rounds, runs=500, sigma=0.5, greed=0.8):
    """The records of adaptive runs on a cycle of four agents, all at once; and what the arms pay.

    Each round plays a couple, mostly that which has paid best so far: eight numbers, four of each
    direction.
    """
    rng = np.random.default_rng(3)
    K, every = 3, np.arange(runs)
    pays = np.array([[0.9, 0.1, -0.5], [0.3, 0.2, 0.4], [-0.2, 0.6, 0.7]])
    N, Y, squares = np.zeros((runs, K, K), dtype=int), np.zeros((runs, K, K)), np.zeros(runs)
    for _ in range(rounds):
        means = (Y / np.maximum(N, 1)).reshape(runs, -1)
        drawn = rng.integers(K * K, size=runs)
        best = np.where(rng.random(runs) < greed, means.argmax(axis=1), drawn)
        couple = np.divmod(best, K)
        for a, b in (couple, couple[::-1]):
            y = pays[a, b][:, None] + sigma * LAWS[law](rng, runs, 4)
            N[every, a, b] += 4
            Y[every, a, b] += y.sum(axis=1)
            squares += (y**2).sum(axis=1)
    rows = zip(N, Y, squares, strict=True)
    return [Record(n, y, 8.0 * rounds, q) for n, y, q in rows], pays


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rounds", [8, 60, 400])
def test_noise_and_intervals_are_right_as_often_as_said(law, rounds):
    """500 adaptive runs at delta = 0.1: the bound on sigma, and the intervals of every pair of arms."""
    problem = gbb.Problem(unknown().problem.graph, np.eye(3), sigma=None, S=None)
    records, pays = follow_the_best(law, rounds)
    low, missed, most = 0, 0, []
    for record in records:
        found = estimate_scales(problem, record, 0.05)
        low += found.sigma_max < 0.5
        most.append(found.sigma_max)
        ridge = gbb.Ridge(problem.with_scales(found.sigma_max, found.S_max), record)
        off = confidence.errors(ridge, 0.05).along(ridge.widths, ridge.inverse_norms)
        missed += bool((np.abs(ridge.means[0] - pays) > off[0]).any())
    assert low <= 500 * 0.05
    assert missed <= 500 * 0.1
    assert rounds < 400 or np.mean(most) < 0.5 * 1.2


@pytest.mark.parametrize("make", [JointOFUL, ThompsonSampling, OFUL, EpsilonGreedy])
@pytest.mark.parametrize("arms", [ARMS, np.eye(2)])
def test_the_engine_plays_as_the_reference_does(make, arms):
    env = unknown(arms=arms)
    policy = make(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    assert policy.guarantee is None
    how = {"rounds": 40, "seed": 3, "workers": 1, "keep_allocations": True}
    engine = gbb.simulate(env, policy, **how)
    reference = gbb.simulate(env, policy, **how, method="reference")
    assert np.array_equal(engine.allocation, reference.allocation)
    np.testing.assert_allclose(engine.regret, reference.regret, atol=1e-9)


@pytest.mark.parametrize("kind", ["typed", "weighted", "links", "agents"])
@pytest.mark.parametrize("make", [JointOFUL, ThompsonSampling])
def test_any_problem_is_played_alike_by_both_loops(kind, make):
    env = unknown(kind)
    policy = make(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    how = {"rounds": 30, "seed": 3, "workers": 1, "keep_allocations": True}
    engine = gbb.simulate(env, policy, **how)
    reference = gbb.simulate(env, policy, **how, method="reference")
    assert np.array_equal(engine.allocation, reference.allocation)


@pytest.mark.parametrize("make", [JointOFUL, ThompsonSampling])
@pytest.mark.parametrize("scale", [2.0**-20, 2.0**27, 1e-6, 1e8])
def test_units_make_no_difference(make, scale):
    """From 10^-6 to 10^8: the same allocations, whatever rewards are measured in."""
    runs = []
    for size in (1.0, scale):
        env = unknown(scale=size)
        policy = make(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
        how = {"rounds": 200, "seed": 5, "workers": 1, "keep_allocations": True}
        runs.append(gbb.simulate(env, policy, **how).allocation)
        found = estimate_scales(env.problem, play(env, 40)[0], 0.1)
        runs.append(np.array(found) / size)
    assert np.array_equal(runs[0], runs[2])
    assert runs[1] == pytest.approx(runs[3], rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [0.5, 1e-3, 1e-9, 1e-90, 1e-120, 1e-300])
def test_a_record_that_was_forgotten_still_has_scales(kind, factor):
    """Down to nothing, and with what is told after it."""
    env = unknown(kind)
    old = play(env, 20)[0].discount(factor)
    for record in (old, old.merge(play(env, 5)[0])):
        found = estimate_scales(env.problem, record, 0.1)
        assert all(map(math.isfinite, found))
        assert 0.0 < found.sigma <= found.sigma_max
        assert min(found.S, found.S_max) > 0.0
    assert factor > 1e-100 or estimate_scales(env.problem, old, 0.1) == UNSEEN


@pytest.mark.parametrize("size", [1e-160, 1e-100, 1e-99, 1e-30, 1e30, 1e99])
def test_rewards_of_any_size_have_scales(size):
    env, arms = unknown(), np.array([0, 1, 2, 0])
    record = observe(env.problem, arms, np.full(env.problem.m, size))
    found = estimate_scales(env.problem, record, 0.1)
    assert all(math.isfinite(x) and x > 0.0 for x in found)
    assert (found == UNSEEN) == (size < 1e-100)


@pytest.mark.parametrize("sigma", [0.0, 1e-9])
def test_rewards_without_noise_leave_next_to_none(sigma):
    env = unknown(sigma=sigma)
    found = estimate_scales(env.problem, play(env, 50)[0], 0.1)
    assert sigma <= found.sigma_max < 1e-4
    assert np.linalg.norm(M) <= found.S_max


def test_both_known_is_what_it_was():
    """And one of them known is used as it is."""
    env = unknown(sigma=0.5)
    graph, cut = env.problem.graph, gbb.cuts.greedy(env.problem.graph)
    for known in ({"sigma": 0.5}, {"S": 2.0}):
        problem = gbb.Problem(graph, ARMS, **{"sigma": None, "S": None, **known})
        policy = ThompsonSampling(problem, cut=cut)
        state = policy.init()._replace(scales=Scales(3.0, 5.0, 7.0, 9.0))
        found = policy.learner.posterior(problem, state)
        bounds = {"sigma": 7.0, "S": 9.0, **known}
        assert (found.problem.sigma, found.problem.S) == (bounds["sigma"], bounds["S"])
        assert found.v == known.get("sigma", 3.0)
        assert found.ridge.lam == min(1.0, (found.v * 2 / known.get("S", 5.0)) ** 2)
    problem = gbb.Problem(graph, ARMS, sigma=0.5, S=2.0)
    policy = ThompsonSampling(problem, cut=cut)
    assert (
        policy.update(
            policy.init(), policy.select(policy.init(), np.random.default_rng(0)), np.zeros(8)
        ).scales
        is None
    )


def test_records_add_up_their_squares():
    env = unknown()
    (one, _, y), (two, _, x) = play(env, 3), play(env, 4, seed=1)
    both = one.merge(two)
    assert (both.count, both.squares) == (len(y) + len(x), pytest.approx(y @ y + x @ x))
    half = both.discount(0.5)
    assert (half.count, half.squares) == (both.count / 2, both.squares / 2)
    again = from_dict(both.to_dict())
    assert (again.count, again.squares) == (both.count, both.squares)
    before = Record(one.N, one.Y)  # of which no number was kept
    assert math.isnan(before.merge(two).squares)
    assert estimate_scales(env.problem, before, 0.1) == UNSEEN


def test_marks_come_ever_more_rarely():
    assert list(estimation_rounds(20)) == [1, 2, 3, 4, 6, 9, 13, 19]
    assert [needs_estimate(t - 1, t) for t in (3, 4, 5, 6, 7)] == [True, True, False, True, False]
    assert needs_estimate(0, 100)
    assert not needs_estimate(100, 100)


def test_what_needs_them_says_so():
    env = unknown()
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    assert problem.unknown == ("sigma", "S")
    assert "sigma=None, S=None" in repr(problem)
    with pytest.raises(gbb.InputError, match="Expected `S` to be known for this, but got None"):
        problem.S  # noqa: B018
    with pytest.raises(gbb.InputError, match="`problem` to declare sigma and S for DiscountedOFUL"):
        gbb.policies.DiscountedOFUL(problem, cut=cut)
    with pytest.raises(gbb.InputError, match="`sigma` to be known to the environment"):
        gbb.Environment(problem, M)
    known = gbb.Problem(problem.graph, ARMS, sigma=0.5, S=2.0)
    assert gbb.Environment(known, M, sigma=0.5).sigma == 0.5
    with pytest.raises(gbb.InputError, match=r"the problem says it \(0\.5\), but got 0\.2"):
        gbb.Environment(known, M, sigma=0.2)  # which compiled loops would not draw


def test_contexts_are_played_by_the_reference_loop():
    regimes = gbb.contexts.Regimes(["calm", "windy"])
    graph = gbb.Graph.path(3)
    problem = gbb.Problem(graph, ARMS, sigma=None, S=None, contexts=regimes)
    env = gbb.Environment(problem, [M, -M], sigma=0.3)
    policies = [
        make(problem, cut=gbb.cuts.greedy(graph)) for make in (JointOFUL, ThompsonSampling, OFUL)
    ]
    contexts = ["calm", "windy"] * 10
    with pytest.warns(gbb.simulation.SlowPolicyWarning):
        result = gbb.simulate(env, policies, rounds=20, contexts=contexts, workers=1)
    assert np.isfinite(result.regret).all()
