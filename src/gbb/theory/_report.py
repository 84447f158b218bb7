"""One call for all the numbers the paper derives from an instance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gbb._support import checks
from gbb.cuts import Cut, KCut, check_cut
from gbb.environment import Environment
from gbb.optimum import Optimum, solve
from gbb.problem import Problem, check_lam
from gbb.theory._assumptions import Assumption, check_assumptions
from gbb.theory._bounds import regret_bound, regret_bound_sharp
from gbb.theory._parameters import alpha_1, alpha_1_sharp, alpha_2, couple_gain, gamma
from gbb.theory._products import Product, best_product


@dataclass(frozen=True, eq=False)
class Report:
    """The problem-dependent parameters of an instance and a cut, in the paper's notation.

    When the optimum is not proven, gamma, epsilon and the alphas are computed from the best value
    known; since a larger optimum lowers gamma and epsilon, they are then upper estimates. So is alpha_3.

    ``alpha_1`` is ``(1 + gamma) / 2`` where at least half of the edges are cut, as the theorem needs,
    and ``alpha_1_sharp`` where fewer are.
    """

    environment: Environment
    cut: Cut
    optimum: Optimum
    lam: float
    delta: float
    gamma: float
    Delta: float
    epsilon: float
    alpha_1: float
    alpha_1_sharp: float
    alpha_2: float
    best_couple: tuple[int, int]
    best_couple_over_cut: tuple[int, int]

    @cached_property
    def product(self) -> Product:
        """The best product distribution over the cut that was found."""
        return best_product(self.environment, self.cut)

    @property
    def alpha_3(self) -> float:
        """What the best product distribution pays, over the optimum; never below alpha_2.

        A lower bound of it where ``product.proven`` is False.
        """
        best = self.optimum.value
        return self.product.value / best if best > 0 else float("nan")

    def regret_bound(self, T: int) -> float:
        """The bound of Theorems 3.2 and 4.1 on the alpha-regret after T rounds.

        With the larger constant where some expected reward is negative.
        """
        return regret_bound(self.environment.problem, T, **self._settings)

    def regret_bound_sharp(self, T: int, *, radius: str = "paper") -> float:
        """The sharper bound on the same, for policies with this radius."""
        return regret_bound_sharp(self.environment.problem, T, radius=radius, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        positive = bool(self.environment.reward_table.min() >= 0.0)
        return {"lam": self.lam, "delta": self.delta, "non_negative": positive}

    @property
    def assumptions(self) -> list[Assumption]:
        """Each assumption of the paper with its numbers."""
        return check_assumptions(self.environment)


def report(
    env: Environment,
    *,
    cut: Cut,
    optimum: Optimum | None = None,
    lam: float = 1.0,
    delta: float = 1e-3,
) -> Report:
    """All the numbers the paper derives from an instance.

    Parameters
    ----------
    env
        The instance, with its hidden matrix.
    cut
        The parts V1 and V2.
    optimum
        The best allocation, when it is known already.
    lam, delta
        Settings of the algorithms, for the regret bound.
    """
    if not is_covered(env.problem):
        rule = "be of the paper's problem: one matrix, rewards per edge or link, every arm allowed"
        cure = "" if env.problem.contexts is None else "Take a round's: env.at(context)."
        raise checks.input_error("env", rule, repr(env.problem), cure)
    check_cut(env.problem.graph, cut)
    lam = check_lam(lam)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    best = solve(env.problem, env.M_star) if optimum is None else optimum
    ratio = gamma(env, best)
    gain = couple_gain(env, cut)
    epsilon = gain.Delta / best.value if best.value > 0 else float("nan")
    return Report(
        environment=env,
        cut=cut,
        optimum=best,
        lam=lam,
        delta=delta,
        gamma=ratio,
        Delta=gain.Delta,
        epsilon=epsilon,
        alpha_1=alpha_1(ratio) if cut.rho >= 0.5 else alpha_1_sharp(ratio, cut),
        alpha_1_sharp=alpha_1_sharp(ratio, cut),
        alpha_2=alpha_2(ratio, epsilon, cut),
        best_couple=gain.best_couple,
        best_couple_over_cut=gain.best_couple_over_cut,
    )


def guaranteed_alpha(
    env: Environment,
    guarantee: str | None,
    *,
    cut: Cut | KCut | None,
    optimum: Optimum,
    share: float = 1.0,
) -> float:
    """The alpha of a policy's theorem on this instance; 1 where it has none, or none that holds.

    The theorems' regret bounds are for expected rewards that are not negative; where some are,
    the constant is another (:func:`regret_bound`).

    Parameters
    ----------
    env, optimum
        As for :func:`report`.
    guarantee
        What :attr:`gbb.policies.Policy.guarantee` says: the name of an alpha in the report.
    cut
        As for :func:`report`. Of k parts every grouping in two has its alpha, and the largest is taken.
    share
        :attr:`gbb.policies.Policy.guaranteed_share`: with beta it is ``alpha - (1 - beta) |alpha|``, so
        ``beta alpha`` unless alpha is negative.
    """
    if guarantee is None or cut is None or not is_covered(env.problem):
        return 1.0
    cuts = [cut] if isinstance(cut, Cut) else cut.groupings()
    found = (getattr(report(env, cut=each, optimum=optimum), guarantee) for each in cuts)
    alpha = max(float(each) for each in found)
    return alpha - (1.0 - share) * abs(alpha)


def is_covered(problem: Problem) -> bool:
    """Whether the paper's theorems are about this problem.

    Their alphas are about what allocations pay, and optimism reaches them with any valid confidence
    set: that of rewards per link too, though not with the constants of :func:`regret_bound`.
    """
    return problem.pays_as_paper
