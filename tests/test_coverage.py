"""Intervals hold at every scale of the arms, on every kind of problem."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import gbb
from gbb.controller.commands.setup import make_first
from gbb.controller.log.codec import Observed
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.learn import learn
from gbb.controller.state.state import begin
from gbb.learning import Confidence, empty, observe
from gbb.learning.radius import confidence_radius
from gbb.learning.record import weigh

GRAPH = gbb.Graph.complete(4)
SCALES = (1e-6, 1.0, 1e3, 1e4, 1e6, 1e8)
SHARES = np.array([0.5, 1.0, -2.0, 1.0, 0.0, 3.0, 1.0, 1.5, 1.0, -0.5, 1.0, 2.0])
TYPES = GRAPH.sources % 2
KINDS = {
    "paper": {},
    "own matrices": {"edge_types": "source"},
    "typed": {"edge_types": TYPES},
    "weighted": {"edge_weights": SHARES},
    "agent": {"feedback": "agent"},
    "global": {"feedback": "global"},
    "link": {"feedback": "link"},
    "typed and weighted, by link": {
        "edge_types": (GRAPH.sources + GRAPH.indices) % 2,
        "edge_weights": (SHARES + SHARES[GRAPH.reverse]),
        "feedback": "link",
    },
    "directions differ, by link": {"edge_weights": SHARES, "feedback": "link"},
    "typed and weighted, by agent": {
        "edge_types": TYPES,
        "edge_weights": SHARES,
        "feedback": "agent",
    },
    "weighted, in all": {"edge_weights": SHARES, "feedback": "global"},
    "light beside heavy, by agent": {
        "edge_types": TYPES,
        "edge_weights": np.where(TYPES == 0, 1e7, 1.0),
        "feedback": "agent",
    },
    "light beside heavy, in all": {
        "edge_types": TYPES,
        "edge_weights": np.where(TYPES == 0, 1e-6, 10.0),
        "feedback": "global",
    },
    "allowed": {"allowed": np.array([[1, 1, 0]] * 4, dtype=bool)},
}
ARMS = {
    "random": np.random.default_rng(5).normal(size=(3, 2)),
    "orthogonal": np.array([[1.0, 0.0], [0.0, 0.7]]),
    "nearly alike": np.array([[1.0, 0.0], [1.0, 1e-5], [0.3, -0.4]]),
}


class World:
    """A problem of some kind with hidden matrices of norm S, told without rounding more than once."""

    def __init__(self, kind, arms, scale, seed):
        self.rng = np.random.default_rng(seed)
        allowed = KINDS[kind].get("allowed")
        given = KINDS[kind] | ({} if allowed is None else {"allowed": allowed[:, : len(arms)]})
        self.problem = gbb.Problem(GRAPH, arms * scale, **given)
        M = self.rng.normal(size=(self.problem.types, self.problem.d, self.problem.d))
        M /= np.linalg.norm(M, axis=(1, 2))[:, None, None]
        self.M = M.astype(np.longdouble)
        self.arms = self.problem.arms.astype(np.longdouble)

    def edges(self, allocation):
        x, y = self.arms[allocation[GRAPH.sources]], self.arms[allocation[GRAPH.indices]]
        paid = np.einsum("ei,eij,ej->e", x, self.M[self.problem.edge_types], y)
        return self.problem.edge_weights * paid

    def draw(self, allocation):
        sums = np.zeros(self.problem.observations, dtype=np.longdouble)
        np.add.at(sums, self.problem.report.index, self.edges(allocation))
        return (sums + self.rng.normal(size=sums.size)).astype(np.float64)

    def allocation(self):
        play = [self.rng.choice(np.flatnonzero(row)) for row in self.problem.allowed]
        return np.array(play)


def attach(state, world, play, choice=None):
    seen = Observed(None, world.draw(play))
    return learn(state, choice, world.problem, play, seen)


def one_allocation(state, world):
    for _ in range(50):
        state = attach(state, world, np.zeros(4, dtype=np.int64))
    return state


def two_allocations(state, world):
    plays = [world.allocation() for _ in range(2)]
    for play in plays * 20:
        state = attach(state, world, play)
    return state


def ask_and_tell(state, world):
    for _ in range(15):
        choice = state.setup.policy.select(state.memory, world.rng)
        state = attach(state, world, choice.allocation, choice)
    return state


LEARN = (one_allocation, two_allocations, ask_and_tell)


def allocations(problem):
    """Every allocation of allowed arms."""
    for play in itertools.product(range(problem.K), repeat=4):
        if problem.allowed[np.arange(4), list(play)].all():
            yield np.array(play)


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_hold_at_every_scale(kind, arms):
    missed = []
    for scale, told in itertools.product(SCALES, LEARN):
        world = World(kind, ARMS[arms], scale, len(told.__name__))
        known = Knowledge(told(begin(make_first(world.problem, "JointOFUL", 0, {})), world))
        upper, best = known.recommend(0.1).upper_bound, -np.inf
        for play in allocations(world.problem):
            truth, found = world.edges(play).sum(), known.predict(play)
            best = max(best, truth)
            if not found.low <= truth <= found.high:
                missed.append((scale, told.__name__, play, truth, found))
        if not best <= upper:
            missed.append((scale, told.__name__, best, upper))
        halves = world.problem.symmetric_only
        truths = (world.M + world.M.transpose(0, 2, 1)) / 2 if halves else world.M
        for each, M in zip(known.estimate(), truths, strict=True):
            if not (np.abs(each.M_hat - M) <= each.M_width).all():
                missed.append((scale, told.__name__, M, each))
    assert not missed, (len(missed), missed[:3])


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_allocation_exceeds_another_by_more_than_is_certified(kind, arms):
    missed = []
    for scale, seed in itertools.product(SCALES, range(3)):
        world = World(kind, ARMS[arms], scale, seed)
        problem = world.problem
        every = np.array(list(allocations(problem)))
        plays = every[world.rng.integers(len(every), size=1 + seed)]
        record = empty(problem)
        for play in np.repeat(plays, 20, axis=0):
            record = record.merge(observe(problem, play, world.draw(play)))
        seen = Confidence(problem, record)
        counts = np.array([weigh(problem, play) for play in every])
        values = np.array([world.edges(play).sum() for play in every])
        excess = seen.excess(
            lambda table, counts=counts: np.einsum(
                "sgp,gp...->s...", counts, table.reshape(counts.shape[1:] + table.shape[3:])
            ),
            0,
            seen.ellipsoid(1e-3),
        )
        if not (same := excess >= values - values[0]).all():
            where = int(np.argmin(same))
            missed.append((scale, seed, every[where], excess[where], values[where] - values[0]))
    assert not missed, (len(missed), missed[:3])


@pytest.mark.parametrize("feedback", ["agent", "global"])
def test_what_is_light_is_learnt_beside_what_is_heavy(feedback):
    """Links of one component weigh 10^7 times the other's: rewards in sums still say what both pay."""
    env = light_and_heavy(feedback)
    problem, rng = env.problem, np.random.default_rng(0)
    record = empty(problem)
    for _ in range(2000):
        play = rng.integers(2, size=6)
        record = record.merge(observe(problem, play, env.draw(1, play, rng)))
    ridge = gbb.Ridge(problem, record)
    reach = confidence_radius(ridge, 1e-3) + ridge.rounding
    change = problem.edge_arms[0] - problem.edge_arms[3]
    row = np.concatenate([np.zeros_like(change), change])
    off = reach * ridge.width(row[None])[0]
    assert abs(row @ (ridge.theta_hat - env.M_star.transpose(0, 2, 1).ravel())) <= off
    assert off <= 0.3 * np.linalg.norm(row)


@pytest.mark.parametrize("policy", ["JointOFUL", "EpsilonGreedy", "ThompsonSampling"])
@pytest.mark.parametrize("feedback", ["agent", "global"])
def test_both_loops_learn_what_is_light_alike(policy, feedback):
    env = light_and_heavy(feedback)
    make = getattr(gbb.policies, policy)
    engine, reference = (
        gbb.simulate(
            env,
            make(env.problem, cut=gbb.cuts.greedy(env.problem.graph)),
            rounds=60,
            seed=1,
            workers=1,
            keep_allocations=True,
            **how,
        ).allocation
        for how in ({"edge_noise": True}, {"method": "reference"})
    )
    assert np.array_equal(engine, reference)


def test_ends_of_intervals_are_rounded_outwards():
    """What the largest matrix pays is inside, to the last digit, also before anything is seen."""
    rng = np.random.default_rng(0)
    for n in (2, 3, 4, 5) * 5:
        graph = gbb.Graph.complete(n)
        x, S, weights = rng.normal(), rng.uniform(0.1, 5.0), rng.uniform(0.1, 3.0, graph.m)
        problem = gbb.Problem(graph, [[x]], S=S, edge_weights=weights)
        known = Knowledge(begin(make_first(problem, "JointOFUL", 0, {})))
        truth = sum(map(Fraction, weights.tolist())) * Fraction(x) ** 2 * Fraction(S)
        found, best = known.predict(np.zeros(n, dtype=np.int64)), known.recommend(0.1)
        assert found.low <= -truth < truth <= found.high
        assert best.low <= best.reward <= best.high <= best.upper_bound
        assert truth <= best.upper_bound <= truth * (1 + Fraction(1e-12))


def light_and_heavy(feedback):
    """Two paths of three agents, each with a matrix of its own; the links of one weigh 10^7."""
    graph = gbb.Graph.from_edges([(0, 1), (1, 2), (3, 4), (4, 5)], undirected=True)
    types = (graph.sources >= 3).astype(int)
    weights = np.where(types == 0, 1e7, 1.0)
    arms = np.array([[1.3, 0.3], [0.3, 1.3]])
    given = {"edge_types": types, "edge_weights": weights, "feedback": feedback}
    problem = gbb.Problem(graph, arms, **given)
    M = np.random.default_rng(0).normal(size=(2, 2, 2))
    return gbb.Environment(problem, M / np.linalg.norm(M, axis=(1, 2))[:, None, None])
