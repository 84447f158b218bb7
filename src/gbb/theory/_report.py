"""All the numbers that the paper derives from an instance and a cut, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gbb._support import checks
from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.optimum import Optimum, solve
from gbb.problem import check_lam
from gbb.theory import _alphas, _bounds
from gbb.theory._products import Product, best_product


@dataclass(frozen=True, eq=False)
class Report:
    """The problem-dependent parameters of an instance and a cut, in the paper's notation.

    Attributes
    ----------
    environment, cut, optimum
        The instance, V1 and V2, and the best allocation.
    lam, delta
        Settings of the algorithms, for the regret bounds.
    gamma
        Smallest reward of an edge whose two agents play one arm, over the optimum's mean edge.
    best_couple, best_couple_over_cut
        ``(x*, x*')``, the best couple along one edge, and ``(x~*, x~*')``, that over the cut graph.
    Delta
        Reward of the best couple over the cut beyond that of the best couple along one edge.

    Notes
    -----
    If the optimum is not proven, gamma, epsilon and the alphas are computed from the best value found.
    A larger optimum lowers each of them, so they are then upper estimates. All are NaN unless the
    optimal reward is positive.
    """

    environment: Environment
    cut: Cut
    optimum: Optimum
    lam: float
    delta: float
    gamma: float
    best_couple: tuple[int, int]
    best_couple_over_cut: tuple[int, int]
    Delta: float

    @property
    def epsilon(self) -> float:
        """``Delta / optimal reward`` (Theorem 4.1)."""
        return self._share(self.Delta)

    @property
    def alpha_1(self) -> float:
        """``(1 + gamma) / 2``, or :attr:`alpha_1_sharp` if fewer than half of the edges are cut."""
        # The proof of Theorem 3.2 needs half of the edges in the cut.
        return _alphas.alpha_1(self.gamma) if self.cut.rho >= 0.5 else self.alpha_1_sharp

    @property
    def alpha_1_sharp(self) -> float:
        """``rho + (1 - rho) gamma``."""
        return _alphas.alpha_1_sharp(self.gamma, self.cut)

    @property
    def alpha_2(self) -> float:
        """``1 - [(m1 + m2)/m (1 - gamma) - epsilon]``."""
        return _alphas.alpha_2(self.gamma, self.epsilon, self.cut)

    @cached_property
    def product(self) -> Product:
        """The best product distribution over the cut that was found."""
        return best_product(self.environment, self.cut)

    @property
    def alpha_3(self) -> float:
        """Reward of the best product distribution over the optimum, never below alpha_2.

        A lower bound on it if ``product.proven`` is False.
        """
        return self._share(self.product.value)

    def _share(self, value: float) -> float:
        return value / self.optimum.value if self.optimum.value > 0 else float("nan")

    def regret_bound(self, T: int) -> float:
        """Return the bound of Theorems 3.2 and 4.1 on the alpha-regret after T rounds.

        The constant is the larger one if some expected reward is negative.
        """
        return _bounds.regret_bound(self.environment.problem, T, **self._settings)

    def regret_bound_sharp(self, T: int, *, radius: str = "paper") -> float:
        """Return the sharper bound on the same regret, for policies with this radius."""
        problem = self.environment.problem
        return _bounds.regret_bound_sharp(problem, T, radius=radius, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        non_negative = bool(self.environment.reward_table.min() >= 0.0)
        return {"lam": self.lam, "delta": self.delta, "non_negative": non_negative}

    @property
    def assumptions(self) -> list[_alphas.Assumption]:
        """Each assumption of the paper, with its value and limit."""
        return _alphas.check_assumptions(self.environment)


def report(
    env: Environment,
    *,
    cut: Cut,
    optimum: Optimum | None = None,
    lam: float = 1.0,
    delta: float = 1e-3,
) -> Report:
    """Return all the numbers that the paper derives from an instance.

    Parameters
    ----------
    env
        The instance, with its hidden matrix.
    cut
        The parts V1 and V2.
    optimum
        The best allocation; found by :func:`gbb.optimum.solve` by default.
    lam, delta
        Settings of the algorithms, for the regret bounds.
    """
    _alphas.check_covered(env, cut)
    lam = check_lam(lam)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    best = solve(env.problem, env.M_star) if optimum is None else optimum
    gamma, gain = _alphas.gamma(env, best), _alphas.couple_gain(env, cut)
    return Report(env, cut, best, lam, delta, gamma, *gain)


def guaranteed_alpha(
    env: Environment,
    guarantee: str | None,
    *,
    cut: Cut | None,
    optimum: Optimum,
    share: float = 1.0,
) -> float:
    """Return the alpha that a policy's theorem guarantees on this instance; 1 if there is none.

    Parameters
    ----------
    env, optimum
        As for :func:`report`.
    guarantee
        Name of an alpha in the report: a policy's :attr:`gbb.policies.Policy.guarantee`.
    cut
        As for :func:`report`. Each grouping of k parts in two has its alpha; the largest is taken.
    share
        A policy's :attr:`gbb.policies.Policy.guaranteed_share` beta: the result is
        ``alpha - (1 - beta) |alpha|``, which is ``beta alpha`` unless alpha is negative.

    Notes
    -----
    The theorems' regret bounds assume expected rewards >= 0; :func:`regret_bound` has the constant for
    others.
    """
    if guarantee is None or cut is None or not env.problem.has_one_matrix:
        return 1.0
    # A policy over k parts is at least as good as it is over any two groups of them.
    reports = (report(env, cut=two, optimum=optimum) for two in cut.groupings())
    alpha = max(float(getattr(two_part, guarantee)) for two_part in reports)
    return alpha - (1.0 - share) * abs(alpha)
