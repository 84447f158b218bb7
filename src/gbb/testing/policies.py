"""The contract of policies: the tests that gbb's own and third-party ones pass."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from gbb import cuts, optimum, simulation, theory
from gbb._support.checks import InputError
from gbb.learning import empty, observe
from gbb.policies import AccountingPolicy, AnyPolicy, Choice, Policy, RecordPolicy
from gbb.policies._policy import parameters
from gbb.problem import Problem
from gbb.simulation import engine
from gbb.simulation.reference import Round
from gbb.testing.problems import PROBLEMS, constant_twins, environment

HORIZON = 6
SOME = PROBLEMS["general arms"]


class PolicyContract:
    """The tests of one policy class, on every kind of problem that it claims to play.

    Attributes
    ----------
    kind
        The class.
    settings
        What its constructor takes besides the problem, a greedy cut and a horizon.
    """

    kind: ClassVar[type[AnyPolicy]]
    settings: ClassVar[Mapping[str, Any]] = {}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run what takes a ``problem`` on every kind that the policy claims to play."""
        plays = {name: p for name, p in PROBLEMS.items() if self.kind.plays(p)}
        for name, problems in (("problem", plays), ("any_problem", PROBLEMS)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, list(problems.values()), ids=list(problems))

    def build(self, problem: Problem, **more: Any) -> AnyPolicy:
        """Return the policy for ``problem``."""
        return self.kind(problem, **{**self._usual(problem), **self.settings, **more})

    def _usual(self, problem: Problem) -> dict[str, Any]:
        usual = {"cut": cuts.greedy(problem.graph), "horizon": HORIZON}
        return {key: usual[key] for key in usual.keys() & parameters(self.kind).keys()}

    @pytest.fixture
    def policy(self, problem: Problem) -> AnyPolicy:
        """Return the policy for a problem of each kind."""
        return self.build(problem)

    def play(
        self, policy: AnyPolicy, seed: int, rounds: int = HORIZON
    ) -> tuple[list[Any], list[Round], np.random.Generator]:
        """Return the states from the first to the last, the rounds, and the policy's generator."""
        noise, rng = np.random.default_rng(77), np.random.default_rng(seed)
        played = list(simulation.play(environment(policy.problem), policy, rounds, (noise, rng)))
        return [policy.init(), *(step.state for step in played)], played, rng

    def test_it_chooses_arms_that_are_allowed_and_couples_agree_with_them(
        self, policy: AnyPolicy
    ) -> None:
        problem, agents = policy.problem, np.arange(policy.problem.n)
        for choice in (step.choice for step in self.play(policy, 0)[1]):
            assert isinstance(choice, Choice)
            problem.allocation(choice.allocation)  # an arm index per agent, or an error
            assert problem.allowed[agents, choice.allocation].all()
            if choice.couple is not None:
                over_cut = vars(policy)["cut"].allocation(choice.couple)
                free = problem.allowed[agents, over_cut]
                assert np.array_equal(over_cut[free], choice.allocation[free])

    def test_it_plays_what_it_claims_and_refuses_other_problems(self, any_problem: Problem) -> None:
        if self.kind.plays(any_problem):
            assert self.build(any_problem).problem is any_problem
            return
        with pytest.raises(InputError, match="`problem` to have one matrix"):
            self.build(any_problem)

    def test_same_seed_same_run(self, policy: AnyPolicy) -> None:
        # One object plays them all, and other rounds in between: what it learnt is in the state alone.
        one, _, other = (self.play(policy, seed)[1] for seed in (3, 4, 3))
        for step, again in zip(one, other, strict=True):
            np.testing.assert_equal(step.choice, again.choice)

    def test_seeds_matter_exactly_when_the_generator_is_used(self) -> None:
        policy = self.build(PROBLEMS["one-hot arms with ties"])
        untouched = np.random.default_rng(0).bit_generator.state
        used = self.play(policy, 0)[2].bit_generator.state != untouched
        runs = {
            b"".join(step.choice.allocation.tobytes() for step in self.play(policy, seed)[1])
            for seed in range(12)
        }
        assert (len(runs) > 1) == used

    def test_arguments_are_not_modified(self, policy: AnyPolicy) -> None:
        arms = policy.problem.arms.copy()
        for state, (_, choice, rewards, *_) in zip(*self.play(policy, 1)[:2], strict=False):
            rewards.flags.writeable = False  # as rewards from a log are
            before = pickle.dumps((state, choice, rewards))
            policy.select(state, np.random.default_rng(0))
            policy.update(state, choice, rewards)
            assert pickle.dumps((state, choice, rewards)) == before
        assert np.array_equal(policy.problem.arms, arms)

    def test_the_policy_and_its_state_round_trip_through_pickle(self, policy: AnyPolicy) -> None:
        for state in self.play(policy, 6)[0]:
            assert_same_choice((policy, state), pickle.loads(pickle.dumps((policy, state))))

    @pytest.mark.parametrize("rounds", [0, HORIZON], ids=["at first", "at last"])
    def test_bad_rewards_are_refused(self, policy: AnyPolicy, rounds: int) -> None:
        size = policy.problem.observations
        states, _, rng = self.play(policy, 0, rounds)
        state, choice = states[-1], policy.select(states[-1], rng)
        with pytest.raises(InputError, match=rf"`rewards` to have shape \({size},\), one "):
            policy.update(state, choice, np.zeros(size + 1))
        for bad in (np.nan, np.inf):
            rewards = np.zeros(size)
            rewards[size // 2] = bad
            if np.isnan(bad) and isinstance(policy, RecordPolicy):  # a missing reward
                after = policy.update(state, choice, rewards)
                assert_same_choice((policy, after), (policy, after))
                continue
            text = rf"hold finite numbers only.*position {size // 2}"
            with pytest.raises(InputError, match=text):
                policy.update(state, choice, rewards)

    def test_it_has_a_name_that_can_be_changed_and_refuses_what_is_no_problem(self) -> None:
        assert self.build(SOME).name == self.kind.__name__
        assert self.build(SOME, name="mine").name == "mine"
        with pytest.raises(InputError, match=r"`problem` to be a gbb\.Problem, but got str"):
            self.kind("problem", **self._usual(SOME))  # type: ignore[arg-type]

    def test_options_are_keyword_only_and_documented(self) -> None:
        assert inspect.getdoc(self.kind) != inspect.getdoc(Policy)
        first, *options = parameters(self.kind).values()
        assert first.name == "problem"
        assert all(option.kind is option.KEYWORD_ONLY for option in options)

    def test_the_guarantee_names_an_alpha_of_the_theory_report(self) -> None:
        for name in (self.kind.theorem, self.build(SOME).guarantee):
            assert name is None or hasattr(theory.Report, name)

    def test_a_context_that_never_changes_changes_nothing(self, problem: Problem) -> None:
        if self.kind.requires or problem.contexts is not None:
            return
        plain = self.play(self.build(problem), 5)[1]
        for twin, context in constant_twins(problem):
            policy = self.build(twin)
            env, one_env = environment(problem), environment(twin).during([context] * HORIZON)
            assert np.array_equal(one_env.M_star.ravel(), env.M_star.ravel())
            streams = np.random.default_rng(77), np.random.default_rng(5)
            steps = simulation.play(one_env, policy, HORIZON, streams)
            for before, step in zip(plain, steps, strict=True):
                np.testing.assert_equal(step.choice, before.choice, repr(twin.contexts))

    def test_the_engine_chooses_as_the_reference_does(self, policy: AnyPolicy) -> None:
        env = environment(policy.problem)
        best = optimum.solve(policy.problem, env.M_star)
        settings: dict[str, Any] = {"rounds": 3 * HORIZON, "seed": 8, "optimum": best}
        settings["keep_allocations"] = True
        plain = simulation.simulate(env, policy, method="reference", **settings)
        if engine.loop_for(policy) is not None:
            fast = simulation.simulate(env, policy, edge_noise=True, **settings)
        else:
            with pytest.warns(simulation.SlowPolicyWarning, match=type(policy).__name__):
                fast = simulation.simulate(env, policy, **settings)
        np.testing.assert_array_equal(fast.allocation, plain.allocation)
        np.testing.assert_allclose(fast.regret, plain.regret, rtol=1e-9, atol=1e-9)

    def test_absorbing_the_record_of_a_round_is_updating(self, policy: AnyPolicy) -> None:
        if not isinstance(policy, RecordPolicy) or not policy.controllable:
            pytest.skip("no controller runs it")
        total = empty(policy.problem)
        for state, (_, choice, rewards, *_) in zip(*self.play(policy, 1)[:2], strict=False):
            record, closed = observe(policy.problem, choice.allocation, rewards), state
            before = pickle.dumps((state, choice, record))
            if isinstance(policy, AccountingPolicy):
                asked = policy.on_ask(state, 0, choice)
                closed = policy.on_close(asked, 0, choice, rewards)
            one = policy.update(state, choice, rewards)
            other = policy.absorb(closed, choice, record)
            assert pickle.dumps(one) == pickle.dumps(other)
            assert pickle.dumps((state, choice, record)) == before
            total = total.merge(record)
        # A record of many rounds, as a controller has after a change of the graph, leaves a whole state.
        state = policy.absorb(policy.init(), None, total.discount(0.5), rounds=HORIZON)
        assert_same_choice((policy, state), (policy, state))

    def test_a_controller_plays_on_when_it_is_opened_again_or_refuses_at_once(
        self, tmp_path: Path
    ) -> None:
        from gbb.controller import Controller

        policy, url = self.build(SOME), f"sqlite:///{tmp_path / 'log.db'}"
        if not policy.controllable:
            with pytest.raises(InputError, match="`policy` to be one that learns from records"):
                Controller.create(url, SOME, policy)
            return
        rng = np.random.default_rng(np.random.SeedSequence(4).spawn(1)[0].spawn(2)[1])
        state = policy.init()
        Controller.create(url, SOME, policy, 4).close()
        for _ in range(3):
            with Controller.open(url) as controller:
                trial = controller.ask()
                rewards = np.linspace(0.0, 1.0, SOME.m)
                controller.tell(trial, rewards)
            choice = policy.select(state, rng)
            state = policy.update(state, choice, rewards)
            assert np.array_equal(trial.arms, choice.allocation)


def assert_same_choice(*pairs: tuple[AnyPolicy, Any]) -> None:
    """Check that two policies select the same in two states, to every bit."""
    one, other = (policy.select(state, np.random.default_rng(1)) for policy, state in pairs)
    np.testing.assert_equal(one, other)


def policy_contract(kind: type[AnyPolicy], **settings: Any) -> type[PolicyContract]:
    """Return the tests of a policy class, to be given a name that starts with ``Test``.

    Parameters
    ----------
    kind
        The policy's class.
    settings
        What its constructor takes besides the problem, a greedy cut and a horizon.
    """
    return type(f"Test{kind.__name__}", (PolicyContract,), {"kind": kind, "settings": settings})
