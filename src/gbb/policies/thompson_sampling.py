"""Thompson sampling: play what would be best for a matrix drawn from the posterior."""

from __future__ import annotations

from gbb.cuts import Cut, KCut
from gbb.policies._index import STARTS, IndexPolicy
from gbb.problem import Problem


class ThompsonSampling(IndexPolicy):
    """Draws a matrix from the posterior and plays the best allocation it finds for it.

    Under the prior ``theta ~ N(0, v^2 / lam I)`` and noise N(0, v^2) the posterior is
    ``N(theta_hat, v^2 A^-1)``. Only its symmetric block, of dimension d (d + 1) / 2, bears on an
    allocation's reward, so only that is drawn. Then the best couple over the cut for the draw is
    improved by local search.

    Parameters
    ----------
    problem, cut, starts, name
        As for :class:`~gbb.policies.IndexPolicy`.
    lam
        The ridge regulariser lambda, > 0: the noise's variance over the prior's. When left out,
        ``(v d / S)^2``, a prior as wide as the entries S / d of a matrix of norm S, but at most 1 and
        at least ``(1e-6 L)^2``.
    v
        Scale of the posterior; the noise level ``sigma`` when left out, but at least ``1e-6 L S / d``:
        without noise, too, what is unknown is drawn as widely as the prior says. A smaller one that
        is given narrows the prior with it, down to none at 0. Frequentist proofs ask for a scale of the
        order of the confidence radius, which plays worse.

    Notes
    -----
    Where nobody knows ``sigma`` and ``S``, those that are expected from the record
    (:func:`gbb.learning.scales.estimate_scales`) give v and lam: the prior is that of empirical Bayes.

    References
    ----------
    Agrawal and Goyal (2013), "Thompson sampling for contextual bandits with linear payoffs"; Russo and
    Van Roy (2014), "Learning to optimize via posterior sampling".
    """

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        v: float | None = None,
        starts: int = STARTS,
        lam: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, cut=cut, lam=lam, v=v, starts=starts, name=name)
