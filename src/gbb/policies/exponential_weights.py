"""Exponential weights over couples, for rewards that an adversary chooses."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.learning.design import g_optimal
from gbb.learning.record import observe
from gbb.policies._policy import DERIVED, Choice, Policy
from gbb.policies.baselines import draw_arms


class Weighted(NamedTuple):
    """State: how many rounds were seen, and the sum of the estimates of their matrices."""

    rounds: int
    total: FloatArray


class ExponentialWeights(Policy[Weighted]):
    """Draws a couple with probability growing exponentially in what it would have earned.

    In round t couple p has probability ``pi_p = (1 - gamma_t) w_p / sum w + gamma_t mu_p`` with
    ``w_p = exp(eta_t <v_p, sum over s < t of theta_s>)``; ``v_p`` counts the edge-arms that p plays over
    the cut, and ``mu`` draws both arms from the G-optimal design. The estimate of round s,

        ``theta_s = Q_s^-1 sum over E of z y``,  ``Q_s = E[sum over E of z z']``  under ``pi``,

    has no bias, whatever the matrices of the other rounds; of a reward per link, each direction counts
    for half. With ``h`` the largest ``z' Q_mu^-1 z``,
    ``gamma_t = sqrt(m h log(K^2) / (2 t))`` and ``eta_t = gamma_t / (B m^2 h)``, so that no exponent
    moves by more than 1 a round as long as no edge earns more than B in size, noise included, and the
    regret against the best fixed couple is of order ``m B d sqrt(T log K)``. B is ``L S`` unless given,
    which holds without noise only: for noise that has no bound there is no such promise.

    Parameters
    ----------
    problem
        What the learner knows; S bounds the matrices of all rounds.
    cut
        The parts V1 and V2.
    bound
        B, what no edge earns more than in size, noise included, > 0; ``L S`` when left out.
    rate
        Multiplies ``eta``; above 1, exponents may move further than the proof allows.

    Notes
    -----
    No controller runs it: late or missing rewards would bias its estimates.

    References
    ----------
    Bubeck, Cesa-Bianchi and Kakade (2012), "Towards minimax policies for online linear optimization
    with bandit feedback"; Rizk, Thomas, Colin, Laraki and Chevaleyre (2021) for the design.
    """

    cut: Cut = DERIVED
    bound: float = DERIVED
    rate: float = 1.0

    requires = "has_one_matrix"

    def __post_init__(self) -> None:
        super().__post_init__()
        # L S may be 0; a given bound may not.
        if self.bound is DERIVED:
            self._set("bound", self.problem.L * self.problem.S)
        else:
            checks.real("bound", self.bound, low=0.0, low_open=True)
        checks.real("rate", self.rate, low=0.0, low_open=True)

    @cached_property
    def mixture(self) -> FloatArray:
        """mu: the probability of each couple whose arms are drawn from the G-optimal design (K^2)."""
        arms = g_optimal(self.problem.arms).weights
        return np.outer(arms, arms).ravel()

    @cached_property
    def h(self) -> float:
        """The largest ``z' Q_mu^-1 z``."""
        inverse = self._inverse(self.mixture)
        return float(np.einsum("si,ij,sj->s", self._pairs, inverse, self._pairs).max())

    @cached_property
    def _pairs(self) -> FloatArray:
        """The mean edge-arms ``(z_ab + z_ba) / 2`` in the symmetric block (K^2 x D)."""
        return symmetric_edge_arms(self.problem.arms)

    @cached_property
    def _counts(self) -> FloatArray:
        """How many directed edges couple p plays with each edge-arm (K^2 x K^2)."""
        K = self.problem.K
        single = np.eye(K * K).reshape(K, K, K * K)
        return self.cut.couple_values(single).reshape(K * K, K * K)

    def _inverse(self, probabilities: FloatArray) -> FloatArray:
        """Return ``Q^-1`` on the span of the edge-arms."""
        weights = probabilities @ self._counts
        Q = (self._pairs * weights[:, None]).T @ self._pairs
        return np.asarray(np.linalg.pinv(Q, hermitian=True), dtype=np.float64)

    def probabilities(self, state: Weighted) -> FloatArray:
        """Return the probability of each couple in the next round (K^2)."""
        m, t, K = self.problem.m, state.rounds + 1, self.problem.K
        # Q >= gamma_t Q_mu, so |<v_p, theta_s>| <= m^2 B h / gamma_t: eta_t moves no exponent beyond 1.
        gamma = min(0.5, float(np.sqrt(m * self.h * np.log(K * K) / (2.0 * t))))
        scale = self.bound * m * m * self.h
        gains = self._counts @ (self._pairs @ state.total)
        exponents = self.rate * gamma / scale * gains
        weights = np.exp(exponents - exponents.max())  # the largest is 1: nothing overflows
        mixed: FloatArray = (1.0 - gamma) * weights / weights.sum() + gamma * self.mixture
        return mixed

    def init(self) -> Weighted:
        return Weighted(0, np.zeros(self._pairs.shape[1]))

    def select(self, state: Weighted, rng: np.random.Generator) -> Choice:
        couple = divmod(int(draw_arms(self.probabilities(state), 1, rng)[0]), self.problem.K)
        return Choice(self.cut.allocation(couple), couple)

    def update(self, state: Weighted, choice: Choice, rewards: FloatArray) -> Weighted:
        rewards = self.problem.rewards(rewards)
        tables = observe(self.problem, choice.allocation, rewards).tables
        assert tables is not None
        sums = tables[1].ravel() / self.problem.ways  # of each direction
        estimate = self._inverse(self.probabilities(state)) @ (sums @ self._pairs)
        return Weighted(state.rounds + 1, state.total + estimate)
