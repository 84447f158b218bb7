"""Optimism over whole allocations, started from the paper's couple."""

from __future__ import annotations

from gbb._support import checks
from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.policies._index import STARTS, IndexPolicy
from gbb.problem import Problem


class JointOFUL(IndexPolicy):
    """The paper's couple over the cut, improved agent by agent on the optimistic objective.

    Starts each round from the couple of :class:`~gbb.policies.ImprovedOFUL` and climbs

        ``sum over E of <z, theta_hat> + radius || sum over E of z ||_{A^-1}``

    by local search over all allocations, and from a few more couples too. The value reached is never
    below the couple's, which is all that the proof of Theorem 4.1 asks of the allocation that is
    played: no regret against alpha_2 times the optimum, and rewards beyond what two arms can earn.

    Parameters
    ----------
    problem, cut, lam, delta, name
        As for :class:`~gbb.policies.IndexPolicy`.
    radius
        ``symmetric``, the default where it is valid, with a smaller charge for the regulariser's bias
        (see the notes); ``complete``, the same in all dimensions and the default where the two
        directions of a link differ or rewards come in sums; ``paper``, ``released`` or a function as for
        :class:`~gbb.policies.ImprovedOFUL`.
    starts
        From how many couples, the best with different arms, local search starts; at least 1.

    Notes
    -----
    The error of ``theta_hat`` is ``A^-1 sum z noise - lam A^-1 theta*``. The symmetric
    radius bounds the second part, along the sum phi of an allocation's edge-arms, by ``sqrt(lam) S
    ||phi||_{A^-1}``; but ``|<phi, lam A^-1 theta*>|`` is at most ``lam S / sqrt(smallest eigenvalue
    of A_sym) ||phi||_{A^-1}``, which vanishes as every pair of arms gets played, and is what this
    policy charges. The confidence set still holds theta* with probability 1 - delta.

    References
    ----------
    Rizk, Colin, Thomas, Laraki and Chevaleyre (2022), Algorithm 3 and Theorem 4.1, for the couple.
    """

    guarantee = "alpha_2"

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        radius: str | Schedule = "default",
        starts: int = STARTS,
        lam: float = 1.0,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        starts = checks.integer("starts", starts, low=1)
        super().__init__(
            problem, cut=cut, radius=radius, starts=starts, lam=lam, delta=delta, name=name
        )
        self.shrinking = True
