"""Thompson sampling: play what is best for a matrix drawn from the posterior."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from gbb.learning.record import BERNOULLI_SIGMA, bernoulli_weights
from gbb.policies._index import EpsilonRandom, Index, PosteriorSample
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._learner import RidgeLearner
from gbb.policies._search import STARTS, Search, local_search


class ThompsonSampling(IndexPolicy):
    """The best allocation that local search finds for a draw from the posterior.

    Under the prior ``theta ~ N(0, v^2 / lam I)`` and noise N(0, v^2) the posterior is
    ``N(theta_hat, v^2 A^-1)``. Only its symmetric block, of dimension d (d + 1) / 2, bears on an
    allocation's reward, so only that is drawn.

    Parameters
    ----------
    problem, cut
        As for :class:`JointOFUL`.
    v
        The scale of the posterior; sigma by default, and at least ``1e-6 L S / d``: without noise, too,
        what is unknown is drawn as widely as the prior says. A smaller one narrows the prior with it.
    starts
        The number of tuples that local search starts from; 0 to play the best tuple as it is.
    lam
        The ridge regulariser, the noise's variance over the prior's; ``(v d / S)^2`` by default, between
        ``(1e-6 L)^2`` and 1: a prior as wide as the entries S / d of a matrix of norm S.

    Notes
    -----
    If sigma or S is unknown, v and lam follow from their estimates (empirical Bayes,
    :func:`gbb.learning.scales.estimate_scales`). Frequentist proofs ask for a v of the order of the
    confidence radius, which plays worse.

    References
    ----------
    Agrawal and Goyal (2013), "Thompson sampling for contextual bandits with linear payoffs"; Russo and
    Van Roy (2014), "Learning to optimize via posterior sampling".
    """

    v: float | None = None
    starts: int = STARTS
    lam: float | None = None

    @property
    def learner(self) -> RidgeLearner:
        return RidgeLearner(lam=self.lam, v=self.v)

    @property
    def index(self) -> Index:
        return PosteriorSample()

    @cached_property
    def search(self) -> Search:
        return local_search(self.cut, self.starts)


class BernoulliThompson(ThompsonSampling):
    """:class:`ThompsonSampling` for rewards of 0 or 1, weighted by their estimated variance.

    A 1 with probability p has variance ``p (1 - p)``, far less than 1/4 if p is near 0 or 1
    (:func:`gbb.learning.record.bernoulli_weights`). Declare ``sigma`` as 1/2, or not at all: every such
    reward is 1/2-sub-Gaussian.
    """

    requires = "is_paper_problem"

    @property
    def learner(self) -> RidgeLearner:
        return replace(super().learner, reweight=bernoulli_weights, sigma=BERNOULLI_SIGMA)


class EpsilonGreedy(IndexPolicy):
    """The best estimated allocation that local search finds, or now and then a random one.

    Its regret grows linearly, at the rate of ``epsilon`` times what a random allocation loses; the
    simplest baseline that learns.

    Parameters
    ----------
    problem, cut, starts
        As for :class:`ThompsonSampling`.
    epsilon
        The probability of a random round.
    lam
        The ridge regulariser lambda, > 0.
    """

    epsilon: float = 0.05
    starts: int = STARTS
    lam: float = 1.0

    @property
    def learner(self) -> RidgeLearner:
        return RidgeLearner(lam=self.lam)  # v = 0: PosteriorSample takes the mean

    @property
    def index(self) -> Index:
        return EpsilonRandom(PosteriorSample(), self.epsilon)

    @cached_property
    def search(self) -> Search:
        return local_search(self.cut, self.starts)
