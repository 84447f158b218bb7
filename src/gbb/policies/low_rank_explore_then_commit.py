"""Explore by a design, then commit by an estimate that knows the rank of M*."""

from __future__ import annotations

from typing import Any

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.learning.low_pop_art import LowPopArt
from gbb.learning.low_rank import LowRank
from gbb.learning.record import AnyRecord, Record
from gbb.policies.explore_then_commit import ExploreThenCommit
from gbb.problem import Problem

ESTIMATES: dict[str, type[LowRank] | type[LowPopArt]] = {
    "low_rank": LowRank,
    "low_pop_art": LowPopArt,
}


class LowRankExploreThenCommit(ExploreThenCommit):
    """Explores by the G-optimal design, then plays the best couple of a low-rank estimate for good.

    As :class:`~gbb.policies.ExploreThenCommit`, with two differences: the estimate is
    :class:`gbb.learning.low_rank.LowRank`, and the couple is the one that pays most over the whole cut,
    ``argmax <m12 z_xx' + m21 z_x'x + m1 z_xx + m2 z_x'x', theta_hat>``. A matrix of rank r has about
    2 d r unknowns instead of d^2, so that far fewer exploring rounds are enough when r is small beside
    d. It has no theorem; a rank below that of M* makes an error that no number of rounds removes. It
    needs the rewards of both directions: of the sum of both, the rank is up to 2 r.

    Parameters
    ----------
    problem, cut, horizon, exploration, lam, name
        As for :class:`~gbb.policies.ExploreThenCommit`.
    rank
        The rank of M*, from 1 to d; with d the estimate is that of :class:`gbb.Ridge`.
    estimate
        "low_rank", the least squares over matrices of that rank, or "low_pop_art", the ridge estimate
        with its other singular values cut off (:class:`gbb.learning.low_pop_art.LowPopArt`). Both have
        a bound on their error in the operator norm; the first errs less where there are few rounds.

    References
    ----------
    Jun, Willett, Wright and Nowak (2019), "Bilinear bandits with low-rank structure"; Jang, Zhang and
    Jun (2024) for LowPopArt.
    """

    compiled = True  # its commit step is what the loop asks for
    learns_from_links = False
    learns_scales = False  # one of its estimates takes sigma

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut,
        rank: int = 1,
        estimate: str = "low_rank",
        horizon: int | None = None,
        exploration: int | None = None,
        lam: float = 1.0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            problem, cut=cut, horizon=horizon, exploration=exploration, lam=lam, name=name
        )
        self.rank = checks.integer("rank", rank, low=1, high=problem.d)
        self.estimate = checks.choice("estimate", estimate, tuple(ESTIMATES))

    def couple_values(self, record: AnyRecord) -> FloatArray:
        X, tables = self.problem.arms, Record(*record.tables) if record.tables else None
        assert tables is not None
        M_hat = ESTIMATES[self.estimate](self.problem, tables, self.rank, self.lam).M_hat
        return self.cut.couple_values(X @ M_hat @ X.T)

    def settings(self) -> dict[str, Any]:
        given = super().settings()
        del given["commit"]
        return {**given, "rank": self.rank, "estimate": self.estimate}
