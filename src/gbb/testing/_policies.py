"""What every policy owes, whoever wrote it."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from gbb import cuts, optimum, simulation, theory
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.policies import AnyPolicy, Choice, Policy
from gbb.problem import Problem
from gbb.simulation import engine
from gbb.testing._problems import PAPER_PROBLEMS, PROBLEMS, constant_twins, environment

HORIZON = 6
SOME = PAPER_PROBLEMS["general arms"]


class PlayedRound(NamedTuple):
    """The state before a round, what was chosen and what it paid."""

    state: Any
    choice: Choice
    rewards: FloatArray


class PolicyContract:
    """The tests of one policy class, on every kind of problem that it claims to play.

    Attributes
    ----------
    kind
        The class.
    settings
        What its constructor is given beside the problem, a greedy cut and a horizon.
    """

    kind: ClassVar[type[AnyPolicy]]
    settings: ClassVar[Mapping[str, Any]] = {}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run what takes a ``problem`` on every kind that the policy claims to play."""
        plays = {name: each for name, each in PROBLEMS.items() if self.kind.plays(each)}
        for name, problems in (("problem", plays), ("any_problem", PROBLEMS)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, list(problems.values()), ids=list(problems))

    def build(self, problem: Problem, **more: Any) -> AnyPolicy:
        """The policy for ``problem``."""
        known = inspect.signature(self.kind).parameters
        usual = {"cut": cuts.greedy(problem.graph), "horizon": HORIZON}
        settings = {key: value for key, value in usual.items() if key in known}
        return self.kind(problem, **{**settings, **self.settings, **more})

    def play(
        self, policy: AnyPolicy, seed: int, rounds: int = HORIZON
    ) -> tuple[list[PlayedRound], Any, np.random.Generator]:
        """Every round, the state after the last, and the policy's generator."""
        noise, rng = np.random.default_rng(77), np.random.default_rng(seed)
        steps = list(simulation.play(environment(policy.problem), policy, rounds, (noise, rng)))
        *states, last = policy.init(), *(step.state for step in steps)
        before = zip(states, steps, strict=True)
        return [PlayedRound(state, step.choice, step.rewards) for state, step in before], last, rng

    def test_it_chooses_arms_that_are_allowed_and_couples_agree_with_them(
        self, problem: Problem
    ) -> None:
        policy = self.build(problem)
        agents = np.arange(problem.n)
        for _, choice, _ in self.play(policy, 0)[0]:
            assert isinstance(choice, Choice)
            assert choice.allocation.shape == (problem.n,)
            assert choice.allocation.dtype.kind == "i"
            assert choice.allocation.min() >= 0
            assert choice.allocation.max() < problem.K
            assert problem.allowed[agents, choice.allocation].all()
            if choice.couple is not None:
                assert policy.cut is not None
                over_cut = policy.cut.allocation(choice.couple)
                free = problem.allowed[agents, over_cut]
                assert np.array_equal(over_cut[free], choice.allocation[free])

    def test_it_plays_what_it_claims_and_refuses_the_rest(self, any_problem: Problem) -> None:
        if self.kind.plays(any_problem):
            assert self.build(any_problem).problem is any_problem
            return
        with pytest.raises(InputError, match="`problem` to have one matrix"):
            self.build(any_problem)

    def test_same_seed_same_run(self, problem: Problem) -> None:
        one, other = (self.play(self.build(problem), 3)[0] for _ in range(2))
        assert all(map(same, one, other))

    def test_seeds_matter_exactly_when_the_generator_is_used(self) -> None:
        policy = self.build(PAPER_PROBLEMS["one-hot arms with ties"])
        untouched = np.random.default_rng(0).bit_generator.state
        used = self.play(policy, 0)[2].bit_generator.state != untouched
        runs = {allocations(self.play(policy, seed)[0]).tobytes() for seed in range(12)}
        assert (len(runs) > 1) == used

    def test_what_it_is_handed_is_left_alone(self, problem: Problem) -> None:
        arms = problem.arms.copy()
        policy = self.build(problem)
        for state, choice, rewards in self.play(policy, 1)[0]:
            rewards.flags.writeable = False  # as rewards from a log are
            before = pickle.dumps((state, choice, rewards))
            policy.select(state, np.random.default_rng(0))
            policy.update(state, choice, rewards)
            assert pickle.dumps((state, choice, rewards)) == before
        assert np.array_equal(problem.arms, arms)

    def test_selecting_within_all_arms_gives_an_allocation(self, problem: Problem) -> None:
        policy = self.build(problem)
        for state, _, _ in self.play(policy, 1)[0]:
            choice = policy.select_within(state, np.random.default_rng(0), problem.allowed)
            problem.allocation(choice.allocation)

    def test_an_old_state_still_selects_the_same(self, problem: Problem) -> None:
        policy = self.build(problem)
        early = self.play(policy, 2)[0][1].state
        chosen = policy.select(early, np.random.default_rng(1))
        self.play(policy, 4)
        assert same_choice(chosen, policy.select(early, np.random.default_rng(1)))

    def test_the_state_round_trips_through_pickle(self, problem: Problem) -> None:
        policy = self.build(problem)
        history, last, _ = self.play(policy, 6)
        for state in [*(step.state for step in history), last]:
            assert repeats(policy, state, pickle.loads(pickle.dumps(state)))

    def test_the_policy_round_trips_through_pickle(self) -> None:
        policy = self.build(SOME)
        copy = pickle.loads(pickle.dumps(policy))
        one, other = (allocations(self.play(each, 8)[0]) for each in (policy, copy))
        assert np.array_equal(one, other)

    @pytest.mark.parametrize("rounds", [0, HORIZON], ids=["at first", "at last"])
    def test_bad_rewards_are_refused(self, problem: Problem, rounds: int) -> None:
        policy, size = self.build(problem), problem.observations
        _, state, rng = self.play(policy, 0, rounds)
        choice = policy.select(state, rng)
        with pytest.raises(InputError, match=rf"`rewards` to have shape \({size},\), one "):
            policy.update(state, choice, np.zeros(size + 1))
        rewards = np.zeros(size)
        rewards[size // 2] = np.nan
        with pytest.raises(InputError, match=rf"hold finite numbers only.*position {size // 2}"):
            policy.update(state, choice, rewards)

    def test_it_has_a_name_that_can_be_changed_and_refuses_what_is_no_problem(self) -> None:
        assert self.build(SOME).name == self.kind.__name__
        assert self.build(SOME, name="mine").name == "mine"
        known = inspect.signature(self.kind).parameters
        needed = {"cut": cuts.greedy(SOME.graph)} if "cut" in known else {}
        with pytest.raises(InputError, match=r"`problem` to be a gbb\.Problem, but got str"):
            self.kind("problem", **needed)  # type: ignore[arg-type]

    def test_options_are_keyword_only_and_documented(self) -> None:
        assert inspect.getdoc(self.kind) != inspect.getdoc(Policy)
        first, *options = inspect.signature(self.kind).parameters.values()
        assert first.name == "problem"
        assert all(option.kind is option.KEYWORD_ONLY for option in options)

    def test_the_guarantee_names_an_alpha_of_the_theory_report(self) -> None:
        guarantee = self.kind.guarantee
        assert guarantee is None or guarantee in theory.Report.__dataclass_fields__

    def test_a_context_that_never_changes_changes_nothing(self, problem: Problem) -> None:
        if not self.kind.plays_any_problem or problem.contexts is not None:
            return
        plain = self.play(self.build(problem), 5)[0]
        for twin, context in constant_twins(problem):
            policy = self.build(twin)
            env, one_env = environment(problem), environment(twin).during([context] * HORIZON)
            assert np.array_equal(one_env.M_star.ravel(), env.M_star.ravel())
            streams = np.random.default_rng(77), np.random.default_rng(5)
            steps = simulation.play(one_env, policy, HORIZON, streams)
            for before, step in zip(plain, steps, strict=True):
                assert same_choice(before.choice, step.choice), repr(twin.contexts)

    def test_the_engine_chooses_as_the_reference_does(self, problem: Problem) -> None:
        policy, env = self.build(problem), environment(problem)
        best = optimum.solve(problem, env.M_star)
        settings: dict[str, Any] = {
            "rounds": 3 * HORIZON,
            "seed": 8,
            "keep_allocations": True,
            "optimum": best,
        }
        plain = simulation.simulate(env, policy, method="reference", **settings)
        loop = engine.loop_for(policy)
        assert (loop is not None) == policy.compiled, "`compiled` is not what the registry says"
        if loop is not None:
            fast = simulation.simulate(env, policy, edge_noise=True, **settings)
        else:
            with pytest.warns(simulation.SlowPolicyWarning, match=type(policy).__name__):
                fast = simulation.simulate(env, policy, **settings)
        np.testing.assert_array_equal(fast.allocation, plain.allocation)
        np.testing.assert_allclose(fast.regret, plain.regret, rtol=1e-9, atol=1e-9)


def allocations(history: list[PlayedRound]) -> IntArray:
    """What was played, round by round."""
    return np.array([step.choice.allocation for step in history])


def same_choice(one: Choice, other: Choice) -> bool:
    """Whether two choices are the same in every bit."""
    return (
        np.array_equal(one.allocation, other.allocation)
        and one.couple == other.couple
        and np.array_equal(one.value, other.value, equal_nan=True)
    )


def same(one: PlayedRound, other: PlayedRound) -> bool:
    """Whether two rounds chose the same."""
    return same_choice(one.choice, other.choice)


def repeats(policy: AnyPolicy, one: Any, other: Any) -> bool:
    """Whether two states select the same."""
    return same_choice(*(policy.select(each, np.random.default_rng(1)) for each in (one, other)))
