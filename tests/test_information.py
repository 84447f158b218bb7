"""Information-directed sampling: its information gain, its mixture, and that its loops agree."""

import zlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import gbb
import naive_information as twin
from gbb._kernels.index import information as kernels
from gbb.policies import InformationDirected, JointOFUL, ThompsonSampling
from indices import Composed, objective_of
from test_index_engine import KINDS

SAMPLES = 10_000

numbers = st.floats(0.0, 10.0).map(lambda x: x if x > 1e-6 else 0.0)
candidates = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6)


def ratio(regret, gain, power):
    """What loses nothing has the least there is, whatever it tells."""
    found = np.divide(regret**power, gain, out=np.full(np.shape(gain), np.inf), where=gain > 0.0)
    return np.where(regret == 0.0, 0.0, found)


@given(candidates, st.sampled_from([1.1, 1.5, 2.0, 3.0]))
@example([(0.0, 0.0), (1.0, 0.0)], 2.0)
@example([(0.0, 0.0), (1.0, 1.0)], 1.1)
@example([(1.0, 1.0), (1.0, 1.0)], 2.0)
@example([(0.1, 0.0), (3.0, 1.0), (4.0, 5.0)], 2.0)
@settings(deadline=None)
def test_no_mixture_of_two_on_a_grid_has_a_smaller_ratio(points, power):
    regret, gain = np.array(points).T.copy()
    i, j, q = twin.best_mixture(regret, gain, power)
    found = kernels.best_mixture(regret, gain, power, len(points))
    assert found == pytest.approx((i, j, q), abs=1e-12)
    share = np.linspace(0.0, 1.0, 201)[:, None, None]
    lost = share * regret[:, None] + (1.0 - share) * regret
    gained = share * gain[:, None] + (1.0 - share) * gain
    least = ratio(lost, gained, power).min()
    if i < 0:
        assert least == np.inf
        return
    lost, gained = q * regret[i] + (1.0 - q) * regret[j], q * gain[i] + (1.0 - q) * gain[j]
    reached = ratio(lost, np.array(gained), power)
    assert reached <= least * (1.0 + 1e-7) + 1e-15


def test_the_best_mixture_is_found_between_grid_points():
    """Regrets 0.1 and 3, gains 0 and 1: ``q = 0.1 / 2.9``, as ``regret^2 / gain`` has it."""
    assert twin.best_mixture(np.array([0.1, 3.0]), np.array([0.0, 1.0]), 2.0) == (
        1,
        0,
        pytest.approx(0.1 / 2.9),
    )


def conditional_means(mean, deviation):
    """``P(k)`` and ``E[x_r | x_k is the largest]`` of independent normals, by quadrature."""
    size = len(mean)

    def joint(x, k, r):
        """Density of x_k = x with all others below, times x_r; times 1 where r is None."""
        below = norm.cdf(x, mean, deviation)
        z = (x - mean) / deviation
        moments = mean * norm.cdf(z) - deviation * norm.pdf(z)  # E[x_j; x_j < x]
        factors = [moments[j] if j == r else below[j] for j in range(size) if j != k]
        return norm.pdf(x, mean[k], deviation[k]) * np.prod(factors) * (x if r == k else 1.0)

    share = np.array([quad(joint, -12, 12, (k, None))[0] for k in range(size)])
    means = [[quad(joint, -12, 12, (k, r))[0] for r in range(size)] for k in range(size)]
    return share, np.array(means) / share[:, None]


def spy(monkeypatch, name):
    """What a function of the index is called with from here on, and what it answers."""
    calls, real = [], getattr(twin, name)
    monkeypatch.setattr(twin, name, lambda *args: calls.append((args, real(*args))) or calls[-1][1])
    return calls


@pytest.mark.parametrize("feedback", ["edge", "link"])
def test_the_information_gain_is_that_of_the_posterior(monkeypatch, feedback):
    """Two agents with two arms: three allocations, each of which pays by one regressor."""
    weights = np.array([1.0, 1.0]) if feedback == "edge" else np.array([1.5, 1.5])
    problem = gbb.Problem(
        gbb.Graph.complete(2), np.eye(2), edge_weights=weights, feedback=feedback, S=2.0
    )
    policy = InformationDirected(
        problem, cut=gbb.cuts.greedy(problem.graph), samples=SAMPLES, lam=1.0
    )
    N, Y = np.array([[1.0, 2.0], [2.0, 3.0]]), np.array([[0.2, 0.9], [0.5, 2.0]])
    state = policy.init()._replace(record=gbb.Record(N, Y))
    seen_groups, seen_ratios = spy(monkeypatch, "_groups"), spy(monkeypatch, "best_mixture")
    Composed.of(policy).select(state, np.random.default_rng(0))
    ((_, _, arms), (kept, group, _)), ((regret, gain_of, _), _) = *seen_groups, *seen_ratios
    size = np.array([1.0, 0.5, 1.0])  # of the symmetric parts of the edge-arms
    deviation = np.sqrt(size / (1.0 + size * np.array([1.0, 4.0, 3.0])))
    mean = deviation**2 * np.array([0.2, 1.4, 2.0])
    share, means = conditional_means(mean, deviation)
    within = deviation**2 - share @ (means - mean) ** 2
    seen = (
        2.0 * weights[0] ** 2 * (2.0 if feedback == "link" else 1.0)
    )  # in units of a number's noise
    gain = np.log((1.0 + seen * deviation**2) / (1.0 + seen * within))
    best = 2.0 * weights[0] * share @ np.diag(means)
    for k in range(3):
        r = int(arms[kept[k]].sum())  # (0, 0), (0, 1) or (1, 1)
        assert (group == k).mean() == pytest.approx(share[r], abs=0.02)
        assert gain_of[k] == pytest.approx(gain[r], rel=0.1)
        assert regret[k] == pytest.approx(best - 2.0 * weights[0] * mean[r], rel=0.1)


def play_some(name, samples=12, **more):
    """A policy on a kind of problem, with the record of a few random rounds."""
    problem = KINDS[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    M = rng.normal(size=(problem.types, problem.d, problem.d))
    env = gbb.Environment(problem, M if problem.types > 1 else M[0])
    policy = InformationDirected(
        problem, cut=gbb.cuts.greedy(problem.graph), samples=samples, **more
    )
    state = policy.init()
    for _ in range(3):
        choice = policy.select(state, rng)
        state = policy.update(state, choice, env.draw(1, choice.allocation, rng))
    return policy, state


def test_allocations_that_pay_the_same_are_one(monkeypatch):
    """Agents of a complete graph are alike: what is permuted is no other allocation."""
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3), S=2.0)
    policy = InformationDirected(problem, cut=gbb.cuts.greedy(problem.graph))
    calls = spy(monkeypatch, "_groups")
    Composed.of(policy).select(policy.init(), np.random.default_rng(0))
    (((_, _, arms), (kept, group, _)),) = calls
    assert len(kept) == group.max() + 1 > 3
    assert len({tuple(sorted(arms[k])) for k in kept}) == len(kept)


def test_one_sample_is_thompson_sampling():
    problem = KINDS["own, general"]
    cut = gbb.cuts.greedy(problem.graph)
    one = InformationDirected(problem, cut=cut, samples=1)
    two = ThompsonSampling(problem, cut=cut, lam=one.learner.prior(problem)[1])
    for seed in range(5):
        rngs = np.random.default_rng(seed), np.random.default_rng(seed)
        ours, theirs = one.select(one.init(), rngs[0]), two.select(two.init(), rngs[1])
        np.testing.assert_array_equal(ours.allocation, theirs.allocation)


def test_what_is_told_again_tells_less():
    """Twenty edges with one pair of arms tell less than ten with each of two."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(100_000, 2))
    group = (theta[:, 0] > theta[:, 1]).astype(np.int64)
    often = [twin.information_gain(np.sqrt(c) * theta[:, :1], group, 1.0) for c in (1, 2, 20, 1e6)]
    assert np.all(np.diff(often) > 0.0)
    assert often[1] < 2.0 * often[0]
    assert often[2] < twin.information_gain(np.sqrt(10) * theta[:, :2], group, 1.0)
    # E[x | x > y] = 1 / sqrt(pi): a share 1 / pi of the variance is that of the groups.
    assert often[-1] == pytest.approx(-np.log(1.0 - 1.0 / np.pi), rel=0.02)


@pytest.mark.parametrize("name", ["own, general", "types, one-hot", "agent, general"])
@pytest.mark.parametrize("floor", [0.3, 1.0])
def test_what_thompson_sampling_plays_keeps_its_share(name, floor):
    """With the same draws its allocation is played whenever the last number is below the floor."""
    policy, state = play_some(name, floor=floor)
    lam = policy.learner.prior(policy.problem)[1]
    thompson = ThompsonSampling(policy.problem, cut=policy.cut, lam=lam)
    below = others = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        one = policy.select(state, rng)
        two = thompson.select(state, np.random.default_rng(seed))
        if not np.array_equal(one.allocation, two.allocation):
            others += 1
            rng.bit_generator.advance(-1)
            assert rng.random() >= floor
        else:
            below += 1
    assert below >= 60 * floor / 2
    assert (others == 0) == (floor == 1.0)


def test_what_all_samples_agree_on_is_played():
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(2), S=2.0)
    policy = InformationDirected(problem, cut=gbb.cuts.greedy(problem.graph))
    N = np.full((2, 2), 10**8)
    state = policy.init()._replace(record=gbb.Record(N, N * np.array([[0.1, 0.9], [0.9, 0.3]])))
    choice = policy.select(state, np.random.default_rng(0))
    assert sorted(choice.allocation) == [0, 0, 1, 1]
    assert choice.value == pytest.approx(8 * 0.9 + 2 * 0.1 + 2 * 0.3, rel=1e-3)


def test_a_guard_lets_pass_what_is_optimistic_enough():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3), S=2.0)
    cut = gbb.cuts.greedy(problem.graph)
    guarded = InformationDirected(problem, cut=cut, beta=0.9, samples=12)
    assert (guarded.guarantee, guarded.guaranteed_share) == ("alpha_2", 0.9)
    alone = InformationDirected(problem, cut=cut)
    assert alone.guarantee is None
    thompson = ThompsonSampling(problem, cut=cut)
    lams = [each.learner.prior(problem)[1] for each in (alone, guarded, thompson)]
    assert lams == [lams[2] / 4.0, lams[2], lams[2]]
    # With nothing known the proposal has not the best optimistic value unless beta lets it pass.
    strict = InformationDirected(problem, cut=cut, beta=1.0, samples=12)
    joint = JointOFUL(problem, cut=cut, lam=lams[1])
    value = joint.select(joint.init(), np.random.default_rng(0)).value
    for policy, floor in ((guarded, 0.9 * value), (strict, value)):
        choice = policy.select(policy.init(), np.random.default_rng(1))
        objective = objective_of(policy, policy.init())
        mean, width = objective.ridge.total(choice.allocation)
        assert mean + objective.radius * width >= floor * (1.0 - 1e-9)


def test_mistakes_are_said():
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(2))
    cut = gbb.cuts.greedy(problem.graph)
    with pytest.raises(gbb.InputError, match="`samples` to be a whole number >= 1"):
        InformationDirected(problem, cut=cut, samples=0)
    with pytest.raises(gbb.InputError, match="Expected `floor`"):
        InformationDirected(problem, cut=cut, floor=1.5)
    assert InformationDirected(problem, cut=cut, radius="paper", beta=0.9).guarantee == "alpha_2"
