"""A process that asks and tells until it is killed; run by test_crash.py.

It writes a line to standard output after every call that returned: what it has been acknowledged.
The rewards of a trial depend on its number alone, so every run faces the same ones.
"""

from __future__ import annotations

import sys

import numpy as np

import gbb
from control import context_for, environment, pay
from gbb.controller import Controller
from gbb.controller.log import log

log.SNAPSHOT_EVENTS = 25  # so that some kills fall on a snapshot


def rewards_of(env: gbb.Environment, trial) -> np.ndarray:
    return pay(env, trial, np.random.default_rng(trial.id))


def create(url: str, policy: str, problem: gbb.Problem, **more) -> Controller:
    """A controller with a policy by name, held back if the name says so."""
    plain = policy.removeprefix("safe ")
    chosen = gbb.policies.build(plain, problem, cut=gbb.cuts.greedy(problem.graph))
    if plain != policy:
        chosen = gbb.policies.Conservative(
            problem, policy=chosen, baseline=[1, 1, 2, 1], eps=0.2, floor=0.0, max_changes=2
        )
    return Controller.create(url, problem, chosen, seed=5, **more)


def step(controller: Controller, env: gbb.Environment) -> tuple[str, int]:
    """What an uninterrupted run does next: finish the open trial, else ask for one."""
    waiting = controller.open_trials()
    if not waiting:
        number = controller._log.state.trials + 1
        return "ask", controller.ask(context_for(controller.problem, number)).id
    controller.tell(waiting[0], rewards_of(env, waiting[0]))
    return "tell", waiting[0].id


def main(url: str, most: int) -> None:
    with Controller.open(url) as controller:
        env = environment(controller.problem)
        for _ in range(most):
            kind, trial = step(controller, env)
            sys.stdout.write(f"{kind} {trial}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
