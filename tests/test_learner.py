"""Which block a learner estimates, and what it leaves of delta; one estimate for each record."""

import threading
from itertools import product

import numpy as np
import pytest

import gbb
from gbb.contexts import EdgeTypes
from gbb.learning import Ridge, empty, observe
from gbb.learning.radius import confidence_radius
from gbb.policies import (
    BernoulliThompson,
    Discounted,
    JointOFUL,
    RidgeLearner,
    SlidingWindow,
    ThompsonSampling,
)
from gbb.policies._learner import CUMULATIVE

GRAPH, ROUNDS, DELTA = gbb.Graph.circle(5), 8, 0.12
ONE_WAY = GRAPH.sources < GRAPH.indices

RECORDS = {  # the problem, the numbers lost in each round, and whether symmetric parts are learnt
    "whole rounds": ({}, lambda _: slice(0), True),
    "few single directions lost": ({}, lambda t: slice(int(t == 0)), True),
    "most single directions lost": ({}, lambda t: ONE_WAY & (t < ROUNDS - 1), False),
    "whole links lost": ({}, lambda _: GRAPH.sources + GRAPH.indices == 1, True),
    "links": ({"feedback": "link"}, lambda _: slice(0), True),
    "links, most lost": ({"feedback": "link"}, lambda _: slice(1, None), True),
    "own matrices": ({"edge_types": "source"}, lambda _: slice(0), None),
    "sums": ({"feedback": "agent"}, lambda _: slice(1), None),
}
"""None where symmetric parts do not decide: no other set is needed then, and all of delta is left."""

SCALES = {
    "known": ({}, 1.0),
    "S unknown": ({"S": None}, 1.0),
    "sigma unknown": ({"sigma": None}, 0.5),
}
MEMORIES = {
    "all": (CUMULATIVE, 1.0),
    "fading": (Discounted(0.9), 1.0 / ((ROUNDS + 1) * (ROUNDS + 2))),
    "fading by nothing": (Discounted(1.0), 1.0),
    "a window of 2": (SlidingWindow(2), 1.0 / ((ROUNDS - 1) * ROUNDS)),
    "a window of more": (SlidingWindow(20), 0.5),
}
CASES = [
    case
    for case in product(RECORDS, SCALES, MEMORIES)
    if case[1] == "known" or case[2] == "all"  # what is forgotten says nothing of scales
]


def learn(learner, problem, lost):
    """The state after rounds in which some numbers were lost."""
    rng, state = np.random.default_rng(0), learner.init(problem)
    for t in range(ROUNDS):
        rewards = rng.normal(size=problem.observations)
        rewards[lost(t)] = np.nan
        record = observe(problem, rng.integers(problem.K, size=problem.n), rewards)
        state = learner.update(problem, state, record, 1)
    return state


@pytest.mark.parametrize(("record", "scales", "memory"), CASES)
def test_block_and_delta_follow_from_record_scales_and_memory(record, scales, memory):
    (known, lost, symmetric), (unknown, share) = RECORDS[record], SCALES[scales]
    remembers, left = MEMORIES[memory]
    if memory == "a window of 2" and record.endswith("directions lost"):
        symmetric = True  # these were dropped
    problem = gbb.Problem(GRAPH, np.eye(3), **{"sigma": 0.5, "S": 2.0, **known, **unknown})
    learner = RidgeLearner(memory=remembers, delta=DELTA)
    state = learn(learner, problem, lost)
    found = learner.posterior(problem, state)
    assert found.ridge.symmetric is bool(symmetric)
    # Both sets may be needed in one run, so that of all dimensions has a share of its own.
    assert found.delta == pytest.approx(DELTA * share * left / (6.0 if symmetric is False else 1.0))
    assert problem.unknown or (found.problem.sigma, found.problem.S) == (0.5, 2.0)
    whole = remembers.recall(problem, state, 1e-3)[1]
    expected = whole.two_way_part if symmetric else whole
    np.testing.assert_array_equal(found.ridge.record.gram(problem), expected.gram(problem))
    assert 2.0 * expected.weight(problem) >= whole.weight(problem)


def test_all_dimensions_on_request_and_a_sigma_that_is_known_leave_all_of_delta():
    problem = gbb.Problem(GRAPH, np.eye(3), sigma=None, S=2.0)
    declared = gbb.Problem(GRAPH, np.eye(3))
    for learner, on in (
        (RidgeLearner(symmetric=False), declared),
        (BernoulliThompson(problem).learner, problem),
    ):
        state = learn(learner, on, RECORDS["most single directions lost"][1])
        found = learner.posterior(on, state)
        assert found.ridge.symmetric is False
        assert found.delta == learner.delta / (6.0 if learner.symmetric else 1.0)


@pytest.mark.parametrize("policy", [JointOFUL, ThompsonSampling])
def test_both_directions_teach_what_links_do_however_many_are_lost(policy):
    """What single directions say of the order of two arms would pass for noise in symmetric parts."""
    problem = gbb.Problem(GRAPH, np.eye(3))
    policy = policy(problem)
    rng, states = np.random.default_rng(1), [policy.init(), policy.init()]
    for t in range(12):
        arms, rewards = rng.integers(3, size=5), rng.normal(size=problem.m)
        lost = np.zeros(problem.m, bool)
        lost[: t % 2] = True  # a direction, and without its reverse
        both = lost | lost[GRAPH.reverse]
        for k, missing in enumerate((lost, both)):
            record = observe(problem, arms, np.where(missing, np.nan, rewards))
            states[k] = policy.absorb(states[k], None, record)
    one, other = (policy.select(each, np.random.default_rng(2)) for each in states)
    assert np.array_equal(one.allocation, other.allocation)
    assert one.value == pytest.approx(other.value, rel=1e-12)


GRID = gbb.Graph.grid(2, 3)


def rounds_with_contexts(feedback):
    """A problem, three contexts of which the last has another matrix in play, and their record."""
    rng = np.random.default_rng(1)
    arms = rng.normal(size=(4, 2))
    problem = gbb.Problem(GRID, arms, sigma=0.1, feedback=feedback, contexts=EdgeTypes(3))
    contexts, record = [*rng.integers(-1, 2, (2, GRID.m)), np.full(GRID.m, 2)], empty(problem)
    for context in contexts * 5:
        now = problem.at(context)
        rewards = rng.normal(size=now.observations)
        record = record.merge(observe(now, rng.integers(4, size=GRID.n), rewards))
    return problem, contexts, record


@pytest.mark.parametrize("feedback", ["edge", "agent"])
def test_rounds_that_share_a_record_share_its_estimate(monkeypatch, feedback):
    """It is made once for all contexts, and is the one that each round would make."""
    problem, contexts, record = rounds_with_contexts(feedback)
    made, old = [], Ridge._blocks.func
    monkeypatch.setattr(Ridge._blocks, "func", lambda ridge: made.append(1) or old(ridge))
    for kind in (JointOFUL, ThompsonSampling):
        policy = kind(problem, cut=gbb.cuts.greedy(GRID), lam=0.3)
        state = policy.absorb(policy.init(), None, record.merge(empty(problem)), rounds=15)
        choices = [policy.at(each).select(state, np.random.default_rng(4)) for each in contexts]
        assert len(made) == 1
        for context, choice in zip(contexts, choices, strict=True):
            now = policy.at(context)
            shared = now.learner.posterior(now.problem, state).ridge
            alone = Ridge(now.problem, state.record, 0.3)
            assert shared.total(choice.allocation) == alone.total(choice.allocation)
            one, other = (confidence_radius(each, 0.1, shrinking=True) for each in (shared, alone))
            assert one == other
        made.clear()


def test_an_estimate_may_be_asked_for_other_rounds_while_it_is_being_made():
    """Threads share it: what one of them computes is added while another one copies."""
    problem, contexts, record = rounds_with_contexts("edge")
    now, then = problem.at(contexts[0]), problem.at(contexts[1])
    shared, stop = Ridge(now, record, 1.0), threading.Event()

    def grow():
        names = [f"made {place}" for place in range(50)]
        while not stop.is_set():
            for name in names:
                vars(shared)[name] = now
            for name in names:
                del vars(shared)[name]

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(2000):
            assert shared.at(then).problem is then
    finally:
        stop.set()
        thread.join()
