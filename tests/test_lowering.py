"""Which index policies the compiled loops play: those whose parts and methods are all gbb's own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import gbb
from gbb.learning.record import bernoulli_weights
from gbb.policies._compiled import compile_policy
from gbb.policies._learner import Memory
from gbb.simulation import SlowPolicyWarning
from gbb.simulation.engine import loop_for

P = gbb.policies

GRAPH = gbb.Graph.complete(5)
CUT = gbb.cuts.greedy(GRAPH)
ARMS = {
    "one-hot": np.eye(4),
    "general": np.random.default_rng(1).normal(size=(4, 2)) / 2.0,
}


def make_environment(arms: str = "one-hot") -> gbb.Environment:
    d = ARMS[arms].shape[1]
    M = gbb.instances.absolute_normal(d, seed=5)
    problem = gbb.Problem(GRAPH, ARMS[arms], sigma=0.5, S=float(np.linalg.norm(M)))
    return gbb.Environment(problem, M)


class Parts(P.IndexPolicy):
    """A policy of any parts."""

    cut: gbb.Cut = CUT
    learner: P.RidgeLearner = P.RidgeLearner()
    index: P.Index = P.Optimistic()
    search: P.Search = P.LocalSearch(CUT)


def bold(problem, rounds, lam, delta):  # noqa: ARG001
    return 0.3 * np.sqrt(np.log(2.0 + rounds))


def subclass(part: object) -> object:
    """The same part, of a class that may do anything."""
    kind = type(part)
    other = type("Own", (kind,), {})
    return other(**{name: getattr(part, name) for name in kind.__dataclass_fields__ if name != "_"})


class OwnIndex:
    """Everybody plays arm 1."""

    proven = False

    def check(self, problem):
        pass

    def choose(self, posterior, search, rng):  # noqa: ARG002
        return P.Choice(np.ones(posterior.problem.n, dtype=np.int64))


DRAW, BOUND, RATIO = P.PosteriorSample(), P.Optimistic(), P.InformationRatio(samples=4)
LEARNER = P.RidgeLearner(v=0.5)

COMPILED = {
    "another radius": {"index": P.Optimistic(bold)},
    "another radius over couples": {"index": P.Optimistic(bold), "search": P.CutSearch(CUT)},
    "equal weights": {
        "search": P.CutSearch(CUT, (1.0, 1.0, 1.0, 1.0)),
        "index": P.Optimistic("paper"),
    },
    "draws": {"index": DRAW, "learner": LEARNER},
    "draws of all dimensions": {"index": DRAW, "learner": P.RidgeLearner(v=0.5, symmetric=False)},
    "random bounds": {"index": P.EpsilonRandom(BOUND, 0.3)},
    "random draws": {"index": P.EpsilonRandom(DRAW, 0.3), "learner": LEARNER},
    "random behind a guard": {
        "index": P.EpsilonRandom(P.Guarded(DRAW, BOUND, c=1.0), 0.3),
        "learner": LEARNER,
    },
    "information behind a guard": {"index": P.Guarded(RATIO, BOUND, beta=0.9), "learner": LEARNER},
}

REFERENCE = {
    "an index of one's own": {"index": OwnIndex()},
    "a subclass of Optimistic": {"index": subclass(BOUND)},
    "a subclass of PosteriorSample": {"index": subclass(DRAW), "learner": LEARNER},
    "a subclass of InformationRatio": {"index": subclass(RATIO), "learner": LEARNER},
    "a subclass of EpsilonRandom": {"index": subclass(P.EpsilonRandom(BOUND, 0.3))},
    "a subclass of Guarded": {"index": subclass(P.Guarded(DRAW, BOUND, beta=0.9))},
    "a subclass inside EpsilonRandom": {"index": P.EpsilonRandom(subclass(BOUND), 0.3)},
    "a proposal of one's own": {"index": P.Guarded(subclass(DRAW), BOUND, beta=0.9)},
    "a guard of one's own": {"index": P.Guarded(DRAW, subclass(BOUND), beta=0.9)},
    "a bound as a proposal": {"index": P.Guarded(P.Optimistic(bold), BOUND, beta=0.9)},
    "random proposals": {
        "index": P.Guarded(P.EpsilonRandom(DRAW, 0.5), BOUND, beta=0.9),
        "learner": LEARNER,
    },
    "random twice": {"index": P.EpsilonRandom(P.EpsilonRandom(BOUND, 0.5), 0.5)},
    "a subclass of RidgeLearner": {"learner": subclass(LEARNER)},
    "a memory": {"learner": P.RidgeLearner(memory=P.Discounted(0.9))},
    "a memory of one's own": {"learner": P.RidgeLearner(memory=type("Own", (Memory,), {})())},
    "weighed records": {"learner": P.RidgeLearner(reweight=bernoulli_weights)},
    "a subclass of CutSearch": {"search": subclass(P.CutSearch(CUT))},
    "a subclass of LocalSearch": {"search": subclass(P.LocalSearch(CUT))},
}


def play_both(env, policy):
    how = {"rounds": 40, "seed": 2, "keep_allocations": True}
    plain = gbb.simulate(env, policy, method="reference", **how)
    return plain, gbb.simulate(env, policy, edge_noise=True, **how)


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.filterwarnings("error::gbb.simulation.SlowPolicyWarning")
def test_parts_of_gbb_are_compiled_in_every_combination(name, arms):
    env = make_environment(arms)
    policy = Parts(env.problem, **COMPILED[name])
    assert loop_for(policy) is not None
    plain, fast = play_both(env, policy)
    np.testing.assert_array_equal(fast.allocation, plain.allocation)


@pytest.mark.parametrize("name", REFERENCE)
def test_parts_of_ones_own_are_played_by_the_reference_loop(name):
    env = make_environment()
    policy = Parts(env.problem, **REFERENCE[name])
    assert compile_policy(policy) is None
    how = {"rounds": 8, "seed": 2}
    with pytest.warns(SlowPolicyWarning, match="Parts") as caught:
        found = gbb.simulate(env, policy, **how)
    assert len(caught) == 1
    plain = gbb.simulate(env, policy, method="reference", **how)
    np.testing.assert_array_equal(found.regret, plain.regret)


@pytest.mark.parametrize("method", ["init", "select", "update", "absorb", "on", "at"])
def test_methods_of_ones_own_are_played_by_the_reference_loop(method):
    def own(self, *args, **settings):
        return getattr(super(kind, self), method)(*args, **settings)

    kind = type("Own", (P.ImprovedOFUL,), {method: own})
    mixin = type("Own", (type("Mixin", (), {method: own}), P.ImprovedOFUL), {})
    problem = make_environment().problem
    assert compile_policy(kind(problem, cut=CUT)) is None
    assert compile_policy(mixin(problem, cut=CUT)) is None


class Bolder(P.ImprovedOFUL):
    """The improved algorithm with another bonus."""

    @cached_property
    def index(self):
        return P.Optimistic(bold)


class Wider(P.ThompsonSampling):
    """Posterior draws that are wider, by another learner; and couples only."""

    @cached_property
    def learner(self):
        return replace(super().learner, v=2.0)

    @cached_property
    def search(self):
        return P.CutSearch(self.cut)


@pytest.mark.parametrize("kind", [Bolder, Wider])
@pytest.mark.filterwarnings("error::gbb.simulation.SlowPolicyWarning")
def test_a_subclass_with_other_parts_of_gbb_stays_compiled(kind):
    env = make_environment()
    policy, usual = kind(env.problem, cut=CUT), kind.__base__(env.problem, cut=CUT)
    plain, fast = play_both(env, policy)
    np.testing.assert_array_equal(fast.allocation, plain.allocation)
    assert (play_both(env, usual)[1].allocation.values != fast.allocation.values).any()
