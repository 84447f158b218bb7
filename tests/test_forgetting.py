"""Confidence sets of records that forget: they miss no more often than they say, at any time."""

import numpy as np
import pytest

import gbb
from gbb.controller import Controller
from gbb.learning import radius
from gbb.policies import DiscountedOFUL, SlidingWindowOFUL

GRAPH = gbb.Graph.complete(2)
PROBLEM = gbb.Problem(GRAPH, np.ones((1, 1)), sigma=1.0, S=1.0)
CUT = gbb.cuts.greedy(GRAPH)
DELTA = 0.2


def misses(policy, rng, rounds):
    """In how many rounds the matrix 0 lies outside the policy's confidence set."""
    state, choice, count = policy.init(), gbb.policies.Choice(np.zeros(2, dtype=np.int64)), 0
    for _ in range(rounds):
        ridge, far = policy.at(state).estimate(policy.remember(state))
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
    assert missed["spent"].mean() <= DELTA / 2


def test_what_is_spent_adds_up():
    spent = [radius.delta_after(k, 1.0) for k in range(1, 10_000)]
    assert radius.delta_after(0, 0.1) == 0.1
    assert sum(spent) == pytest.approx(0.5, abs=1e-3)


def test_a_controller_spends_its_delta_over_its_discounts(tmp_path):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2), S=1.0)
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with Controller.create(url, problem, "JointOFUL", delta=0.1) as controller:
        controller.tell(controller.ask(), np.ones(6))
        controller.discount(1.0)  # which forgets nothing
        for k, delta in ((1, 0.1 / 6), (2, 0.1 / 12)):
            controller.discount(0.5)
            record = controller._log.state.record
            ridge = gbb.Ridge(problem, record, 1.0)
            wide = radius.confidence_radius(ridge, delta) * ridge.width(np.eye(4))
            assert controller.estimate()[0].M_width.ravel() == pytest.approx(wide.ravel())
            assert controller._log.state.setup.policy.delta == delta, k
        controller.set_policy("UniformRandom")  # which has none of its own
        width = controller.estimate()[0].M_width.ravel()
    with Controller.open(url) as again:
        assert np.array_equal(again.estimate()[0].M_width.ravel(), width)
    wide = radius.confidence_radius(ridge, 1e-3 / 12) * ridge.width(np.eye(4))
    assert width == pytest.approx(wide.ravel())
