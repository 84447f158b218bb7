"""Estimates of runs side by side, in the form of arithmetic that suits the arms."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gbb._kernels.abreast.orthogonal import play_orthogonal_abreast
from gbb._kernels.abreast.orthogonal_alone import Tables, play_orthogonal_alone
from gbb._kernels.abreast.pairs import Pairs, play_pairs_abreast
from gbb._kernels.abreast.pairs_alone import Board, play_pairs_alone
from gbb._kernels.abreast.runs import Couples, Runs, Stretch
from gbb._kernels.lanes import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.problem import Problem


class Form(ABC):
    """What is known of the pairs in every lane, and the loop that plays with it.

    Attributes
    ----------
    paid
        Sum of the rewards of every pair (regimes x pairs x lanes).
    """

    paid: FloatArray

    def __init__(self, problem: Problem, couples: Couples, runs: Runs, lam: float) -> None:
        self.couples, self.runs, self.lam = couples, runs, lam
        self.lanes = runs.total.size
        self.regimes, self.pairs = len(couples.pays), problem.K * (problem.K + 1) // 2

    @abstractmethod
    def play(self, stretch: Stretch, begin: int) -> int:
        """Play the rounds from number ``begin`` on; returns how many of all have been played."""


class Orthogonal(Form):
    """Precision, sum of rewards, mean and variance of every pair, which do not interact."""

    def __init__(self, problem: Problem, couples: Couples, runs: Runs, lam: float) -> None:
        super().__init__(problem, couples, runs, lam)
        G, K = self.regimes, problem.K
        prior = priors(problem, lam)
        state = aligned_zeros(G, self.pairs, 4, self.lanes)
        state[:, :, 0], state[:, :, 3] = prior[:, None], 1.0 / prior[:, None]
        self.paid, self._state = state[:, :, 1], state.reshape(G, -1)
        self._tables = None
        if self.lanes == 1:
            width = padded(K)
            mean, variance, middle, deviation = aligned_zeros(4, G, K, width)
            self._tables = Tables(
                mean=mean,
                variance=variance,
                own_mean=aligned_zeros(G, width),
                own_variance=aligned_zeros(G, width),
                middle=middle,
                deviation=deviation,
                values=aligned_zeros(K * width),
                bar=bar_couples(couples, width),
                numbers=np.add.outer(K * np.arange(K), np.arange(width)).ravel(),
            )

    def play(self, stretch: Stretch, begin: int) -> int:
        """Each round in O(K^2)."""
        given = self.couples, self.runs, self._state
        if self._tables is None:
            return play_orthogonal_abreast(*given, stretch, begin)
        return play_orthogonal_alone(*given, self._tables, stretch, begin)


class Covariance(Form):
    """Means of the pairs and their covariance, factorised afresh now and then."""

    def __init__(self, problem: Problem, couples: Couples, runs: Runs, lam: float) -> None:
        super().__init__(problem, couples, runs, lam)
        G, K, S, lanes = self.regimes, problem.K, self.pairs, self.lanes
        i, j = np.triu_indices(K)
        s, r = np.sort(np.indices((S, S)), axis=0)[::-1]
        width = padded(S)
        entry = s * (s + 1) // 2 + r if lanes > 1 else s * width + r
        across, one, two = couples.steps.T.astype(np.int64)
        spots = np.zeros((6, padded(K * K)), dtype=np.int64)
        steps = np.zeros((3, padded(K * K)), dtype=np.int64)
        steps[:, : K * K] = across, one, two
        pairs = ((across, across), (one, one), (two, two), (across, one), (across, two), (one, two))
        for k, (first, second) in enumerate(pairs):
            spots[k, : K * K] = lanes * entry[first, second]
        length = S * lanes if lanes > 1 else width
        self.paid = aligned_zeros(G, S, lanes)
        self._pairs = Pairs(
            mu=aligned_zeros(G, length),
            paid=self.paid.reshape(G, -1),
            H=aligned_zeros(G, padded(lanes * (int(entry.max()) + 1) + WIDTH)),
            base=aligned_zeros(G, length),
            log_det=np.zeros((G, lanes)),
            growth=np.ones((G, lanes)),
            entry=entry.astype(np.uint64),
            spots=spots,
            features=symmetric_edge_arms(problem.arms)[i * K + j],
            lam=lam,
            columns=aligned_zeros(3, length),
            small=aligned_zeros(20 * WIDTH),
        )
        self._board = None
        if lanes == 1:
            bar = aligned_zeros(padded(K * K))
            bar[: K * K], bar[K * K :] = bar_couples(couples, K).ravel(), -np.inf
            self._board = Board(aligned_zeros(bar.size), bar, np.arange(bar.size), steps)

    def play(self, stretch: Stretch, begin: int) -> int:
        """Each round in O(K^4)."""
        given = self.couples, self.runs, self._pairs
        if self._board is None:
            return play_pairs_abreast(*given, stretch, begin)
        return play_pairs_alone(*given, self._board, stretch, begin)


def priors(problem: Problem, lam: float) -> FloatArray:
    """The precision of every pair of orthogonal arms before the first round; infinite for norm 0."""
    i, j = np.triu_indices(problem.K)
    size2 = np.sum(problem.arms**2, axis=1)
    with np.errstate(divide="ignore"):
        prior: FloatArray = lam / (size2[i] * size2[j] * np.where(i == j, 1.0, 0.5))
    return prior


def bar_couples(couples: Couples, width: int) -> FloatArray:
    """0, or minus infinity where there is no couple or its mirror image is looked at instead."""
    K = len(couples.pair)
    bar = aligned_zeros(K, width)
    bar[:, K:] = -np.inf
    if couples.mirrored:
        bar[np.tril_indices(K, -1)] = -np.inf
    return bar


ABREAST: dict[str, type[Form]] = {"orthogonal": Orthogonal, "pairs": Covariance}
"""The forms in which runs are played side by side, by name."""
