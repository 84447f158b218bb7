"""The rounds of a problem with contexts share one estimate, and it is the one that each would make."""

import threading

import numpy as np
import pytest

import gbb
from gbb.contexts import EdgeFeatures, EdgeTypes
from gbb.learning import Ridge, empty, observe
from gbb.learning.radius import confidence_radius
from gbb.learning.ridge import LastRidge

GRID = gbb.Graph.grid(2, 3)
ARMS = np.random.default_rng(0).normal(size=(4, 2))


def seen(feedback, kind):
    """A problem, three contexts, and a record of rounds in them."""
    rng = np.random.default_rng(1)
    problem = gbb.Problem(GRID, ARMS, sigma=0.1, feedback=feedback, contexts=kind(3))
    shape = (3, GRID.m, 3) if kind is EdgeFeatures else (3, GRID.m)
    contexts = rng.uniform(size=shape) if kind is EdgeFeatures else rng.integers(-1, 2, shape)
    contexts = list(contexts)
    if kind is EdgeTypes:
        contexts[2] = np.full(GRID.m, 2)  # other matrices are in play
    record = empty(problem)
    for context in contexts * 5:
        now = problem.at(context)
        arms = rng.integers(4, size=GRID.n)
        record = record.merge(observe(now, arms, rng.normal(size=now.observations)))
    return problem, contexts, record


@pytest.mark.parametrize("feedback", ["edge", "agent"])
@pytest.mark.parametrize("kind", [EdgeFeatures, EdgeTypes])
def test_an_estimate_for_another_round_is_the_one_that_would_be_made_for_it(feedback, kind):
    problem, contexts, record = seen(feedback, kind)
    first = Ridge(problem.at(contexts[0]), record, 0.3)
    first.draw(1.0, np.random.default_rng(2))
    for name in ("smallest", "rounding", "widths", "M_hats"):
        getattr(first, name)
    arms = np.arange(GRID.n) % 4
    for context in contexts:
        now = problem.at(context)
        shared, alone = first.at(now), Ridge(now, record, 0.3)
        assert shared._blocks is first._blocks
        assert shared.problem is now
        one, other = (each.draw(1.0, np.random.default_rng(3)) for each in (shared, alone))
        assert np.array_equal(one, other)
        assert shared.total(arms) == alone.total(arms)
        assert confidence_radius(shared, 0.1, shrinking=True) == confidence_radius(
            alone, 0.1, shrinking=True
        )
        assert shared.rounding == alone.rounding


def test_the_last_estimate_goes_by_the_record_and_the_settings():
    problem, contexts, record = seen("agent", EdgeFeatures)
    now, then = problem.at(contexts[0]), problem.at(contexts[1])
    last = LastRidge()
    first = last.of(now, record, 1.0, symmetric=False)
    assert last.of(now, record, 1.0, symmetric=False) is first
    _ = first.centre
    assert last.of(then, record, 1.0, symmetric=False).centre is first.centre
    same = record.merge(empty(problem))
    assert last.of(now, same, 1.0, symmetric=False) is not first
    assert last.of(now, same, 2.0, symmetric=False).lam == 2.0


def test_a_policy_factorises_a_record_once_however_many_contexts_it_chooses_for(monkeypatch):
    problem, contexts, record = seen("agent", EdgeFeatures)
    cut = gbb.cuts.greedy(GRID)
    made, old = [], Ridge._spectrum.func
    monkeypatch.setattr(Ridge._spectrum, "func", lambda ridge: made.append(1) or old(ridge))
    for policy in (
        gbb.policies.ThompsonSampling(problem, cut=cut),
        gbb.policies.JointOFUL(problem, cut=cut),
    ):
        state = policy.init().absorb(record, 15)
        choices = [policy.at(each).select(state, np.random.default_rng(4)) for each in contexts]
        assert len(made) == 1
        for context, choice in zip(contexts, choices, strict=True):
            alone = policy.rebuild(problem.at(context))
            same = alone.select(state, np.random.default_rng(4))
            assert np.array_equal(choice.allocation, same.allocation)
            assert choice.value == same.value
        made.clear()


def test_an_estimate_may_be_asked_for_other_rounds_while_it_is_being_made():
    """Threads share it: what one of them computes is added while another one copies."""
    problem, contexts, record = seen("edge", EdgeTypes)
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
