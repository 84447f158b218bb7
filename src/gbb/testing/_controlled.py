"""What a policy owes to the controller: it learns from records alone, or says that it does not."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gbb._support.checks import InputError
from gbb.learning import observe
from gbb.policies import AnyPolicy
from gbb.problem import Problem
from gbb.testing._policies import SOME, PolicyContract, repeats


class UncontrolledContract(PolicyContract):
    """The tests of a policy that says it is not ``controllable``."""

    def test_a_controller_refuses_it(self, tmp_path: Path) -> None:
        from gbb.controller import Controller

        with pytest.raises(InputError, match="`policy` to be one that learns from records"):
            Controller.create(f"sqlite:///{tmp_path / 'log.db'}", SOME, self.build(SOME))


class ControlledContract(PolicyContract):
    """The tests of a policy that a controller can run."""

    def test_absorbing_the_record_of_a_whole_round_is_updating(self, problem: Problem) -> None:
        policy = self.build(problem)
        for state, choice, rewards in self.play(policy, 1)[0]:
            seen = observe(problem, choice.allocation, rewards)
            before = pickle.dumps((state, choice, seen))
            closed = policy.close(policy.begin(state, 0, choice), 0, choice, rewards)
            one = policy.update(state, choice, rewards)
            other = policy.absorb(closed, choice, seen)
            assert pickle.dumps(one) == pickle.dumps(other)
            assert pickle.dumps((state, choice, seen)) == before

    def test_absorbing_a_long_record_leaves_a_state_that_selects(self, problem: Problem) -> None:
        policy = self.build(problem)
        total, *rest = (
            observe(problem, choice.allocation, rewards)
            for _, choice, rewards in self.play(policy, 1)[0]
        )
        for record in rest:
            total = total.merge(record)
        state = policy.absorb(policy.init(), None, total.discount(0.5), rounds=len(rest) + 1)
        assert repeats(policy, state, state)

    def test_a_controller_asks_what_it_selects_and_plays_on_when_it_is_opened_again(
        self, tmp_path: Path
    ) -> None:
        from gbb.controller import Controller

        policy, url = self.build(SOME), f"sqlite:///{tmp_path / 'log.db'}"
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


def policy_contract(kind: type[AnyPolicy], **settings: Any) -> type[PolicyContract]:
    """The tests of a policy class, to be given a name that starts with ``Test``.

    Parameters
    ----------
    kind
        The policy's class.
    settings
        What its constructor is given beside the problem, a greedy cut and a horizon.
    """
    base = ControlledContract if kind.controllable else UncontrolledContract
    return type(f"Test{kind.__name__}", (base,), {"kind": kind, "settings": settings})
