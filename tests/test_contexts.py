"""Contexts: what is known before a round decides by which matrices its edges pay."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
from gbb.contexts import EdgeFeatures, EdgeTypes, Regimes, Vector, from_dict
from gbb.contexts.base import KINDS as ALL_KINDS
from gbb.learning.radius import confidence_radius
from gbb.learning.record import empty, observe
from gbb.policies import EpsilonGreedy, JointOFUL, ThompsonSampling
from gbb.simulation import play

KINDS = [name for name, kind in ALL_KINDS.items() if kind.__module__.startswith("gbb.contexts.")]
"""Those of gbb itself; a demo's own may be loaded as well."""

GRAPH = gbb.Graph.grid(2, 3)
ONE_HOT = np.eye(3)
GENERAL = np.random.default_rng(4).normal(size=(4, 2))


def contextual(contexts, arms=ONE_HOT, **links):
    return gbb.Problem(GRAPH, arms, sigma=0.3, S=3.0, contexts=contexts, **links)


def kinds(rng):
    """Every kind of contexts with three matrices, and a context drawn for it."""
    return {
        "regimes": (Regimes(3), int(rng.integers(3))),
        "vector": (Vector(3), rng.uniform(-1, 1, 3)),
        "edge types": (
            EdgeTypes(3),
            (rng.integers(-1, 3, GRAPH.m), rng.uniform(-1, 1, GRAPH.m)),
        ),
        "edge features": (EdgeFeatures(3), rng.uniform(-1, 1, (GRAPH.m, 3))),
    }


def features_of(kind, context):
    """The features of all edges, naively (m x 3)."""
    if kind == "regimes":
        return np.tile(np.eye(3)[context], (GRAPH.m, 1))
    if kind == "vector":
        return np.tile(context, (GRAPH.m, 1))
    if kind == "edge types":
        types, weights = context
        rows = np.vstack([np.eye(3), np.zeros(3)])  # type -1 is the last row: nothing
        return weights[:, None] * rows[types]
    return context


def test_every_kind_is_tried_here():
    assert set(kinds(np.random.default_rng(0))) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("feedback", ["edge", "link", "agent", "global"])
@given(seed=st.integers(0, 2**32))
def test_a_round_pays_the_sum_of_its_features(kind, feedback, seed):
    rng = np.random.default_rng(seed)
    contexts, context = kinds(rng)[kind]
    problem = contextual(contexts, GENERAL, feedback=feedback)
    M = rng.normal(size=(3, 2, 2)) / 2
    arms = rng.integers(0, 4, problem.n)
    X = GENERAL[arms]
    naive = np.array(
        [
            sum(f * X[i] @ Mk @ X[j] for f, Mk in zip(row, M, strict=True))
            for (i, j), row in zip(GRAPH.edges, features_of(kind, context), strict=True)
        ]
    )
    env = gbb.Environment(problem, M, noise="none", contexts=[context])
    assert env.expected(1, arms) == pytest.approx(naive.sum(), abs=1e-12)
    told = env.draw(1, arms, rng)
    plain = gbb.Problem(GRAPH, GENERAL, feedback=feedback)
    assert told == pytest.approx(plain.report.sum(naive), abs=1e-12)
    alone = env.at(context)  # the round's own matrices, without contexts
    assert alone.expected_reward(arms) == pytest.approx(naive.sum(), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("feedback", ["edge", "link", "agent", "global"])
@given(seed=st.integers(0, 2**32))
def test_records_of_rounds_with_other_contexts_add_up_to_least_squares(kind, feedback, seed):
    """The estimate is that of a plain regression on ``f (x) z``, summed as the report sums them."""
    rng = np.random.default_rng(seed)
    problem, rows, paid, record = None, [], [], None
    for _ in range(4):
        contexts, context = kinds(rng)[kind]
        if problem is None:
            problem = contextual(contexts, GENERAL, feedback=feedback)
            record = empty(problem)
        arms, y = rng.integers(0, 4, problem.n), rng.normal(size=problem.observations)
        z = problem.edge_arms[arms[GRAPH.sources] * 4 + arms[GRAPH.indices]]
        q = np.einsum("ek,es->eks", features_of(kind, context), z).reshape(GRAPH.m, -1)
        report = np.zeros((problem.observations, q.shape[1]))
        plain = gbb.Problem(GRAPH, GENERAL, feedback=feedback)
        np.add.at(report, plain.report.index, q)
        rows.append(report)
        paid.append(y)
        record = record.merge(observe(problem.at(context), arms, y))
    Q, y = np.vstack(rows), np.concatenate(paid)
    ridge = gbb.Ridge(problem.at(context), record, 0.7)
    if problem.symmetric_only:  # a link's tables are read in symmetric parts, which Q consists of
        assert pytest.approx(0.7 * np.eye(Q.shape[1]) + Q.T @ Q, abs=1e-9) == ridge.A
    theta = np.linalg.solve(0.7 * np.eye(Q.shape[1]) + Q.T @ Q, Q.T @ y)
    assert ridge.theta_hat == pytest.approx(theta, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_round_trip_as_plain_values_and_name_their_contexts(kind):
    contexts, context = kinds(np.random.default_rng(3))[kind]
    again = from_dict(contexts.to_dict())
    assert again.to_dict() == contexts.to_dict()
    assert repr(again) == repr(contexts)
    row = contexts.read(GRAPH, context)
    assert np.array_equal(again.read(GRAPH, contexts.name(row)), row)
    assert not row.flags.writeable


def test_contexts_by_name():
    hours = Regimes(["morning", "evening"])
    assert hours.read(GRAPH, "evening") == hours.read(GRAPH, 1) == [1.0]
    assert hours.name(hours.read(GRAPH, 1)) == "evening"
    wind = Vector(["east", "north"], max_size=2.0)
    assert np.array_equal(wind.read(GRAPH, {"north": -2.0, "east": 0.5}), [0.5, -2.0])
    assert wind.name(np.array([0.5, -2.0])) == {"east": 0.5, "north": -2.0}


def test_edges_by_name():
    graph = gbb.Graph.from_edges([("a", "b"), ("b", "c")], names=["a", "b", "c"], undirected=True)
    wakes = EdgeTypes(["near", "far"], max_size=2.0)
    row = wakes.read(graph, {("b", "a"): "far", ("b", "c"): ("near", 1.5)})
    types, weights = row.reshape(2, -1)
    assert [tuple(graph.label(int(i)) for i in edge) for edge in graph.edges] == [
        ("a", "b"),
        ("b", "a"),
        ("b", "c"),
        ("c", "b"),
    ]
    assert types.tolist() == [-1, 1, 0, -1]
    assert weights.tolist() == [0, 1, 1.5, 0]
    assert np.array_equal(wakes.read(graph, wakes.name(row)), row)
    bends = EdgeFeatures(["x", "y"])
    row = bends.read(graph, {("a", "b"): {"y": 1.0, "x": 0.5}, ("c", "b"): [0.1, 0.2]})
    assert row.reshape(-1, 2).tolist() == [[0.5, 1.0], [0, 0], [0, 0], [0.1, 0.2]]
    for contexts, wrong, text in (
        (wakes, {("a", "c"): "far"}, "not linked"),
        (wakes, {"ab": "far"}, r"name edges as \(source, target\)"),
        (wakes, {("a", "b"): "fra"}, "Did you mean 'far'"),
        (bends, {("a", "b"): {"x": 1.0}}, "have all of x, y, but got no y"),
    ):
        with pytest.raises(gbb.InputError, match=text):
            contexts.read(graph, wrong)


BAD = {
    "unknown regime": (Regimes(["day", "night"]), "nihgt", "Did you mean 'night'"),
    "regime out of range": (Regimes(3), 3, "whole number >= 0 and <= 2, but got 3"),
    "half a regime": (Regimes(3), 1.5, "whole number"),
    "no regime": (Regimes(3), None, "Pass the regime of the round"),
    "a short vector": (Vector(3), [1.0, 0.0], r"shape \(3,\)"),
    "NaN": (Vector(2), [np.nan, 0.0], "finite"),
    "beyond what was declared": (Vector(2), [3.0, 0.0], "at most 1 in size, but got 3"),
    "another name": (Vector(["a", "b"]), {"a": 1.0, "c": 0.0}, "`context`.*'c'"),
    "a name left out": (Vector(["a", "b"]), {"a": 1.0}, "have all of a, b, but got no b"),
    "no vector": (Vector(2), None, "Pass what is observed before the round"),
    "a type too many": (EdgeTypes(2), np.full(GRAPH.m, 2), "types from 0 to 1, or -1"),
    "types of other edges": (EdgeTypes(2), [0, 1], "one type per directed edge"),
    "fractions for types": (EdgeTypes(2), np.full(GRAPH.m, 0.5), "whole number"),
    "no types": (EdgeTypes(2), None, "Pass the type of every edge"),
    "infinite weights": (
        EdgeTypes(2),
        (np.zeros(GRAPH.m, int), np.full(GRAPH.m, np.inf)),
        "finite",
    ),
    "features turned round": (EdgeFeatures(2), np.zeros((2, GRAPH.m)), r"shape \(14, 2\)"),
    "directions that differ": (
        EdgeTypes(2, symmetric=True),
        (GRAPH.sources < GRAPH.indices).astype(int),
        "same in both directions",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_contexts_are_refused_on_one_line(what):
    contexts, context, text = BAD[what]
    problem = contextual(contexts)
    with pytest.raises(gbb.InputError, match=text) as refused:
        problem.at(context)
    assert "\n" not in str(refused.value)
    M = np.zeros((problem.types, 3, 3))
    with pytest.raises(gbb.InputError, match="Round 1"):
        gbb.Environment(problem, M, contexts=[context])


def test_a_number_or_a_regime_is_said_once_and_in_few_words():
    for contexts, context in (
        (Vector(2), {0: 0.5, "0": 0.1, 1: 0.2}),
        (EdgeFeatures(2), {(0, 1): {0: 0.5, "0": 0.1, 1: 0.2}}),
    ):
        with pytest.raises(gbb.InputError, match="have all of 0, 1, but got one of them twice"):
            contexts.read(GRAPH, context)
    for long in ("9" * 5000, "a" * 5000, list(range(5000))):
        with pytest.raises(gbb.InputError) as error:
            Regimes(3).read(GRAPH, long)
        assert len(str(error.value)) < 400
    with pytest.raises(gbb.InputError, match=r"no blanks around them, but got .*' x'"):
        Regimes(["x", " x"])  # tables and the command line could not tell them apart


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"regimes"}))
def test_minus_nothing_is_nothing(kind):
    """Contexts that are equal are one context, bit for bit."""
    contexts = kinds(np.random.default_rng(0))[kind][0]
    zeros = {"vector": (3,), "edge types": (GRAPH.m,), "edge features": (GRAPH.m, 3)}[kind]
    types = np.zeros(GRAPH.m, dtype=np.int64)
    rows = []
    for zero in (0.0, -0.0):
        given = np.full(zeros, zero)
        rows.append(contexts.read(GRAPH, (types, given) if kind == "edge types" else given))
    assert rows[0].tobytes() == rows[1].tobytes()


def test_what_does_not_go_together_is_refused():
    with pytest.raises(gbb.InputError, match="there are no contexts"):
        gbb.Problem(GRAPH, ONE_HOT).at("day")
    with pytest.raises(gbb.InputError, match="be given: edges differ by round"):
        contextual(Regimes(2)).edge_types  # noqa: B018
    with pytest.raises(gbb.InputError, match=r"be one of gbb\.contexts, but got 'regimes'"):
        contextual("regimes")
    with pytest.raises(gbb.InputError, match="`edge_types` to be left out with EdgeTypes"):
        contextual(EdgeTypes(2), edge_types="source")
    with pytest.raises(gbb.InputError, match="cannot be combined with features"):
        contextual(Regimes(2), features=np.ones((GRAPH.m, 2)))
    with pytest.raises(gbb.InputError, match="`features` say it all"):
        gbb.Problem(GRAPH, ONE_HOT, features=np.ones((GRAPH.m, 2)), edge_types="source")
    with pytest.raises(gbb.InputError, match="no contexts"):
        gbb.policies.ExponentialWeights(contextual(Regimes(2)), cut=gbb.cuts.greedy(GRAPH))
    with pytest.raises(gbb.InputError, match="have no contexts"):
        gbb.AdversarialEnvironment(contextual(Regimes(2)), lambda t: np.zeros((len(t), 2, 3, 3)))


def test_a_run_needs_a_context_for_every_round():
    problem = contextual(Regimes(2))
    env, policy = gbb.Environment(problem, np.zeros((2, 3, 3))), gbb.policies.UniformRandom(problem)
    with pytest.raises(gbb.InputError, match="each of the 3 rounds, but got none"):
        gbb.simulate(env, policy, rounds=3)
    with pytest.raises(gbb.InputError, match="each of the 3 rounds, but got 2"):
        gbb.simulate(env, policy, rounds=3, contexts=[0, 1])
    plain = gbb.Problem(GRAPH, ONE_HOT)
    with pytest.raises(gbb.InputError, match="left out where the problem has none"):
        gbb.Environment(plain, np.zeros((3, 3)), contexts=[0])


def test_problems_with_contexts_round_trip_through_pickle():
    problem = contextual(Vector(2))
    policy = ThompsonSampling(problem, cut=gbb.cuts.greedy(GRAPH))
    state, rng = policy.init(), np.random.default_rng(0)
    policy.at([0.5, 1.0]).select(state, rng)
    copy = pickle.loads(pickle.dumps(policy))
    one, two = (p.at([0.2, 0.1]).select(state, np.random.default_rng(2)) for p in (policy, copy))
    assert np.array_equal(one.allocation, two.allocation)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("policy", [JointOFUL, ThompsonSampling, EpsilonGreedy])
def test_one_hot_features_are_edge_types(policy, scale):
    """As features of the problem, as types and as features round by round.

    Features round by round are kept as moments, whose posterior draws are in another order.
    """
    rng = np.random.default_rng(8)
    types = rng.integers(0, 3, GRAPH.m)
    one_hot, cut = np.eye(3)[types], gbb.cuts.greedy(GRAPH)
    M = rng.uniform(0, scale, (3, 3, 3))
    settings = {"sigma": 0.1 * scale, "S": 3.0 * scale}
    runs = []
    for links, context in (
        ({"edge_types": types}, None),
        ({"features": one_hot}, None),
        ({"contexts": EdgeTypes(3)}, types),
        ({"contexts": EdgeFeatures(3)}, one_hot),
    ):
        problem = gbb.Problem(GRAPH, ONE_HOT, **settings, **links)
        given_contexts = None if context is None else [context] * 40
        env = gbb.Environment(problem, M, contexts=given_contexts)
        steps = play(env, policy(problem, cut=cut), 40, 5)
        runs.append(np.array([step.choice.allocation for step in steps]))
    for other in runs[1:3] if policy is ThompsonSampling else runs[1:]:
        assert np.array_equal(runs[0], other)


def test_a_constant_regime_among_many_plays_as_if_there_were_no_others():
    cut, rng = gbb.cuts.greedy(GRAPH), np.random.default_rng(1)
    M = rng.uniform(0, 1, (4, 3, 3))
    one = gbb.Problem(GRAPH, ONE_HOT, sigma=0.3, S=3.0)
    for policy in (JointOFUL, ThompsonSampling, EpsilonGreedy):
        alone = play(gbb.Environment(one, M[2]), policy(one, cut=cut), 60, 7)
        many = contextual(Regimes(4))
        env = gbb.Environment(many, M, contexts=[2] * 60)
        for a, b in zip(alone, play(env, policy(many, cut=cut), 60, 7), strict=True):
            assert np.array_equal(a.choice.allocation, b.choice.allocation)
            assert a.choice.value == pytest.approx(b.choice.value, rel=1e-12, nan_ok=True)


def test_regret_is_measured_against_every_rounds_own_optimum():
    rng = np.random.default_rng(2)
    problem = contextual(Regimes(["day", "night"]))
    M = rng.uniform(0, 1, (2, 3, 3))
    order = rng.integers(0, 2, 30)
    env = gbb.Environment(problem, M, contexts=order)
    policy = JointOFUL(problem, cut=gbb.cuts.greedy(GRAPH))
    result = gbb.simulate(env, policy, rounds=30, seed=3, record=[1, 7, 30], method="reference")
    every = gbb.simulate(env, policy, rounds=30, seed=3, method="reference")
    plain = gbb.Problem(GRAPH, ONE_HOT)
    best = np.array([gbb.optimum.solve(plain, each, method="brute_force").value for each in M])[
        order
    ]
    paid = every.expected_reward.values[0, 0]
    regret = np.cumsum(best - paid)
    assert result.regret.values[0, 0] == pytest.approx(regret[[0, 6, 29]])
    assert result.fraction.values[0, 0] == pytest.approx((paid / best)[[0, 6, 29]])
    assert result.attrs["contexts"] == 2
    assert result.attrs["optimum_proven"] == 1
    alone = [gbb.Environment(gbb.Problem(GRAPH, ONE_HOT, S=3.0), each) for each in M]
    alphas = np.array([gbb.theory.report(each, cut=policy.cut).alpha_2 for each in alone])[order]
    alpha_regret = np.cumsum(alphas * best - paid)
    assert result.alpha_regret.values[0, 0] == pytest.approx(alpha_regret[[0, 6, 29]])


def test_contexts_are_drawn_from_a_child_of_the_seed_of_their_own():
    problem = contextual(Vector(2))
    env = gbb.Environment(problem, np.random.default_rng(0).uniform(0, 1, (2, 3, 3)))
    policies = [JointOFUL(problem, cut=gbb.cuts.greedy(GRAPH)), gbb.policies.UniformRandom(problem)]

    def law(rng, rounds):
        drawn.append(rng.uniform(0, 1, (rounds, 2)))
        return drawn[-1]

    drawn = []
    settings = {"rounds": 5, "contexts": law, "method": "reference"}
    gbb.simulate(env, policies, seed=4, runs=2, **settings)
    gbb.simulate(env, policies[0], seed=4, runs=1, **settings)
    gbb.simulate(env, policies[0], seed=5, **settings)
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


@pytest.mark.parametrize("contexts", [Regimes(3), Vector(3)], ids=["regimes", "vector"])
def test_confidence_sets_hold_the_truth_in_every_round(contexts):
    """The joint set of all matrices: 300 runs, of which at most delta may miss, in any round."""
    delta, missed, runs = 0.1, 0, 300
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), sigma=0.5, S=1.0, contexts=contexts)
    rng = np.random.default_rng(6)
    for _ in range(runs):
        M = rng.normal(size=(3, 2, 2))
        M /= np.linalg.norm(M, axis=(1, 2), keepdims=True)
        theta = M.transpose(0, 2, 1).reshape(-1)
        record, miss = empty(problem), False
        for _ in range(12):
            context = int(rng.integers(3)) if contexts.single else rng.uniform(-1, 1, 3)
            now, arms = problem.at(context), rng.integers(0, 2, 3)
            env = gbb.Environment(problem, M, contexts=[context])
            record = record.merge(observe(now, arms, env.draw(1, arms, rng)))
            ridge = gbb.Ridge(now, record, 1.0)
            radius = confidence_radius(ridge, delta)
            off = (ridge.theta_hat - theta).reshape(3, -1)
            off[~np.isin(np.arange(3), now.matrices_in_play)] = 0.0  # what the round depends on
            miss |= bool(off.ravel() @ ridge.A @ off.ravel() > radius**2)
        missed += miss
    assert missed <= delta * runs


@pytest.mark.parametrize(
    "graph", [gbb.Graph.complete(5), gbb.Graph.grid(4, 4)], ids=["complete", "grid"]
)
def test_four_regimes_are_learnt_and_a_blind_learner_cannot(graph):
    """Over the last tenth, of every round's own optimum; and the alpha_2-regret is under its bound."""
    rounds, rng = 800, np.random.default_rng(3)
    M = np.abs(rng.normal(size=(4, 4, 4)))
    M /= np.linalg.norm(M, axis=(1, 2), keepdims=True)
    problem = gbb.Problem(graph, np.eye(4), sigma=0.1, contexts=Regimes(4))
    env = gbb.Environment(problem, M, contexts=rng.integers(0, 4, rounds))
    cut, blind = gbb.cuts.greedy(graph), gbb.Problem(graph, np.eye(4), sigma=0.1)
    policies = [ThompsonSampling(problem, cut=cut), JointOFUL(problem, cut=cut)]
    result = gbb.simulate(env, policies, rounds=rounds, seed=1)
    last = slice(rounds - rounds // 10 + 1, None)
    assert (result.fraction.sel(round=last).mean(("run", "round")) >= 0.98).all()
    bound = gbb.theory.regret_bound(problem, rounds)
    assert (result.alpha_regret.sel(policy="JointOFUL") <= bound).all()
    best = (result.expected_reward / result.fraction).values[0, 0]
    policy = ThompsonSampling(blind, cut=cut)
    blindly = [step.expected for step in play(Unaware(env, blind), policy, rounds, 1)]
    assert np.mean((blindly / best)[-rounds // 10 :]) < 0.9


class Unaware:
    """The same rounds for a learner that is not told their contexts."""

    def __init__(self, env, problem):
        self.problem, self.expected, self.draw = problem, env.expected, env.draw
