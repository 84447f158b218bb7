"""The estimate: ridge regression of the rewards on the edge-arms, one matrix per edge type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.learning import factor as plain_factor
from gbb.learning.coordinates import Coordinates, coordinates
from gbb.learning.record import AnyRecord, weigh
from gbb.problem import Problem, check_lam

EPS = float(np.finfo(np.float64).eps)

ROUNDINGS = 8.0
"""How many roundings a number goes through, for each parameter that it takes part in."""

ROUNDS_OWN = ("_in_play", "rounding", "smallest")
"""What an estimate says of the matrices in play alone."""


@dataclass(frozen=True, eq=False)
class Ridge:
    """Ridge regression on a record (equation 3 of the paper, type by type).

    ``A = lam I + sum q q'``, ``b = sum y q``, ``theta_hat = A^-1 b``. With rewards per edge the types
    share no parameter, and A is a block for each; otherwise it is one block of all of them.

    Parameters
    ----------
    problem
        What the learner knows.
    record
        What was seen.
    lam
        The ridge regulariser lambda, > 0.
    symmetric
        Estimate symmetric parts only, which decide where ``problem.symmetric`` (fact 2 of the design).
        Always so where these are all that can be learnt (``problem.halves_only``).

    Notes
    -----
    A block of A is ``P R'R P'`` with R triangular and P a permutation, from a QR factorisation of the
    rows ``sqrt(N) z'`` over ``sqrt(lam) I``, rows sorted by size and columns pivoted: the condition
    number is never squared, and arms of very different norms keep their accuracy. Of sums of edges
    only ``sum q q'`` is left. Scaled to a diagonal of about 1, so that what is light stays beside what
    is heavy, its eigenvectors stand for the rows, and eigenvalues below its own rounding count as 0:
    what cannot be told from nothing is left as uncertain as lam says. What rounding does to all the
    rest is a matter of :attr:`rounding` and :attr:`blur`.

    Everything is held whitened: ``f`` with ``<f, f'> = z'A^-1 z'`` and ``<f, centre> = z'theta_hat``.
    """

    problem: Problem
    record: AnyRecord
    lam: float = 1.0
    symmetric: bool = False

    def __post_init__(self) -> None:
        check_lam(self.lam)
        if self.symmetric and not self.problem.symmetric:
            rule = (
                "be False unless both directions of every link are alike, and links seen one by one"
            )
            raise checks.input_error("symmetric", rule, True)
        if self.problem.halves_only:  # in all dimensions the tables would claim to know the rest
            object.__setattr__(self, "symmetric", True)

    def at(self, problem: Problem) -> Ridge:
        """The same estimate for the problem of another round, with what was computed of it shared.

        A record is of all rounds, and so is all that is made of it but for what says which matrices are
        in play.
        """
        other = replace(self, problem=problem)
        # A copy: other threads may be at work on this estimate.
        kept = {name: each for name, each in vars(self).copy().items() if name not in vars(other)}
        if not np.array_equal(problem.in_play, self.problem.in_play):
            kept = {name: each for name, each in kept.items() if name not in ROUNDS_OWN}
        vars(other).update(kept)
        return other

    @cached_property
    def coordinates(self) -> Coordinates:
        """What the rewards of one type are linear in."""
        return coordinates(self.problem, symmetric=self.symmetric)

    @cached_property
    def _solver(self) -> ModuleType:
        """The file that factorises: compiled, but for networks in shards, which do without."""
        if self.problem.parts is not None:
            return plain_factor
        from gbb._kernels.learning import factor  # noqa: PLC0415  (loads numba)

        return factor

    @cached_property
    def _blocks(self) -> list[tuple[FloatArray, FloatArray, IntArray, FloatArray]]:
        """R, ``Q'y``, pivots and the whitened regressors of each block."""
        features, index = self.coordinates.features, self.coordinates.index
        if self.record.tables is not None:
            size = len(features)
            blocks = []
            for counts, paid in zip(*self.record.tables, strict=True):
                N, Y = (
                    np.bincount(index.ravel(), weights=each.ravel(), minlength=size)
                    for each in (counts, paid)
                )
                blocks.append(self._solver.factor(features, _doubles(N), _doubles(Y), self.lam))
            return blocks
        (e, V, scale), moment = self._spectrum, self.record.moment(self.problem)
        types, (rows, d2) = self.problem.types, features.shape
        own = np.zeros((types, rows, types, d2))
        own[np.arange(types), :, np.arange(types)] = features
        stacked = np.vstack([V.T * scale, own.reshape(types * rows, types * d2)])
        seen, none = self._seen, np.zeros(types * rows)
        R, centre, pivots, white = self._solver.factor(
            np.ascontiguousarray(stacked[:, seen]),
            np.concatenate([e, none]),
            np.concatenate([moment / scale @ V, none]),
            self.lam,
        )
        block = R, centre, pivots, white[len(e) :]
        return [block if len(seen) == len(e) else self._with_unseen(block, stacked[len(e) :])]

    @cached_property
    def _seen(self) -> IntArray:
        """The parameters of which anything was seen, or all where no matrix is out of play.

        Of a regime that never was nothing is known, not even by rounding: all its arms tie.
        """
        everything = np.arange(self.problem.parameters)
        if len(self.problem.in_play) == self.problem.types:
            return everything
        seen = np.flatnonzero(np.diag(self.record.gram(self.problem)))
        return seen if seen.size else everything

    def _with_unseen(
        self, block: tuple[FloatArray, FloatArray, IntArray, FloatArray], own: FloatArray
    ) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
        """A block of what was seen with the rest of the regressors ``own``, as lam has it."""
        R, centre, pivots, white = block
        unseen, root = np.setdiff1d(np.arange(own.shape[1]), self._seen), np.sqrt(self.lam)
        whole = root * np.eye(own.shape[1])
        whole[: len(centre), : len(centre)] = R
        return (
            whole,
            np.concatenate([centre, np.zeros(len(unseen))]),
            np.concatenate([self._seen[pivots], unseen]),
            np.hstack([white, own[:, unseen] / root]),
        )

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Eigenvalues of ``D^-1 sum q q' D^-1``, 0 where they cannot be told from it; vectors; D.

        D is diagonal and of powers of 2, which round nothing. An entry (i, j) of ``sum q q'`` is
        rounded by a share of its ``D_i D_j``, and so are all entries of this by a share of 1.
        """
        gram = self.record.gram(self.problem)
        sizes = np.sqrt(np.diag(gram))
        scale = np.exp2(np.rint(np.log2(np.where(sizes > 0.0, sizes, 1.0))))
        scaled, seen = gram / scale / scale[:, None], self._seen
        e, V = np.zeros(len(sizes)), np.eye(len(sizes))
        e[seen], V[np.ix_(seen, seen)] = np.linalg.eigh(scaled[np.ix_(seen, seen)])
        return np.where(e > len(e) * EPS * e.max(initial=0.0), e, 0.0), V, scale

    @cached_property
    def table(self) -> FloatArray:
        """The whitened ``z_ab`` of every type and edge-arm (types x K x K x size)."""
        white = np.concatenate([block[3] for block in self._blocks])
        each: FloatArray = white.reshape(self.problem.types, -1, white.shape[1])
        return np.ascontiguousarray(each[:, self.coordinates.index])

    @cached_property
    def solved(self) -> FloatArray:
        """``A^-1 z_ab`` of every type and edge-arm (types x K x K x size)."""
        solved = np.empty_like(self.table)
        for g, block in enumerate(self.block_of):
            R, _, pivots, _ = self._blocks[block]
            for a, b in np.ndindex(*self.table.shape[1:3]):
                solved[g, a, b] = self._solver.solve_upper(R, self.table[g, a, b], pivots)
        return solved

    @cached_property
    def centre(self) -> FloatArray:
        """The whitened ``b`` in blocks (blocks x size)."""
        return np.stack([block[1] for block in self._blocks])

    @cached_property
    def block_of(self) -> IntArray:
        """The block of each type."""
        several = len(self.centre) > 1
        return np.arange(self.problem.types) if several else np.zeros(self.problem.types, np.int64)

    @cached_property
    def _in_play(self) -> IntArray:
        """The blocks of the matrices in play."""
        return np.unique(self.block_of[self.problem.in_play])

    def draw(self, v: float, rng: np.random.Generator) -> FloatArray:
        """A ``centre`` for which theta is drawn from ``N(theta_hat, v^2 A^-1)``.

        theta is ``U^-1 (U theta_hat + v g)``, g standard normal and U the triangular factor of
        ``A = U'U`` with a positive diagonal. U is unique: the draw does not depend on how A was
        factorised.
        """
        g = np.zeros_like(self.centre)
        g[self._in_play] = rng.standard_normal((len(self._in_play), g.shape[1]))
        turned = [turn @ each for turn, each in zip(self._turns, g, strict=True)]
        drawn: FloatArray = self.centre + v * np.stack(turned)
        return drawn

    @cached_property
    def _turns(self) -> list[FloatArray]:
        """From coordinates in which a draw is unique to those of each block."""
        return [_turn(R, pivots) for R, _, pivots, _ in self._blocks]

    @property
    def factors(self) -> list[tuple[FloatArray, FloatArray]]:
        """U of each block, triangular with a positive diagonal and ``A = U'U``; and ``U theta_hat``."""
        found = []
        for (R, centre, pivots, _), turn in zip(self._blocks, self._turns, strict=True):
            straight = np.empty_like(R)
            straight[:, pivots] = R
            found.append((np.triu(turn.T @ straight), turn.T @ centre))
        return found

    @cached_property
    def means(self) -> FloatArray:
        """The estimated reward of every type and edge-arm (types x K x K)."""
        return self.means_at(self.centre)

    def means_at(self, centre: FloatArray) -> FloatArray:
        """The rewards of every type and edge-arm for the theta of ``centre`` (types x K x K)."""
        means = np.empty(self.table.shape[:-1])
        for g, block in enumerate(
            self.block_of
        ):  # a product of all at once would not fit the cache
            means[g] = (self.table[g] * centre[block]).sum(axis=-1)
        return means

    @cached_property
    def widths(self) -> FloatArray:
        """``||z_ab||_{A^-1}`` of every type and edge-arm (types x K x K)."""
        widths: FloatArray = np.linalg.norm(self.table, axis=-1)
        return widths

    @cached_property
    def shrunk(self) -> FloatArray:
        """``||A^-1 z_ab||`` of every type and edge-arm (types x K x K)."""
        shrunk: FloatArray = np.linalg.norm(self.solved, axis=-1)
        return shrunk

    def width(self, vectors: FloatArray) -> FloatArray:
        """``||v||_{A^-1}`` for every row v of ``vectors``: in all parameters, or in one type's.

        Rows in one type's d^2 parameters give a row of widths for each type, unless there is one type.
        With ``symmetric`` only symmetric parts count, of v too.
        """
        return self.spread(vectors)[0]

    def spread(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``||v||_{A^-1}`` and ``||A^-1 v||`` for every row v of ``vectors``, as for :meth:`width`."""
        problem, each = self.problem, self.problem.d**2
        vectors = checks.array("vectors", vectors, ndim=2, meaning="one vector per row")
        if vectors.shape[1] not in (each, problem.parameters):
            rule = f"have {each} columns, or {problem.parameters} for all types"
            raise checks.input_error("vectors", rule, vectors.shape[1])
        if vectors.shape[1] == problem.parameters:
            return self._spread(vectors.reshape(-1, problem.types, each))
        found = []
        for g in range(problem.types):
            rows = np.zeros((len(vectors), problem.types, each))
            rows[:, g] = vectors
            found.append(self._spread(rows))
        widths, shrunk = zip(*found, strict=True)
        return np.stack(widths), np.stack(shrunk)

    def _spread(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``||v||_{A^-1}`` and ``||A^-1 v||`` of vectors by type (count x types x d^2)."""
        inside, beyond = self.coordinates.of(vectors)
        blocks, left = len(self._blocks), np.linalg.norm(beyond, axis=1)
        widths, shrunk = [left / np.sqrt(self.lam)], [left / self.lam]  # as uncertain as lam says
        for place, (R, _, pivots, _) in enumerate(self._blocks):
            own = inside[:, place] if blocks > 1 else inside.reshape(len(inside), -1)
            white = self._solver.whiten(R, pivots, np.ascontiguousarray(own))
            widths.append(np.linalg.norm(white, axis=1))
            solved = [self._solver.solve_upper(R, row, pivots) for row in white]
            shrunk.append(np.linalg.norm(solved, axis=1))
        return np.linalg.norm(widths, axis=0), np.linalg.norm(shrunk, axis=0)

    @cached_property
    def A(self) -> FloatArray:
        """The regularised Gram matrix (parameters x parameters)."""
        return self.lam * np.eye(self.problem.parameters) + self.record.gram(self.problem)

    @cached_property
    def b(self) -> FloatArray:
        """The responses summed along what they are linear in (parameters)."""
        return self.record.moment(self.problem)

    @cached_property
    def theta_hat(self) -> FloatArray:
        """The estimate of ``theta* = vec(M*)``, type after type."""
        if self.symmetric or self.coordinates.diagonal:
            M = self.M_hats.transpose(0, 2, 1)  # vec stacks columns
            return checks.frozen(M.reshape(-1).copy())
        parts = [
            self._solver.solve_upper(R, centre, pivots) for R, centre, pivots, _ in self._blocks
        ]
        return checks.frozen(np.concatenate(parts))

    @cached_property
    def M_hats(self) -> FloatArray:
        """The estimated matrices (types x d x d); their symmetric parts with ``symmetric``."""
        problem, d = self.problem, self.problem.d
        if self.symmetric:
            solve = self._solver.solve_upper
            parts = [solve(R, centre, pivots) for R, centre, pivots, _ in self._blocks]
            return self.coordinates.matrices(np.stack(parts), d)
        if self.coordinates.diagonal:
            # For orthogonal arms M = sum over (a, b) of x_a x_b' <z_ab, theta_hat> / ||z_ab||^2.
            norms = np.sum(problem.arms**2, axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                dual = np.where(norms[:, None] > 0.0, problem.arms / norms[:, None], 0.0)
            M: FloatArray = dual.T @ self.means @ dual
            return M
        return self.theta_hat.reshape(problem.types, d, d).transpose(0, 2, 1)

    @property
    def M_hat(self) -> FloatArray:
        """The estimate of M* (d x d); with several types all of them (types x d x d)."""
        return self.M_hats[0] if self.problem.types == 1 else self.M_hats

    @cached_property
    def log_det(self) -> float:
        """``log det(A / lam)``."""
        diagonals = np.stack([np.abs(np.diag(block[0])) for block in self._blocks])
        return float(2.0 * np.log(diagonals).sum() - diagonals.size * np.log(self.lam))

    @cached_property
    def rounding(self) -> float:
        """What rounding adds to the radius of a confidence set, apart from that of long sums.

        Rewards are rounded when they are told, and QR is exact for rows that are off by their own
        rounding: a reward of ``q`` is then off by a share c eps of ``S ||q||``, and errors e_s move
        ``theta_hat`` by at most ``sqrt(sum e_s^2)`` in the A-norm. In ``sum q q'`` it is the sum that
        is rounded: ``D^-1 sum q q' D^-1`` by c eps of its trace, which is off by that share of ``||D
        theta||`` and tells most where least was seen.
        """
        problem, tables = self.problem, self.record.tables
        if tables is None:
            e, _, scale = self._spectrum
            largest = float(scale.max())
            least = self.lam / largest**2 + float(e[e > 0.0].min(initial=np.inf))
            return self._share * problem.norm * largest * float(e.sum() / np.sqrt(least))
        size2 = np.sum(problem.arms**2, axis=1)
        grown = float((tables[0] @ size2 @ size2).sum())
        return self._share * problem.norm * float(np.sqrt(grown))

    @property
    def blur(self) -> float:
        """How far rounding moves ``<v, theta>`` when it is computed, for each unit of ``||v||``."""
        return self._share * self.problem.S

    @property
    def _share(self) -> float:
        return ROUNDINGS * self.problem.parameters * EPS

    @cached_property
    def smallest(self) -> float:
        """The smallest eigenvalue of A on the span of the edge-arms in play, or a lower bound of it."""
        blocks = [self._blocks[place] for place in self._in_play]
        if self.coordinates.diagonal:
            used = np.diag(self.coordinates.features) > 0.0
            return min(
                float(np.abs(np.diag(R))[used[pivots]].min() ** 2) for R, _, pivots, _ in blocks
            )
        ends = (np.linalg.svd(R, compute_uv=False)[-1] for R, *_ in blocks)
        return max(self.lam, float(min(ends)) ** 2)

    def sums(self, allocation: IntArray, problem: Problem | None = None) -> FloatArray:
        """The whitened sum over the edges of an allocation, ``sum w f`` (blocks x size).

        In the round of ``problem``, where that is this one's at some context.
        """
        types, size = self.problem.types, self.centre.shape[1]
        played = weigh(problem or self.problem, allocation)[:, None, :]
        W = np.zeros_like(self.centre)
        np.add.at(W, self.block_of, (played @ self.table.reshape(types, -1, size))[:, 0])
        return W

    def total(self, allocation: IntArray) -> tuple[float, float]:
        """Estimated global reward of an allocation, and the width ``||sum w z||_{A^-1}`` of it."""
        W = self.sums(allocation)
        return float((W * self.centre).sum()), float(np.linalg.norm(W))

    def shrunk_total(self, allocation: IntArray) -> float:
        """``||A^-1 sum w z||`` of an allocation."""
        rows = zip(self._blocks, self.sums(allocation), strict=True)
        solved = [self._solver.solve_upper(R, row, pivots) for (R, _, pivots, _), row in rows]
        return float(np.linalg.norm(solved))


class LastRidge:
    """The estimate from the last record that was asked for.

    The rounds of a problem with contexts have a policy each, and share this: where a record is the one
    that it was, nothing is computed again.
    """

    def __init__(self) -> None:
        self._last: Ridge | None = None

    def of(self, problem: Problem, record: AnyRecord, lam: float, *, symmetric: bool) -> Ridge:
        """The estimate from ``record``, for the problem of this round."""
        last = self._last
        same = last is not None and last.record is record
        if last is not None and same and (last.lam, last.symmetric) == (lam, symmetric):
            return last if last.problem is problem else last.at(problem)
        self._last = made = Ridge(problem, record, lam, symmetric=symmetric)
        return made


def _doubles(values: NDArray[Any]) -> FloatArray:
    return values.astype(np.float64, copy=False)


def _turn(R: FloatArray, pivots: IntArray) -> FloatArray:
    """Q with ``R P' = Q U``, U triangular with a positive diagonal."""
    straight = np.empty_like(R)
    straight[:, pivots] = R
    Q, U = np.linalg.qr(straight)
    turn: FloatArray = Q * np.where(np.diag(U) < 0.0, -1.0, 1.0)
    return turn
