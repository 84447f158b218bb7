"""A watch over drift without its database: how soon drift is found, and how often without any.

It hears what a policy plays and earns on complete:5 with five one-hot arms. A jump is half the norm
of M*, after the policy has settled.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gbb
from gbb.controller.commands.alerts import judge_drift
from gbb.controller.commands.setup import make_first
from gbb.controller.state.state import State, begin
from gbb.learning import observe

S = 4.0
SETTLED = 2000
"""Rounds before the jump, and up to 49 more, so that it is nowhere in particular."""


def draw_matrix(seed: int) -> np.ndarray:
    """A matrix of the paper's experiments, whose best couple has two arms, scaled to the norm S."""
    M = gbb.instances.absolute_normal(5, seed=seed, distinct_couple=True)
    return M * (S / np.linalg.norm(M))


class Told:
    """A controller's state as far as drift is concerned, round after round."""

    def __init__(self, policy: str, seed: int) -> None:
        problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=S, sigma=1.0)
        self.state: State = begin(make_first(problem, policy, seed, {}))
        self.problem, self.policy = self.state.setup.problem, self.state.setup.policy
        self.M, self.seed = draw_matrix(seed), seed
        self.record, self.recent = self.state.record, self.state.recent

    def settle(self, rounds: int) -> int | None:
        """Play in the compiled loop; the first round that drift is found after."""
        env = gbb.Environment(self.problem, self.M * (1.0 - 1e-12))
        how = {"keep_allocations": True, "edge_noise": True}
        played = gbb.simulate(env, self.policy, rounds=rounds, seed=self.seed, **how)
        allocations = played["allocation"].to_numpy()[0, 0].astype(np.int64)
        child = np.random.SeedSequence(self.seed).spawn(1)[0]  # that of the first run
        noise = np.random.default_rng(child.spawn(2)[0])
        for t, arms in enumerate(allocations, 1):
            if self.tell(arms, env.draw(t, arms, noise)):
                return t
        return None

    def choose(self, rounds: int, rng: np.random.Generator) -> np.ndarray:
        """What the policy plays next."""
        memory = self.policy.absorb(self.policy.init(), None, self.record, rounds=rounds)
        return self.policy.select(memory, rng).allocation

    def tell(self, arms: np.ndarray, paid: np.ndarray) -> bool:
        """Whether drift is found after this round."""
        seen = observe(self.problem, arms, paid)
        before = self.recent.finished
        self.recent = self.recent.plus(self.problem, self.record, seen, paid)
        self.record = self.record.merge(seen)
        if self.recent.finished == before:
            return False
        return judge_drift(replace(self.state, record=self.record, recent=self.recent)) is not None


def find_jump(policy: str, seed: int, within: int, *, anywhere: bool = False) -> int | None:
    """Rounds from a jump of S/2 to the alert; 0 if it was there before.

    The jump is towards another matrix of the same kind, or ``anywhere``, in a random direction.
    """
    told, rng = Told(policy, seed), np.random.default_rng([seed, 1])
    settled = SETTLED + int(rng.integers(50))
    if told.settle(settled) is not None:
        return 0
    step = rng.standard_normal(told.M.shape) if anywhere else draw_matrix(seed + 10**6) - told.M
    M = told.M + step * (S / 2.0 / np.linalg.norm(step))
    for t in range(1, within + 1):
        arms = told.choose(settled + t - 1, rng)
        sources, targets = arms[told.problem.graph.edges.T]
        if told.tell(arms, M[sources, targets] + rng.standard_normal(told.problem.m)):
            return t
    return None


def alarms(policy: str, seed: int, rounds: int) -> bool:
    """Whether drift is ever found although nothing changed."""
    return Told(policy, seed).settle(rounds) is not None
