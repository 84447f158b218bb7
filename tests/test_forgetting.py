"""Confidence sets of records that forget: they miss no more often than they say, at any time."""

import numpy as np
import pytest

import gbb
from gbb.controller import Controller
from gbb.learning import confidence, radius
from gbb.policies import DiscountedOFUL, JointOFUL, SlidingWindowOFUL
from indices import objective_of

GRAPH = gbb.Graph.complete(2)
PROBLEM = gbb.Problem(GRAPH, np.ones((1, 1)), sigma=1.0, S=1.0)
CUT = gbb.cuts.greedy(GRAPH)
DELTA = 0.2


def misses(policy, rng, rounds):
    """In how many rounds the matrix 0 lies outside the policy's confidence set."""
    state, choice, count = policy.init(), gbb.policies.Choice(np.zeros(2, dtype=np.int64)), 0
    for _ in range(rounds):
        found = objective_of(policy, state)
        mean, width = found.ridge.means[0, 0, 0], found.ridge.width(np.ones((1, 1)))[0]
        count += bool(abs(mean) > found.radius * width)
        state = policy.update(state, choice, rng.standard_normal(2))
    return count


@pytest.mark.parametrize(
    "policy",
    [
        DiscountedOFUL(PROBLEM, cut=CUT, gamma=0.5, lam=0.01, delta=DELTA),
        SlidingWindowOFUL(PROBLEM, cut=CUT, window=1, lam=0.01, delta=DELTA),
    ],
)
def test_a_policy_that_forgets_misses_in_few_runs(policy):
    rng = np.random.default_rng(0)
    missed = sum(misses(policy, rng, 400) > 0 for _ in range(12))
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


@pytest.mark.parametrize("name", ["JointOFUL", "KCutOFUL"])
def test_symmetric_parts_and_all_dimensions_share_a_delta(name, tmp_path):
    """All sets after the first together: after each discount that of the parts, and the other."""
    problem = gbb.Problem(gbb.Graph.circle(4), np.eye(2), S=1.0)
    one_way = {tuple(e): 1.0 for e in problem.graph.edges if e[0] < e[1]}
    spent = []
    with Controller.create(f"sqlite:///{tmp_path / 'log.db'}", problem, name) as controller:
        for _ in range(4):
            controller.tell(controller.ask(), one_way)
            state = controller._log.state
            policy = state.setup.policy
            spent += [policy.delta, policy.learner.posterior(problem, state.memory).delta]
            controller.discount(0.5)
    first, *after = spent
    assert first == 1e-3
    assert sum(after) <= first


def test_one_direction_is_learnt_in_all_dimensions_whatever_the_counts(tmp_path):
    """Counts that are alike by chance, as where all play one arm, are not those of both directions."""
    problem = gbb.Problem(gbb.Graph.circle(4), np.eye(2), S=1.0)
    one_way = {tuple(e): 1.0 for e in problem.graph.edges if e[0] < e[1]}
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with Controller.create(url, problem, JointOFUL(problem)) as controller:
        controller.attach([0, 0, 0, 0], one_way)
        state = controller._log.state
        assert state.memory.record.two_way
        posterior = state.setup.policy.learner.posterior(problem, state.memory)
        assert not posterior.ridge.symmetric


def test_a_controller_spends_its_delta_over_its_discounts(tmp_path):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2), S=1.0)
    url = f"sqlite:///{tmp_path / 'log.db'}"

    def widths(controller, delta):
        ridge = gbb.Ridge(problem, controller._log.state.record, 1.0)
        return confidence.errors(ridge, delta).along(*ridge.norms(np.eye(4)))

    def shown(controller):
        return controller.estimate()[0].M_width.ravel()

    with Controller.create(url, problem, "JointOFUL", delta=0.1) as controller:
        controller.tell(controller.ask(), np.ones(6))
        controller.discount(1.0)  # which forgets nothing
        assert controller._log.state.setup.policy.delta == 0.1  # the choices are those of simulate
        assert shown(controller) == pytest.approx(widths(controller, 0.1 / 2))
        for delta in (0.1 / 6, 0.1 / 12):
            controller.discount(0.5)
            assert shown(controller) == pytest.approx(widths(controller, delta))
            assert controller._log.state.setup.policy.delta == delta
        left = widths(controller, 1e-3 / 12)
        controller.set_policy("ThompsonSampling", lam=1.0)  # whose delta is no setting
        assert shown(controller) == pytest.approx(left)
        controller.set_policy("UniformRandom")  # which has none of its own
        assert shown(controller) == pytest.approx(left)
    with Controller.open(url) as again:
        assert shown(again) == pytest.approx(left)
