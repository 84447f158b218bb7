"""The information-directed index: the regret of a round is weighed against what it tells."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from gbb._support import checks
from gbb.policies._learner import Posterior
from gbb.policies._policy import Choice
from gbb.policies._search import Search
from gbb.problem import Problem


@dataclass(frozen=True)
class InformationRatio:
    """Of the allocations that are best for posterior draws, play what loses least for what it tells.

    Draws with the same best allocation k are a group, of the share p_k. For the allocations found,

        ``Delta(a) = mean over draws of (the reward of the draw's own allocation - that of a)``,
        ``g(a) = sum over numbers o that a round reports of log(Var[o] / sum_k p_k Var[o | k])``

    are the expected regret and the information gain. The mixture of two allocations is played that makes
    ``(q Delta_i + (1 - q) Delta_j)^power / (q g_i + (1 - q) g_j)`` least.
    """

    _: KW_ONLY
    samples: int = 100
    power: float = 1.25
    floor: float = 0.1

    proven = True

    def check(self, problem: Problem) -> None:
        checks.integer("samples", self.samples, low=1)
        checks.real("power", self.power, low=1.0, low_open=True)
        checks.real("floor", self.floor, low=0.0, high=1.0)
        if problem.parts is not None:
            rule = "list every agent and link for InformationRatio"
            raise checks.input_error("problem", rule, "a network in shards")

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        from gbb.policies._compiled import compile_index  # noqa: PLC0415  (which knows this class)
        from gbb.policies._game import choose  # noqa: PLC0415  (loads numba)

        # A subclass that gets here has not another choice, and only the class itself is compiled.
        plain = InformationRatio(samples=self.samples, power=self.power, floor=self.floor)
        compiled = compile_index(plain, search, posterior)
        if compiled is None:
            rule = "be a CutSearch or a LocalSearch for InformationRatio"
            raise checks.input_error("search", rule, type(search).__name__)
        return choose(compiled, posterior, rng)
