import pickle
from dataclasses import FrozenInstanceError, replace
from functools import cached_property

import numpy as np
import pytest

import gbb
import naive
from gbb._kernels.index.search import pick_near
from gbb.policies import OFUL, ExploreThenCommit, FixedAllocation, ImprovedOFUL, UniformRandom
from gbb.policies.baselines import draw_arms
from indices import couple_vectors, objective_of
from inner_kernels import from_python

ROUNDS = 300
TIED = 1e-9
"""Optimistic values this close, relatively, may be ordered either way by rounding."""

GRAPHS = {
    "complete": gbb.Graph.complete(5),
    "path": gbb.Graph.path(5),
    "star": gbb.Graph.star(6),
    "odd circle": gbb.Graph.circle(7),
    "random": gbb.Graph.random(7, p=0.5, seed=3),
    "isolated agents": gbb.Graph.from_edges([[1, 3], [3, 4], [1, 4]], n=6, undirected=True),
}


def instance(graph, *, seed=0, K=4, d=3, sigma=0.2):
    """General arms, neither one-hot nor orthogonal nor quite of one norm."""
    rng = np.random.default_rng(seed)
    arms, M = rng.normal(size=(K, d)), rng.normal(size=(d, d))
    arms *= (rng.uniform(0.9, 1.1, size=K) / np.linalg.norm(arms, axis=1))[:, None]
    problem = gbb.Problem(graph, arms, sigma=sigma, S=float(np.linalg.norm(M)))
    return gbb.Environment(problem, M)


@pytest.mark.parametrize("kind", [OFUL, ImprovedOFUL])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_chooses_the_couples_of_the_papers_algorithm(kind, graph):
    env = instance(graph)
    problem = env.problem
    settings = {"lam": 0.7, "delta": 0.01}
    policy = kind(problem, cut=gbb.cuts.greedy(graph), **settings)
    twin = naive.PaperOFUL(
        problem.arms,
        problem.n,
        [tuple(edge) for edge in graph.edges.tolist()],
        sigma=problem.sigma,
        S=problem.S,
        L=problem.L,
        improved=kind is ImprovedOFUL,
        **settings,
    )
    rng, noise = np.random.default_rng(1), np.random.default_rng(2)
    state, chosen, decided = policy.init(), set(), 0
    for _ in range(ROUNDS):
        choice = policy.select(state, rng)
        values = twin.values()
        best = values.max()
        tied = {tuple(map(int, couple)) for couple in np.argwhere(values >= best * (1 - TIED))}
        assert choice.value == pytest.approx(best, rel=TIED)
        assert choice.couple in tied
        assert np.array_equal(choice.allocation, twin.allocation(choice.couple))
        # The two orders of a couple tie for Algorithm 1 always, for the improved one if m1 == m2.
        decided += len({frozenset(couple) for couple in tied}) == 1
        rewards = env.draw(1, choice.allocation, noise)
        state = policy.update(state, choice, rewards)
        twin.learn(choice.couple, rewards)
        chosen.add(frozenset(choice.couple))
    assert decided == ROUNDS
    assert len(chosen) >= 3


def test_the_improved_algorithm_orders_the_couple_when_the_parts_differ():
    env = instance(gbb.Graph.complete(5))
    cut = gbb.cuts.greedy(env.problem.graph)
    assert cut.m1 != cut.m2
    policy = ImprovedOFUL(env.problem, cut=cut)
    state, noise = policy.init(), np.random.default_rng(0)
    for _ in range(20):
        choices = [policy.select(state, np.random.default_rng(seed)) for seed in range(6)]
        assert len({choice.couple for choice in choices}) == 1
        rewards = env.draw(1, choices[0].allocation, noise)
        state = policy.update(state, choices[0], rewards)


def test_objectives_weigh_the_four_edge_arms():
    problem = instance(gbb.Graph.complete(3), K=3, d=2).problem
    weights = (2.0, 3.0, 5.0, 7.0)
    cut = gbb.cuts.greedy(problem.graph)
    v = cut.couple_values(problem.edge_arms.reshape(3, 3, -1), weights).reshape(9, -1)
    for a, x in enumerate(problem.arms):
        for b, y in enumerate(problem.arms):
            pairs = ((x, y), (y, x), (x, x), (y, y))
            expected = sum(w * naive.edge_arm(*p) for w, p in zip(weights, pairs, strict=True))
            assert v[a * 3 + b] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("radius", ["paper", "symmetric", "released"])
def test_the_optimistic_value_uses_the_chosen_radius(radius):
    env = instance(gbb.Graph.complete(4))
    policy = OFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph), radius=radius)
    state, rng = policy.init(), np.random.default_rng(0)
    for _ in range(5):
        choice = policy.select(state, rng)
        state = policy.update(state, choice, env.draw(1, choice.allocation, rng))
    ridge = gbb.Ridge(env.problem, state.record, 1.0)
    size, inverse = objective_of(policy, state).radius, np.linalg.inv(ridge.A)
    values = [v @ ridge.theta_hat + size * np.sqrt(v @ inverse @ v) for v in couple_vectors(policy)]
    assert policy.select(state, rng).value == pytest.approx(max(values), rel=1e-9)


def test_a_smaller_radius_loses_less():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3), sigma=1.0, S=3.0)
    M = gbb.instances.absolute_normal(3, seed=1, frobenius=3.0, distinct_couple=True, zeta=0.0)
    cut = gbb.cuts.greedy(problem.graph)
    policies = [
        ImprovedOFUL(problem, cut=cut, radius=radius, name=radius)
        for radius in ("symmetric", "paper")
    ]
    result = gbb.simulate(gbb.Environment(problem, M), policies, rounds=300, runs=3, record=300)
    regret = result.regret.mean("run").isel(round=-1)
    assert regret.sel(policy="symmetric") < regret.sel(policy="paper")


def uniform_counts(counts):
    """Whether counts look like uniform draws: all within 4 standard deviations."""
    counts = np.asarray(counts)
    expected = counts.sum() / counts.size
    return np.abs(counts - expected).max() < 4 * np.sqrt(expected * (1 - 1 / counts.size))


def test_ties_are_broken_uniformly():
    # With one-hot arms and nothing seen, the K couples of one arm twice have the widest vectors.
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(4))
    policy = OFUL(problem, cut=gbb.cuts.greedy(problem.graph))
    state, rng = policy.init(), np.random.default_rng(0)
    couples = [policy.select(state, rng).couple for _ in range(2000)]
    assert set(couples) == {(a, a) for a in range(4)}
    assert uniform_counts([couples.count((a, a)) for a in range(4)])


def pick(values, rng):
    return from_python(pick_near)(values, len(values), np.abs(values).max(), rng)


def test_rounding_counts_as_ties_and_nothing_else_does():
    rng = np.random.default_rng(1)
    values = np.array([1.0, 3.0, 3.0 * (1 - 1e-14), 3.0 * (1 - 1e-9), -5.0, 3.0])
    drawn = [pick(values, rng) for _ in range(3000)]
    assert set(drawn) == {1, 2, 5}
    assert uniform_counts([drawn.count(k) for k in (1, 2, 5)])


@pytest.mark.parametrize("values", [[-1.0, -1.0, -2.0], [0.0, 0.0, -1e-300]])
def test_ties_of_values_that_are_not_positive(values):
    rng = np.random.default_rng(1)
    assert {pick(np.array(values), rng) for _ in range(100)} == {0, 1}


def test_a_clear_winner_uses_no_randomness():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    assert pick(np.array([1.0, 2.0]), rng) == 1
    assert rng.bit_generator.state == before


def test_drawn_arms_follow_their_weights():
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    arms = draw_arms(weights, 100_000, np.random.default_rng(0))
    counts = np.bincount(arms, minlength=4) / 100_000
    assert counts[1] == 0
    assert np.abs(counts - weights).max() < 4 * np.sqrt(0.25 / 100_000)


def test_uniform_random_draws_every_arm_alike():
    problem = gbb.Problem(gbb.Graph.circle(50), np.eye(5))
    policy, rng = UniformRandom(problem), np.random.default_rng(0)
    arms = np.concatenate([policy.select(0, rng).allocation for _ in range(200)])
    assert uniform_counts(np.bincount(arms, minlength=5))
    assert policy.update(3, policy.select(0, rng), np.zeros(problem.m)) == 4


class TestExploreThenCommit:
    def run(self, env, policy, rounds):
        rng, noise = np.random.default_rng(0), np.random.default_rng(1)
        state, choices = policy.init(), []
        for _ in range(rounds):
            choices.append(policy.select(state, rng))
            state = policy.update(state, choices[-1], env.draw(1, choices[-1].allocation, noise))
        return choices, state

    @pytest.mark.parametrize(("horizon", "exploring"), [(1, 1), (9, 3), (10, 4), (11, 4), (12, 4)])
    def test_explores_a_third_of_the_horizon_rounded_up_then_commits_for_good(
        self, horizon, exploring
    ):
        env = instance(gbb.Graph.complete(4))
        cut = gbb.cuts.greedy(env.problem.graph)
        policy = ExploreThenCommit(env.problem, cut=cut, horizon=horizon)
        choices, state = self.run(env, policy, horizon + 5)
        couples = [choice.couple for choice in choices]
        assert couples[:exploring] == [None] * exploring
        assert len(set(couples[exploring:])) == 1
        assert couples[-1] is not None
        assert state.explored == exploring
        assert state.record.N.sum() == exploring * env.problem.m

    def test_commits_to_the_best_estimated_couple(self):
        for seed in range(5):
            env = instance(gbb.Graph.random(6, p=0.7, seed=1), seed=seed)
            cut = gbb.cuts.greedy(env.problem.graph)
            policy = ExploreThenCommit(env.problem, cut=cut, exploration=10, lam=0.5)
            choices, state = self.run(env, policy, 12)
            allocations = [choice.allocation for choice in choices[:10]]
            A = naive.gram(env.problem.arms, env.problem.graph.edges, allocations, 0.5)
            b = state.record.Y.ravel() @ env.problem.edge_arms
            M_hat = np.linalg.solve(A, b).reshape(env.problem.d, -1, order="F")
            R = env.problem.arms @ M_hat @ env.problem.arms.T
            a, b = choices[-1].couple
            assert (R + R.T)[a, b] == pytest.approx((R + R.T).max(), rel=1e-9)
            assert np.array_equal(choices[-1].allocation, cut.allocation((a, b)))

    def test_explores_by_the_design(self):
        # The longest arm of each axis takes half of the weight, the short one none.
        problem = gbb.Problem(gbb.Graph.circle(40), [[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        cut = gbb.cuts.greedy(problem.graph)
        policy = ExploreThenCommit(problem, cut=cut, exploration=300)
        assert policy.design.weights == pytest.approx([0.5, 0, 0.5], abs=1e-3)
        env = gbb.Environment(problem, np.eye(2))
        choices, _ = self.run(env, policy, 300)
        arms = np.array([choice.allocation for choice in choices])
        counts = np.bincount(arms.ravel(), minlength=3) / arms.size
        slack = 4 * np.sqrt(0.25 / arms.size)
        assert np.abs(counts - policy.design.weights).max() < slack
        # Independently at both ends of an edge.
        sources, targets = problem.graph.edges.T
        together = np.mean((arms[:, sources] == 0) & (arms[:, targets] == 0))
        assert together == pytest.approx(0.25, abs=4 * np.sqrt(0.1875 / (arms.size / 2)))

    def test_the_released_commit_looks_at_one_direction_only(self):
        problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2))
        env = gbb.Environment(problem, [[1.0, 5.0], [-5.0, 0.5]], noise="none")
        cut = gbb.cuts.greedy(problem.graph)
        couples = {}
        for commit in ("couple", "edge-arm"):
            policy = ExploreThenCommit(problem, cut=cut, exploration=60, commit=commit)
            couples[commit] = self.run(env, policy, 61)[0][-1].couple
        assert couples == {"couple": (0, 0), "edge-arm": (0, 1)}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "`horizon` to be a whole number >= 1, but got None. Give the horizon, or"),
            ({"horizon": 0}, "`horizon` to be a whole number >= 1, but got 0"),
            ({"exploration": 0}, "`exploration` to be a whole number >= 1, but got 0"),
            ({"horizon": 3, "lam": 0}, "`lam` to be a finite number > 0"),
            ({"horizon": 3, "commit": "edge"}, r"`commit` to be one of .* Did you mean 'edge-arm'"),
        ],
    )
    def test_bad_settings_are_refused(self, options, message):
        problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
        with pytest.raises(gbb.InputError, match=message):
            ExploreThenCommit(problem, cut=gbb.cuts.greedy(problem.graph), **options)


class TestFixedAllocation:
    graph = gbb.Graph.from_edges([["a", "b"], ["b", "c"]], undirected=True)
    problem = gbb.Problem(graph, np.eye(2), arm_names=["off", "on"])

    def test_by_names(self):
        policy = FixedAllocation(self.problem, allocation={"c": "on", "a": "on", "b": "off"})
        assert policy.select(0, np.random.default_rng(0)).allocation.tolist() == [1, 0, 1]

    def test_by_indices_and_by_default(self):
        rng = np.random.default_rng(0)
        policy = FixedAllocation(self.problem, allocation=[1, 1, 0])
        assert policy.select(0, rng).allocation.tolist() == [1, 1, 0]
        assert FixedAllocation(self.problem).select(0, rng).allocation.tolist() == [0, 0, 0]
        assert policy.update(7, policy.select(0, rng), np.zeros(4)) == 8

    def test_unknown_names_are_refused(self):
        with pytest.raises(gbb.InputError, match="`arm` to be one of 'off', 'on', but got 'onn'"):
            FixedAllocation(self.problem, allocation={"a": "onn", "b": "on", "c": "on"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.0}, r"`lam` to be a finite number > 0 and <= 1e\+100, but got 0\.0"),
        ({"delta": 0.0}, r"`delta` to be a finite number > 0 and <= 1, but got 0\.0"),
        ({"delta": 1.1}, r"`delta` to be a finite number > 0 and <= 1, but got 1\.1"),
        ({"radius": "papers"}, r"`radius` to be one of .* Did you mean 'paper'"),
        ({"cut": [0, 1]}, r"`cut` to be a gbb\.Cut, but got list"),
        ({"cut": gbb.cuts.greedy(gbb.Graph.star(4))}, "`cut` to cut the problem's graph"),
    ],
)
@pytest.mark.parametrize("kind", [OFUL, ImprovedOFUL])
def test_bad_settings_are_refused(kind, options, message):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    with pytest.raises(gbb.InputError, match=message):
        kind(problem, **{"cut": gbb.cuts.greedy(problem.graph)} | options)


def test_delta_may_be_one_and_an_equal_graph_will_do():
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    policy = OFUL(problem, cut=gbb.cuts.greedy(gbb.Graph.complete(3)), delta=1.0)
    assert policy.delta == 1.0


PROBLEM = gbb.Problem(gbb.Graph.complete(3), np.eye(2))


class Demanding(UniformRandom):
    """A policy with a setting that has no default."""

    pace: float
    patience: float = 1.0


class Plain(OFUL):
    """A class without a decorator or settings of its own."""


def test_only_settings_can_be_set_and_a_copy_keeps_them_all():
    with pytest.raises(FrozenInstanceError):
        Plain(PROBLEM).extra = 1
    with pytest.raises(FrozenInstanceError):
        Demanding(PROBLEM, pace=2.0).pace = 3.0
    assert replace(Demanding(PROBLEM, pace=2.0, patience=5.0), name="other").patience == 5.0


def test_a_class_without_settings_of_its_own_has_those_of_its_base():
    cut = gbb.Cut.of(PROBLEM.graph, [0, 1, 1])
    assert gbb.policies.setting_names(Plain) == gbb.policies.setting_names(OFUL)
    assert gbb.policies.build(Plain, PROBLEM, cut=cut).cut is cut


def test_settings_are_those_of_the_constructor():
    policy = gbb.policies.build("OFUL", PROBLEM, horizon=10, delta=0.5)  # it has no horizon
    assert isinstance(policy, OFUL)
    assert gbb.policies.settings(policy) == {
        "name": "OFUL", "cut": policy.cut, "radius": "paper", "lam": 1.0, "delta": 0.5
    }  # fmt: skip
    assert gbb.policies.setting_names("OFUL") == ["cut", "delta", "lam", "radius"]
    again = OFUL(PROBLEM, **gbb.policies.settings(policy))
    assert gbb.policies.settings(again) == gbb.policies.settings(policy)
    assert Demanding(PROBLEM, pace=2.0).patience == 1.0


@pytest.mark.parametrize("name", gbb.policies.names())
def test_a_policy_goes_by_its_name(name):
    kind = gbb.policies.find(name)
    assert gbb.policies.name_of(kind) == name == kind.__name__


def test_a_policy_of_ones_own_goes_by_its_place():
    place = gbb.policies.name_of(Demanding)
    assert place == f"{__name__}:Demanding"
    assert gbb.policies.find(place) is Demanding


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: OFUL(PROBLEM, lan=3),
            "OFUL has no setting 'lan'; it has cut, delta, lam, radius. Did you mean 'lam'?",
        ),
        (
            lambda: Plain(PROBLEM, lan=3),
            "Plain has no setting 'lan'; it has cut, delta, lam, radius. Did you mean 'lam'?",
        ),
        (
            lambda: Demanding(PROBLEM, pase=3),
            "Demanding has no setting 'pase'; it has pace, patience. Did you mean 'pace'?",
        ),
        (
            lambda: Demanding(PROBLEM, patience=1.0),
            "Demanding needs the setting 'pace': pass pace=...",
        ),
        (
            lambda: gbb.policies.build(Demanding, PROBLEM),
            "Demanding needs the setting 'pace': pass pace=...",
        ),
    ],
)
def test_a_slip_in_a_setting_is_named_on_one_line(make, message):
    with pytest.raises(gbb.InputError) as refused:
        make()
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("kind", "settings", "near"),
    [("ThompsonSampling", {"start": 3}, "starts"), (Demanding, {"pase": 3}, "pace")],
)
def test_what_is_a_setting_of_no_policy_is_refused_and_of_others_is_left_over(kind, settings, near):
    with pytest.raises(gbb.InputError, match=f"has no setting .* Did you mean '{near}'"):
        gbb.policies.build(kind, PROBLEM, **settings)
    gbb.policies.build("UniformRandom", PROBLEM, k=3, horizon=9)


def test_a_slip_in_a_name_is_named_with_the_nearest():
    with pytest.raises(gbb.InputError, match=r"`policy` to be one of .* Did you mean 'OFUL'"):
        gbb.policies.build("OFU", PROBLEM)
    with pytest.raises(gbb.InputError, match=r"`policy` to be a policy class, but got .*Graph"):
        gbb.policies.build(gbb.Graph, PROBLEM)


@pytest.mark.parametrize("name", gbb.policies.names())
def test_policies_are_frozen_and_pickled_without_what_they_cached(name):
    policy = gbb.policies.build(name, PROBLEM, horizon=9)
    policy.select(policy.init(), np.random.default_rng(0))
    cached = {
        key for key in vars(policy) if isinstance(getattr(type(policy), key, None), cached_property)
    }
    again = pickle.loads(pickle.dumps(policy))
    assert vars(again).keys() == vars(policy).keys() - cached
    with pytest.raises(FrozenInstanceError):
        policy.name = "other"
    other = replace(policy, name="other")
    assert (policy.name, other.name) == (name, "other")
    rest = gbb.policies.settings(policy) | {"name": "other"}
    assert gbb.policies.settings(other).keys() == rest.keys()
    for key, value in gbb.policies.settings(other).items():
        assert value is rest[key] or np.array_equal(value, rest[key])


CUT_POLICIES = [
    name for name in gbb.policies.names() if {"cut"} <= {*gbb.policies.setting_names(name)} - {"k"}
]


@pytest.mark.parametrize("name", CUT_POLICIES)
def test_a_cut_that_is_left_out_is_the_best(name):
    graph = gbb.Graph.random(9, p=0.5, seed=3)
    assert gbb.cuts.best(graph).m12 > gbb.cuts.greedy(graph).m12
    policy = gbb.policies.build(name, gbb.Problem(graph, np.eye(2)), horizon=9)
    best = gbb.cuts.best(graph)
    best = gbb.cuts.refine(best, 3).parts if name == "KCutOFUL" else best.sides
    found = policy.cut.parts if name == "KCutOFUL" else policy.cut.sides
    assert np.array_equal(found, best)
    assert policy.cut is not None
