"""The estimate: ridge regression of the rewards on the edge-arms, one matrix per edge type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.coordinates import Coordinates, coordinates
from gbb.learning.factor import Block, factor
from gbb.learning.record import AnyRecord, weigh
from gbb.problem import Problem, check_lam

EPS = float(np.finfo(np.float64).eps)

ROUNDINGS = 8.0
"""How many roundings a number goes through, for each parameter that it takes part in."""


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
        Always so where these are all that can be learnt (``problem.symmetric_only``).

    Notes
    -----
    A block of A is ``P R'R P'`` with R triangular and P a permutation, from a QR factorisation of the
    rows ``sqrt(N) z'`` over ``sqrt(lam) I``, rows sorted by size and columns pivoted: the condition
    number is never squared, and arms of very different norms keep their accuracy. Of sums of edges
    only ``sum q q'`` is left. Scaled to a diagonal of about 1, so that what is light stays beside what
    is heavy, its eigenvectors stand for the rows, and eigenvalues below its own rounding count as 0:
    what cannot be told from nothing is left as uncertain as lam says. What rounding does to all the
    rest is a matter of :attr:`rounding` and :attr:`rounding_per_unit`.

    Everything is held whitened: ``f`` with ``<f, f'> = z'A^-1 z'`` and ``<f, theta> = z'theta_hat``.
    """

    problem: Problem
    record: AnyRecord
    lam: float = 1.0
    symmetric: bool = False

    def __post_init__(self) -> None:
        check_lam(self.lam)
        if self.symmetric and not self.problem.symmetric:
            rule = "be False unless links are seen one by one, both directions alike"
            raise checks.input_error("symmetric", rule, True)
        if self.problem.symmetric_only:  # in all dimensions the tables would claim to know the rest
            object.__setattr__(self, "symmetric", True)

    @classmethod
    def of(cls, problem: Problem, record: AnyRecord, lam: float, *, symmetric: bool) -> Ridge:
        """Return the estimate from a record, factorised once for all rounds that share the record.

        It is kept beside the record, so that policies of several contexts need not know of each other.
        """
        made: Ridge | None = record.estimates.get((lam, symmetric))
        if made is None or made.problem.arms is not problem.arms:
            made = record.estimates[lam, symmetric] = cls(problem, record, lam, symmetric)
        return made.at(problem)

    def at(self, problem: Problem) -> Ridge:
        """Return the same estimate for the problem of another round, sharing what was computed of it.

        A record is of all rounds, and so is all that is made of it but for what depends on the matrices
        in play and on S.
        """
        if problem is self.problem:
            return self
        other = replace(self, problem=problem)
        changed = {"rounding"}  # by the norm of all matrices in play
        if not np.array_equal(problem.matrices_in_play, self.problem.matrices_in_play):
            changed |= {"_in_play", "smallest"}
        computed = vars(self).copy()  # a copy, as other threads may be at work on this estimate
        shared = computed.keys() - vars(other).keys() - changed
        vars(other).update({name: computed[name] for name in shared})
        return other

    @cached_property
    def coordinates(self) -> Coordinates:
        """What the rewards of one type are linear in."""
        return coordinates(self.problem, symmetric=self.symmetric)

    @cached_property
    def _blocks(self) -> list[Block]:
        """The blocks of A: one for each type if rewards are per edge or link, else one for all."""
        features, by_regressor = self.coordinates.features, self.coordinates.sum_by_regressor
        if self.record.tables is not None:
            tables = zip(*self.record.tables, strict=True)
            return [factor(features, by_regressor(N), by_regressor(Y), self.lam) for N, Y in tables]
        # Only sums over edges were seen: the eigenvectors of their Gram matrix stand for rows, and the
        # regressors follow with weight 0, to be whitened and no more.
        (e, V, scale), b = self._spectrum, self.record.moment(self.problem)
        types, (rows, d2) = self.problem.types, features.shape
        by_type = np.zeros((types, rows, types, d2))
        by_type[np.arange(types), :, np.arange(types)] = features
        regressors = by_type.reshape(types * rows, types * d2)
        seen, stacked = self._seen, np.vstack([V.T * scale, regressors])
        weights, responses = np.zeros((2, len(stacked)))
        weights[: len(e)], responses[: len(e)] = e, b / scale @ V
        R, theta, pivots, whitened = factor(stacked[:, seen], weights, responses, self.lam)
        # The parameters of which nothing was seen stay at lam exactly. QR would mix rounding into them,
        # and then the arms of a regime that was never in play would no longer tie.
        unseen, root = np.setdiff1d(np.arange(len(e)), seen), np.sqrt(self.lam)
        wide = root * np.eye(len(e))
        wide[: len(seen), : len(seen)] = R
        theta = np.append(theta, np.zeros(len(unseen)))
        whitened = np.hstack([whitened[len(e) :], regressors[:, unseen] / root])
        return [Block(wide, theta, np.append(seen[pivots], unseen), whitened)]

    @cached_property
    def _seen(self) -> IntArray:
        """The parameters of which anything was seen, or all where no matrix is out of play."""
        everything = np.arange(self.problem.parameters)
        if len(self.problem.matrices_in_play) == self.problem.types:
            return everything
        seen = np.flatnonzero(np.diag(self.record.gram(self.problem)))
        return seen if seen.size else everything

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
        # Below its own rounding an eigenvalue may be 0, and 0 claims to know nothing.
        return np.where(e > len(e) * EPS * e.max(initial=0.0), e, 0.0), V, scale

    @cached_property
    def whitened(self) -> FloatArray:
        """The whitened ``z_ab`` of every type and edge-arm (types x K x K x size)."""
        types = self.problem.types
        rows = np.concatenate([block.whitened for block in self._blocks])
        return np.ascontiguousarray(
            rows.reshape(types, -1, rows.shape[1])[:, self.coordinates.index]
        )

    @cached_property
    def solved(self) -> FloatArray:
        """``A^-1 z_ab`` of every type and edge-arm (types x K x K x size)."""
        rows = self.whitened.reshape(self.problem.types, -1, self.whitened.shape[-1])
        solved = [self._blocks[b].solve(rows[g]) for g, b in enumerate(self.block_of)]
        return np.stack(solved).reshape(self.whitened.shape)

    @cached_property
    def theta(self) -> FloatArray:
        """The whitened ``b`` in blocks (blocks x size)."""
        return np.stack([block.theta for block in self._blocks])

    @cached_property
    def block_of(self) -> IntArray:
        """The block of each type."""
        several = len(self.theta) > 1
        return np.arange(self.problem.types) if several else np.zeros(self.problem.types, np.int64)

    @cached_property
    def _in_play(self) -> IntArray:
        """The blocks of the matrices in play."""
        return np.unique(self.block_of[self.problem.matrices_in_play])

    def draw(self, v: float, rng: np.random.Generator) -> FloatArray:
        """A ``theta`` drawn from ``N(theta_hat, v^2 A^-1)``.

        theta is ``U^-1 (U theta_hat + v g)``, g standard normal and U the triangular factor of
        ``A = U'U`` with a positive diagonal. U is unique: the draw does not depend on how A was
        factorised.
        """
        g = np.zeros_like(self.theta)
        # Of the matrices in play alone: numbers for the others would shift the stream.
        g[self._in_play] = rng.standard_normal((len(self._in_play), g.shape[1]))
        rotated = [Q @ row for Q, row in zip(self._rotations, g, strict=True)]
        drawn: FloatArray = self.theta + v * np.stack(rotated)
        return drawn

    @cached_property
    def _rotations(self) -> list[FloatArray]:
        """From coordinates in which a draw is unique to those of each block."""
        return [block.rotation for block in self._blocks]

    @property
    def factors(self) -> list[tuple[FloatArray, FloatArray]]:
        """U of each block, triangular with a positive diagonal and ``A = U'U``; and ``U theta_hat``."""
        blocks = zip(self._blocks, self._rotations, strict=True)
        return [(np.triu(Q.T @ block.unpivoted), Q.T @ block.theta) for block, Q in blocks]

    @cached_property
    def means(self) -> FloatArray:
        """The estimated reward of every type and edge-arm (types x K x K)."""
        return self.means_at(self.theta)

    def means_at(self, theta: FloatArray) -> FloatArray:
        """The rewards of every type and edge-arm for the vector ``theta`` (types x K x K)."""
        means = np.empty(self.whitened.shape[:-1])
        # Type by type: a product of all at once would not fit the cache.
        for g, block in enumerate(self.block_of):
            means[g] = (self.whitened[g] * theta[block]).sum(axis=-1)
        return means

    @cached_property
    def widths(self) -> FloatArray:
        """``||z_ab||_{A^-1}`` of every type and edge-arm (types x K x K)."""
        widths: FloatArray = np.linalg.norm(self.whitened, axis=-1)
        return widths

    @cached_property
    def inverse_norms(self) -> FloatArray:
        """``||A^-1 z_ab||`` of every type and edge-arm (types x K x K)."""
        inverse_norms: FloatArray = np.linalg.norm(self.solved, axis=-1)
        return inverse_norms

    def width(self, vectors: FloatArray) -> FloatArray:
        """``||v||_{A^-1}`` for every row v of ``vectors``: in all parameters, or in one type's.

        Rows in one type's d^2 parameters give a row of widths for each type, unless there is one type.
        With ``symmetric`` only symmetric parts count, of v too.
        """
        return self.norms(vectors)[0]

    def norms(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``||v||_{A^-1}`` and ``||A^-1 v||`` for every row v of ``vectors``, as for :meth:`width`."""
        problem, d2 = self.problem, self.problem.d**2
        vectors = checks.array("vectors", vectors, ndim=2, meaning="one vector per row")
        if vectors.shape[1] not in (d2, problem.parameters):
            rule = f"have {d2} columns, or {problem.parameters} for all types"
            raise checks.input_error("vectors", rule, vectors.shape[1])
        if vectors.shape[1] == problem.parameters:
            return self._norms(vectors.reshape(-1, problem.types, d2))
        rows = np.zeros((problem.types, len(vectors), d2))
        by_type = []
        for g in range(problem.types):
            rows[:] = 0.0
            rows[g] = vectors
            by_type.append(self._norms(rows.transpose(1, 0, 2)))
        widths, inverse_norms = zip(*by_type, strict=True)
        return np.stack(widths), np.stack(inverse_norms)

    def _norms(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``||v||_{A^-1}`` and ``||A^-1 v||`` of vectors by type (count x types x d^2)."""
        inside, beyond = self.coordinates.of(vectors)
        unseen = np.linalg.norm(beyond, axis=1)
        widths, inverse_norms = [unseen / np.sqrt(self.lam)], [unseen / self.lam]
        by_block = inside.reshape(len(inside), len(self._blocks), -1)
        for number, block in enumerate(self._blocks):
            whitened = block.whiten(by_block[:, number])
            widths.append(np.linalg.norm(whitened, axis=1))
            inverse_norms.append(np.linalg.norm(block.solve(whitened), axis=1))
        return np.linalg.norm(widths, axis=0), np.linalg.norm(inverse_norms, axis=0)

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
        return checks.frozen(self.M_hats.transpose(0, 2, 1).flatten())  # vec stacks columns

    @cached_property
    def M_hats(self) -> FloatArray:
        """The estimated matrices (types x d x d); their symmetric parts with ``symmetric``."""
        solved = np.stack([block.solve(block.theta[None])[0] for block in self._blocks])
        return self.coordinates.matrices(solved, self.problem.d)

    @property
    def M_hat(self) -> FloatArray:
        """The estimate of M* (d x d); with several types all of them (types x d x d)."""
        return self.M_hats[0] if self.problem.types == 1 else self.M_hats

    @cached_property
    def log_det(self) -> float:
        """``log det(A / lam)``."""
        diagonals = np.stack([np.abs(np.diag(block.R)) for block in self._blocks])
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
            smallest = self.lam / largest**2 + float(e[e > 0.0].min(initial=np.inf))
            return self._share * problem.norm * largest * float(e.sum() / np.sqrt(smallest))
        size2 = np.sum(problem.arms**2, axis=1)
        grown = float((tables[0] @ size2 @ size2).sum())
        return self._share * problem.norm * float(np.sqrt(grown))

    @property
    def rounding_per_unit(self) -> float:
        """How far rounding moves ``<v, theta>`` when it is computed, for each unit of ``||v||``."""
        return self._share * self.problem.S

    @property
    def _share(self) -> float:
        return ROUNDINGS * self.problem.parameters * EPS

    @cached_property
    def smallest(self) -> float:
        """The smallest eigenvalue of A on the span of the edge-arms in play, or a lower bound of it."""
        blocks = [self._blocks[number] for number in self._in_play]
        if self.coordinates.diagonal:
            # Edge-arms of norm 0 have a coordinate too, which nothing is ever seen of.
            used = np.diag(self.coordinates.features) > 0.0
            diagonals = [np.abs(np.diag(R))[used[pivots]] for R, _, pivots, _ in blocks]
            return float(np.min(diagonals) ** 2)
        smallest = min(float(np.linalg.svd(block.R, compute_uv=False)[-1]) for block in blocks)
        return max(self.lam, smallest**2)

    def sums(self, allocation: IntArray, problem: Problem | None = None) -> FloatArray:
        """The whitened sum over the edges of an allocation, ``sum w f`` (blocks x size).

        In the round of ``problem``, where that is this one's at some context.
        """
        types, size = self.problem.types, self.theta.shape[1]
        played = weigh(problem or self.problem, allocation)[:, None, :]
        W = np.zeros_like(self.theta)
        np.add.at(W, self.block_of, (played @ self.whitened.reshape(types, -1, size))[:, 0])
        return W

    def total(self, allocation: IntArray) -> tuple[float, float]:
        """Estimated global reward of an allocation, and the width ``||sum w z||_{A^-1}`` of it."""
        W = self.sums(allocation)
        return float((W * self.theta).sum()), float(np.linalg.norm(W))

    def inverse_norm(self, allocation: IntArray) -> float:
        """``||A^-1 sum w z||`` of an allocation."""
        rows = zip(self._blocks, self.sums(allocation), strict=True)
        return float(np.linalg.norm([block.solve(row[None]) for block, row in rows]))
