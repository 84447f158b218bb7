"""What every policy owes, whoever wrote it."""

import inspect
import pickle

import numpy as np
import pytest

import gbb
from gbb.policies import Choice, Policy
from gbb.simulation.engine import supports

NAMES = list(gbb.policies.classes())
HORIZON = 9

RNG = np.random.default_rng(11)
GRAPHS_AND_ARMS = {
    "general arms": (gbb.Graph.random(6, p=0.6, seed=2), RNG.normal(size=(4, 3))),
    "one-hot arms with ties": (gbb.Graph.complete(4), np.eye(3)),
    "isolated agents": (
        gbb.Graph.from_edges([[1, 2], [2, 4], [1, 4]], n=6, undirected=True),
        RNG.normal(size=(3, 2)),
    ),
    "one arm": (gbb.Graph.circle(5), np.array([[0.5, -2.0]])),
    "one dimension": (gbb.Graph.path(4), np.array([[1.0], [-2.0], [0.5]])),
    "duplicated arms and a zero one": (gbb.Graph.star(4), np.array([[1.0, 2.0]] * 2 + [[0, 0]])),
    "two agents": (gbb.Graph.complete(2), RNG.normal(size=(5, 2))),
}
PROBLEMS = {
    key: gbb.Problem(graph, arms, sigma=0.5, S=2.0)
    for key, (graph, arms) in GRAPHS_AND_ARMS.items()
}

every_policy = pytest.mark.parametrize("name", NAMES)
controllable_policy = pytest.mark.parametrize(
    "name", [name for name, kind in gbb.policies.classes().items() if kind.controllable]
)
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


BOLD = {"eps": 1.0, "floor": 0.0}
"""Lets the policy inside `Conservative` through from the first round on."""


def build(name: str, problem: gbb.Problem) -> Policy:
    cut = gbb.cuts.greedy(problem.graph)
    return gbb.policies.build(name, problem, cut=cut, horizon=HORIZON, **BOLD)


def environment(problem: gbb.Problem) -> gbb.Environment:
    rng = np.random.default_rng(5)
    return gbb.Environment(problem, rng.normal(size=(problem.d, problem.d)))


def play(policy: Policy, seed: int, rounds: int = HORIZON):
    """(state, choice, rewards) of every round and the last state, and the policy's generator."""
    env = environment(policy.problem)
    rng, noise = np.random.default_rng(seed), np.random.default_rng(77)
    state, history = policy.init(), []
    for _ in range(rounds):
        choice = policy.select(state, rng)
        rewards = env.draw(1, choice.allocation, noise)
        history.append((state, choice, rewards))
        state = policy.update(state, choice, rewards)
    return history, state, rng


def allocations(policy: Policy, seed: int) -> np.ndarray:
    return np.array([choice.allocation for _, choice, _ in play(policy, seed)[0]])


def same(one: Choice, other: Choice) -> bool:
    return (
        np.array_equal(one.allocation, other.allocation)
        and one.couple == other.couple
        and np.array_equal(one.value, other.value, equal_nan=True)
    )


def test_the_papers_policies_are_discovered():
    known = {"OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom", "FixedAllocation"}
    assert known <= set(NAMES)


@every_policy
@every_problem
def test_allocations_are_arm_indices_and_couples_agree_with_them(name, problem):
    policy = build(name, problem)
    for _, choice, _ in play(policy, 0)[0]:
        assert isinstance(choice, Choice)
        assert choice.allocation.shape == (problem.n,)
        assert choice.allocation.dtype.kind == "i"
        assert choice.allocation.min() >= 0
        assert choice.allocation.max() < problem.K
        if choice.couple is not None:
            assert np.array_equal(policy.cut.allocation(choice.couple), choice.allocation)


@every_policy
@every_problem
def test_same_seed_same_run(name, problem):
    runs = [play(build(name, problem), 3)[0] for _ in range(2)]
    assert all(same(one[1], other[1]) for one, other in zip(*runs, strict=True))


@every_policy
def test_seeds_matter_exactly_when_the_generator_is_used(name):
    policy = build(name, PROBLEMS["one-hot arms with ties"])
    untouched = np.random.default_rng(0).bit_generator.state
    used = play(policy, 0)[2].bit_generator.state != untouched
    runs = {allocations(policy, seed).tobytes() for seed in range(12)}
    assert (len(runs) > 1) == used


@every_policy
@every_problem
def test_what_it_is_handed_is_left_alone(name, problem):
    arms = problem.arms.copy()
    policy = build(name, problem)
    for state, choice, rewards in play(policy, 1)[0]:
        before = pickle.dumps((state, choice, rewards))
        policy.select(state, np.random.default_rng(0))
        policy.update(state, choice, rewards)
        assert pickle.dumps((state, choice, rewards)) == before
    assert np.array_equal(problem.arms, arms)
    assert not problem.arms.flags.writeable


@controllable_policy
@every_problem
def test_absorbing_the_record_of_a_whole_round_is_updating(name, problem):
    policy = build(name, problem)
    for state, choice, rewards in play(policy, 1)[0]:
        seen = gbb.Record.of(problem.graph, choice.allocation, rewards, problem.K)
        before = pickle.dumps((state, choice, seen))
        one, other = policy.update(state, choice, rewards), policy.absorb(state, choice, seen)
        assert pickle.dumps(one) == pickle.dumps(other)
        assert pickle.dumps((state, choice, seen)) == before


@controllable_policy
@every_problem
def test_absorbing_a_long_record_leaves_a_state_that_selects(name, problem):
    policy = build(name, problem)
    some = play(policy, 1)[0]
    records = [gbb.Record.of(problem.graph, c.allocation, r, problem.K) for _, c, r in some]
    total = records[0]
    for record in records[1:]:
        total = total.merge(record)
    state = policy.absorb(policy.init(), None, total.discount(0.5), rounds=len(records))
    choices = [policy.select(state, np.random.default_rng(3)) for _ in range(2)]
    assert same(*choices)


@every_policy
@every_problem
def test_selecting_within_all_arms_gives_an_allocation(name, problem):
    policy = build(name, problem)
    allowed = np.ones((problem.n, problem.K), dtype=bool)
    for state, _, _ in play(policy, 1)[0]:
        choice = policy.select_within(state, np.random.default_rng(0), allowed)
        assert choice.allocation.shape == (problem.n,)
        assert choice.allocation.max() < problem.K


@every_policy
def test_read_only_rewards_are_welcome(name):
    policy = build(name, PROBLEMS["general arms"])
    rewards = np.zeros(policy.problem.m)
    rewards.flags.writeable = False
    state = policy.init()
    policy.update(state, policy.select(state, np.random.default_rng(0)), rewards)


@every_policy
@every_problem
def test_an_old_state_still_selects_the_same(name, problem):
    policy = build(name, problem)
    history, _, _ = play(policy, 2)
    early = history[1][0]
    chosen = policy.select(early, np.random.default_rng(9))
    play(policy, 4)
    assert same(chosen, policy.select(early, np.random.default_rng(9)))


@every_policy
@every_problem
def test_the_state_round_trips_through_pickle(name, problem):
    policy = build(name, problem)
    history, last, _ = play(policy, 6)
    for state in [step[0] for step in history] + [last]:
        copy = pickle.loads(pickle.dumps(state))
        choices = [policy.select(s, np.random.default_rng(1)) for s in (state, copy)]
        assert same(*choices)


@every_policy
def test_the_policy_round_trips_through_pickle(name):
    policy = build(name, PROBLEMS["general arms"])
    assert np.array_equal(
        allocations(policy, 8), allocations(pickle.loads(pickle.dumps(policy)), 8)
    )


@every_policy
@pytest.mark.parametrize("rounds", [0, HORIZON], ids=["at first", "at last"])
def test_bad_rewards_are_refused(name, rounds):
    policy = build(name, PROBLEMS["general arms"])
    m = policy.problem.m
    _, state, rng = play(policy, 0, rounds)
    choice = policy.select(state, rng)
    with pytest.raises(
        gbb.InputError, match=rf"`rewards` to have shape \({m},\), one per directed"
    ):
        policy.update(state, choice, np.zeros(m + 1))
    with pytest.raises(gbb.InputError, match="Did you pass undirected edges"):
        policy.update(state, choice, np.zeros(m // 2))
    rewards = np.zeros(m)
    rewards[2] = np.nan
    with pytest.raises(gbb.InputError, match=r"`rewards` to hold finite numbers only.*position 2"):
        policy.update(state, choice, rewards)


@every_policy
def test_has_a_name_that_can_be_changed_and_refuses_what_is_no_problem(name):
    kind = gbb.policies.classes()[name]
    problem = PROBLEMS["general arms"]
    assert build(name, problem).name == name
    renamed = gbb.policies.build(
        name, problem, cut=gbb.cuts.greedy(problem.graph), horizon=3, name="mine"
    )
    assert renamed.name == "mine"
    known = inspect.signature(kind).parameters
    needed = {"cut": gbb.cuts.greedy(problem.graph)} if "cut" in known else {}
    with pytest.raises(gbb.InputError, match=r"`problem` to be a gbb\.Problem, but got str"):
        kind("problem", **needed)


@every_policy
def test_options_are_keyword_only_and_documented(name):
    kind = gbb.policies.classes()[name]
    assert inspect.getdoc(kind) != inspect.getdoc(Policy)
    parameters = list(inspect.signature(kind).parameters.values())
    assert parameters[0].name == "problem"
    assert all(option.kind is option.KEYWORD_ONLY for option in parameters[1:])


@every_policy
def test_the_guarantee_names_an_alpha_of_the_report(name):
    guarantee = gbb.policies.classes()[name].guarantee
    assert guarantee is None or guarantee in gbb.theory.Report.__dataclass_fields__


@every_problem
@every_policy
def test_the_engine_chooses_as_the_reference_does(name, problem):
    policy = build(name, problem)
    if not supports(policy):
        return  # the reference loop plays it
    env = environment(problem)
    best = gbb.optimum.solve(problem, env.M_star)
    settings = {"rounds": 3 * HORIZON, "seed": 8, "keep_allocations": True, "optimum": best}
    plain = gbb.simulate(env, policy, method="reference", **settings)
    fast = gbb.simulate(env, policy, edge_noise=True, **settings)
    np.testing.assert_array_equal(fast.allocation, plain.allocation)
    np.testing.assert_allclose(fast.regret, plain.regret, rtol=1e-9, atol=1e-9)
