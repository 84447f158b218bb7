"""Explore-then-commit with the G-optimal design (GBB-BAI in the paper's Figure 2)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut, check_cut
from gbb.learning.design import g_optimal
from gbb.learning.record import AnyRecord, empty
from gbb.learning.ridge import Ridge
from gbb.policies._base import Choice, Learned, Policy, draw_arms
from gbb.policies._index.objective import pick_near
from gbb.problem import Problem, check_lam

COMMITS: dict[str, tuple[float, float, float, float]] = {
    "couple": (1.0, 1.0, 0.0, 0.0),
    "edge-arm": (1.0, 0.0, 0.0, 0.0),
}
"""What the commit step maximises: the paper's ``z_xx' + z_x'x``, or ``z_xx'`` as released."""


class Committed(NamedTuple):
    """State: what was seen, and the couple once it is settled."""

    learned: Learned
    couple: tuple[int, int] | None

    @property
    def record(self) -> AnyRecord:
        """The record of the exploring rounds."""
        return self.learned.record


class ExploreThenCommit(Policy[Committed]):
    """Explore by a design for a third of the horizon, then play the best estimated couple.

    While exploring, every agent draws its arm independently from the G-optimal design over arms,
    which makes the drawn edge-arms G-optimal too (Rizk et al. 2021). Then V1 and V2 play
    ``argmax <z_xx' + z_x'x, theta_hat>`` for good. Nothing is learnt after the commitment. The paper
    has no theorem for it; with the true best couple it earns alpha_1 of the optimum from then on.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts V1 and V2.
    horizon
        Number of rounds to come; needed unless ``exploration`` is given.
    exploration
        Number of exploring rounds; ``ceil(horizon / 3)`` when left out.
    lam
        The ridge regulariser lambda, > 0.
    commit
        ``couple`` (the paper's ``z_xx' + z_x'x``) or ``edge-arm`` (``z_xx'`` alone, as released).
    name
        How results call this policy.
    """

    compiled = True
    learns_from_links = True
    learns_scales = True

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut,
        horizon: int | None = None,
        exploration: int | None = None,
        lam: float = 1.0,
        commit: str = "couple",
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.cut: Cut = check_cut(problem.graph, cut)
        if exploration is None:
            cure = "Give the horizon, or the number of exploring rounds as `exploration`."
            horizon = checks.integer("horizon", horizon, low=1, cure=cure)
            exploration = math.ceil(horizon / 3)
        self.exploration = checks.integer("exploration", exploration, low=1)
        self.lam: float = check_lam(lam)
        self.commit = checks.choice("commit", commit, COMMITS)
        self.design = g_optimal(problem.arms)

    def init(self) -> Committed:
        return Committed(Learned(0, empty(self.problem)), None)

    def select(self, state: Committed, rng: np.random.Generator) -> Choice:
        if state.couple is not None:
            return Choice(self.cut.allocation(state.couple), state.couple)
        if state.learned.rounds < self.exploration:
            return Choice(draw_arms(self.design.weights, self.problem.n, rng))
        values = self.couple_values(state.record).ravel()
        best = pick_near(values, rng)
        couple = divmod(best, self.problem.K)
        return Choice(self.cut.allocation(couple), couple, float(values[best]))

    def couple_values(self, record: AnyRecord) -> FloatArray:
        """What the commit step maximises, for every couple (K x K)."""
        means = Ridge(self.problem, record, self.lam).means[0]
        return self.cut.couple_values(means, COMMITS[self.commit])

    def settings(self) -> dict[str, Any]:
        given: dict[str, Any] = {"name": self.name, "cut": self.cut, "lam": self.lam}
        # The horizon says no more than what follows from it.
        return {**given, "exploration": self.exploration, "commit": self.commit}

    def absorb(
        self, state: Committed, choice: Choice | None, seen: AnyRecord, *, rounds: int = 1
    ) -> Committed:
        if choice is not None and choice.couple is not None:
            return Committed(state.learned, choice.couple)
        if state.couple is not None:
            return state
        return Committed(state.learned.absorb(seen, rounds), None)
