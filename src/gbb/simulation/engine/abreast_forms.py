"""Estimates of runs side by side, in the form of arithmetic that suits the arms."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gbb._kernels.abreast.covariance import Pairs
from gbb._kernels.abreast.orthogonal_alone import Tables, play_orthogonal_alone
from gbb._kernels.abreast.pairs_alone import Sheet, play_pairs_alone
from gbb._kernels.abreast.pick_alone import Board
from gbb._kernels.abreast.play import play_orthogonal_abreast, play_pairs_abreast
from gbb._kernels.abreast.runs import Couples, Runs, Stretch
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
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
            places = np.add.outer(width * np.arange(K), np.arange(K))
            bar, board = make_board(couples, places, K * width)
            self._tables = Tables(
                mean=mean,
                variance=variance,
                own_mean=aligned_zeros(G, width),
                own_variance=aligned_zeros(G, width),
                middle=middle,
                deviation=deviation,
                bar=bar.reshape(K, width),
                board=board,
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
        s, r = np.sort(np.indices((S, S)), axis=0)[::-1]
        width = padded(S)
        entry = s * (s + 1) // 2 + r if lanes > 1 else s * width + r
        rows = S * (S + 1) // 2 if lanes > 1 else (S + S % 2) * width
        length = S * lanes if lanes > 1 else width
        self.paid = aligned_zeros(G, S, lanes)
        self._pairs = Pairs(
            mu=aligned_zeros(G, length),
            paid=self.paid.reshape(G, -1),
            H=aligned_zeros(G, padded(lanes * rows)),
            base=aligned_zeros(G, length),
            log_det=np.zeros((G, lanes)),
            growth=np.ones((G, lanes)),
            entry=entry.astype(np.uint64),
            spots=lanes * spots_of(couples, entry),
            features=symmetric_edge_arms(problem.arms)[pair_arms(K) @ (K, 1)],
            lam=lam,
            columns=aligned_zeros(3, length),
            small=aligned_zeros(12 * WIDTH),
        )
        self._sheet = make_sheet(couples, entry, G) if lanes == 1 else None

    def play(self, stretch: Stretch, begin: int) -> int:
        """Each round in O(K^4)."""
        given = self.couples, self.runs, self._pairs
        if self._sheet is None:
            return play_pairs_abreast(*given, stretch, begin)
        return play_pairs_alone(*given, self._sheet, stretch, begin)


def priors(problem: Problem, lam: float) -> FloatArray:
    """The precision of every pair of orthogonal arms before the first round; infinite for norm 0."""
    i, j = np.triu_indices(problem.K)
    size2 = np.sum(problem.arms**2, axis=1)
    with np.errstate(divide="ignore"):
        prior: FloatArray = lam / (size2[i] * size2[j] * np.where(i == j, 1.0, 0.5))
    return prior


def make_board(couples: Couples, places: IntArray, size: int) -> tuple[FloatArray, Board]:
    """A board of ``size`` places, of which the couple (a, b) has ``places[a, b]``; mirror images share.

    Returns
    -------
    tuple
        What is added to the means, minus infinity where there is no couple and else 0, and the board.
    """
    K = len(couples.pair)
    if couples.mirrored:
        a, b = np.indices((K, K))
        places = places[np.minimum(a, b), np.maximum(a, b)]
    bar, numbers = aligned_zeros(size), np.zeros(size, dtype=np.int64)
    taken, first = np.unique(places, return_index=True)
    bar[:] = -np.inf
    bar[taken], numbers[taken] = 0.0, first
    return bar, Board(aligned_zeros(size), numbers, places.ravel())


def make_sheet(couples: Couples, entry: IntArray, regimes: int) -> Sheet:
    """What one run has beside its pairs, whose entries of H are at the places ``entry``."""
    K, S = len(couples.pair), len(entry)
    width, p = padded(S), pair_arms(K) @ (K, 1)
    own, cross = np.zeros((2, width), dtype=np.int64), np.zeros((3, width), dtype=np.int64)
    own[:, :S], cross[:, :S] = couples.steps[p, 1:].T, spots_of(couples, entry)[3:, p]
    one = np.diag(couples.pair)
    w, w1, w2 = couples.w, couples.w1, couples.w2
    weights, alone = aligned_zeros(9, width), w + w1 + w2
    counts = w, w1, w2, w * w, w1 * w1, w2 * w2, 2.0 * w * w1, 2.0 * w * w2, 2.0 * w1 * w2
    weights[:, :S] = np.array(counts)[:, None]
    weights[:, one] = 0.0
    weights[0, one], weights[3, one] = alone, alone * alone
    places = couples.pair + np.where(np.tri(K, k=-1, dtype=bool), width, 0)
    every = np.full((S, width), entry[-1, -1] + 1, dtype=np.int32)  # a padded place, always 0
    every[:, :S] = entry
    bar, board = make_board(couples, places, width if couples.mirrored else 2 * width)
    return Sheet(
        board=board,
        bar=bar,
        diagonal=aligned_zeros(regimes, width),
        gains=aligned_zeros(3, width),
        weights=weights,
        own=own,
        cross=cross,
        entry=every,
    )


def spots_of(couples: Couples, entry: IntArray) -> IntArray:
    """See :class:`Pairs`."""
    across, one, two = couples.steps.T.astype(np.int64)
    pairs = (across, across), (one, one), (two, two), (across, one), (across, two), (one, two)
    return np.stack([entry[each] for each in pairs])


def pair_arms(K: int) -> IntArray:
    """The two arms of every pair (pairs x 2)."""
    return np.stack(np.triu_indices(K), axis=1)


ABREAST: dict[str, type[Form]] = {"orthogonal": Orthogonal, "pairs": Covariance}
"""The forms in which runs are played side by side, by name."""
