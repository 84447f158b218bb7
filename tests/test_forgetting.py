"""Confidence sets of records that forget: they miss no more often than they say, at any time."""

import numpy as np
import pytest

import gbb
from gbb.controller import Controller
from gbb.controller.state.learn import learns_halves
from gbb.controller.storage.bytes import unpack_rng
from gbb.learning import radius
from gbb.policies import DiscountedOFUL, JointOFUL, SlidingWindowOFUL

GRAPH = gbb.Graph.complete(2)
PROBLEM = gbb.Problem(GRAPH, np.ones((1, 1)), sigma=1.0, S=1.0)
CUT = gbb.cuts.greedy(GRAPH)
DELTA = 0.2


def misses(policy, rng, rounds):
    """In how many rounds the matrix 0 lies outside the policy's confidence set."""
    state, choice, count = policy.init(), gbb.policies.Choice(np.zeros(2, dtype=np.int64)), 0
    for _ in range(rounds):
        ridge, far = policy.after(state).estimate(policy.remember(state))
        count += bool(abs(ridge.means[0, 0, 0]) > far * ridge.width(np.ones((1, 1)))[0])
        state = policy.update(state, choice, rng.standard_normal(2))
    return count


@pytest.mark.parametrize(
    "make",
    [
        lambda: DiscountedOFUL(PROBLEM, cut=CUT, gamma=0.5, lam=0.01, delta=DELTA),
        lambda: SlidingWindowOFUL(PROBLEM, cut=CUT, window=1, lam=0.01, delta=DELTA),
    ],
)
def test_a_policy_that_forgets_misses_in_few_runs(make):
    rng = np.random.default_rng(0)
    missed = sum(misses(make(), rng, 400) > 0 for _ in range(12))
    assert missed <= 12 * DELTA


def test_over_long_runs_the_spent_delta_covers_and_one_delta_does_not():
    """The noise of a record that is halved every round: ``S <- S / 2 + noise``, ``V <- V / 2 + 1``."""
    rng, runs, rounds = np.random.default_rng(1), 200, 10_000
    noise, total, weight = rng.standard_normal((rounds, runs)), np.zeros(runs), 0.0
    missed = {"one": np.zeros(runs, dtype=bool), "spent": np.zeros(runs, dtype=bool)}
    for t in range(rounds):
        total, weight = total / 2 + noise[t], weight / 2 + 1
        size, log_det = np.abs(total) / np.sqrt(1 + weight), np.log1p(weight)
        for name, delta in (("one", DELTA), ("spent", radius.delta_after(t + 1, DELTA))):
            missed[name] |= size > radius.self_normalised(1.0, log_det, delta)
    assert missed["one"].mean() > 0.9
    assert missed["spent"].mean() <= DELTA


def test_what_is_spent_adds_up():
    spent = [radius.delta_after(k, 1.0) for k in range(100_000)]
    assert 1.0 - 1e-4 < sum(spent) <= 1.0
    assert sum(spent[1:]) <= 0.5


def test_only_a_policy_that_will_forget_spends_less_than_its_delta():
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2), S=1.0)
    cut = gbb.cuts.greedy(problem.graph)
    for make, shares in (
        (lambda: DiscountedOFUL(problem, cut=cut, gamma=0.9), (1 / 2, 1 / 6, 1 / 12)),
        (lambda: DiscountedOFUL(problem, cut=cut, gamma=1.0), (1.0, 1.0, 1.0)),
        (lambda: SlidingWindowOFUL(problem, cut=cut, window=1), (1 / 2, 1 / 2, 1 / 6)),
    ):
        policy = make()
        state, choice = policy.init(), gbb.policies.Choice(np.zeros(3, dtype=np.int64))
        for share in shares:
            assert policy.after(state).delta == pytest.approx(share * policy.delta)
            state = policy.update(state, choice, np.ones(6))


@pytest.mark.parametrize("name", ["JointOFUL", "KCutOFUL"])
def test_halves_and_all_dimensions_share_a_delta(name, tmp_path):
    """All sets after the first together: after each discount that of the halves, and the other."""
    problem = gbb.Problem(gbb.Graph.circle(4), np.eye(2), S=1.0)
    one_way = {tuple(e): 1.0 for e in problem.graph.edges if e[0] < e[1]}
    spent = []
    with Controller.create(f"sqlite:///{tmp_path / 'log.db'}", problem, name) as controller:
        for _ in range(4):
            controller.tell(controller.ask(), one_way)
            assert not learns_halves(controller._log.state)
            policy = controller._log.state.setup.policy
            spent += [policy.delta, policy.in_all_dimensions.delta]
            controller.discount(0.5)
    first, *after = spent
    assert first == 1e-3
    assert sum(after) <= first


def test_one_direction_is_learnt_in_all_dimensions_whatever_the_counts(tmp_path):
    """Counts that are alike by chance, as where all play one arm, are not those of both directions."""
    problem = gbb.Problem(gbb.Graph.circle(4), np.eye(2), S=1.0)
    cut = gbb.cuts.greedy(problem.graph)
    one_way = {tuple(e): 1.0 for e in problem.graph.edges if e[0] < e[1]}
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with Controller.create(url, problem, JointOFUL(problem, cut=cut)) as controller:
        controller.attach([0, 0, 0, 0], one_way)
        state = controller._log.state
        assert state.memory.record.two_way
        assert not learns_halves(state)
        rng = unpack_rng(state.setup.seed, state.rng)
        wide = state.setup.policy.in_all_dimensions.select(state.memory, rng)
        assert np.array_equal(controller.ask().arms, wide.allocation)


@pytest.mark.parametrize(
    "make",
    [
        lambda p, cut: gbb.policies.IndexPolicy(p, cut=cut, radius="symmetric", starts=2),
        lambda p, cut: gbb.policies.ImprovedOFUL(p, cut=cut, radius="symmetric"),
        lambda p, cut: gbb.policies.JointOFUL(p, cut=cut, radius="paper", lam=0.5, name="own"),
        lambda p, cut: gbb.policies.KCutOFUL(p, cut=cut, k=3),
        lambda p, cut: gbb.policies.ThompsonSampling(p, cut=cut, v=0.3),
        lambda p, cut: gbb.policies.EpsilonGreedy(p, cut=cut, explore=0.2),
    ],
)
def test_in_all_dimensions_a_policy_keeps_its_settings(make):
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(3), S=1.0)
    policy = make(problem, gbb.cuts.greedy(problem.graph))
    _ = policy.coordinates, policy.link_search
    other = policy.in_all_dimensions
    assert (policy.learns_two_way, other.learns_two_way) == (True, False)
    assert other.radius == ("complete" if policy.radius == "symmetric" else policy.radius)
    kept = {
        name: each for name, each in policy.settings().items() if name not in ("radius", "delta")
    }
    assert kept.items() <= other.settings().items()
    assert other.coordinates.features.shape == (9, 9)
    assert other.in_all_dimensions is other


def test_a_controller_spends_its_delta_over_its_discounts(tmp_path):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2), S=1.0)
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with Controller.create(url, problem, "JointOFUL", delta=0.1) as controller:
        controller.tell(controller.ask(), np.ones(6))
        controller.discount(1.0)  # which forgets nothing
        assert controller._log.state.setup.policy.delta == 0.1  # the choices are those of simulate
        ridge = gbb.Ridge(problem, controller._log.state.record, 1.0)
        wide = radius.errors(ridge, 0.1 / 2).along(*ridge.spread(np.eye(4)))
        assert controller.estimate()[0].M_width.ravel() == pytest.approx(wide.ravel())
        for k, delta in ((1, 0.1 / 6), (2, 0.1 / 12)):
            controller.discount(0.5)
            record = controller._log.state.record
            ridge = gbb.Ridge(problem, record, 1.0)
            wide = radius.errors(ridge, delta).along(*ridge.spread(np.eye(4)))
            assert controller.estimate()[0].M_width.ravel() == pytest.approx(wide.ravel())
            assert controller._log.state.setup.policy.delta == delta, k
        controller.set_policy("ThompsonSampling", lam=1.0)  # whose delta is no setting
        draws = controller.estimate()[0].M_width.ravel()
        controller.set_policy("UniformRandom")  # which has none of its own
        width = controller.estimate()[0].M_width.ravel()
    with Controller.open(url) as again:
        assert np.array_equal(again.estimate()[0].M_width.ravel(), width)
    wide = radius.errors(ridge, 1e-3 / 12).along(*ridge.spread(np.eye(4)))
    assert width == pytest.approx(wide.ravel())
    assert draws == pytest.approx(wide.ravel())
