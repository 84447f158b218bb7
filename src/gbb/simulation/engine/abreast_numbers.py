"""Couples over a cut with a vector of context numbers on orthogonal arms, eight runs side by side."""

from __future__ import annotations

import numpy as np

from gbb._kernels.abreast.numbers import Factors, play_numbers_abreast
from gbb._kernels.abreast.runs import Couples, Runs, Stretch
from gbb._support.arrays import WIDTH, aligned_zeros
from gbb._support.checks import FloatArray
from gbb.simulation._lowering import LoweredPolicy
from gbb.simulation._trace import Trace
from gbb.simulation.engine.abreast import begin_runs, make_couples, play_blocks, trace_of_lane
from gbb.simulation.engine.abreast_forms import Form, priors
from gbb.simulation.engine.abreast_noise import DrawnNoise, GivenNoise
from gbb.simulation.engine.batch import Batch, one_by_one
from gbb.simulation.engine.numbers import moments_of
from gbb.simulation.engine.setting import policy_at
from gbb.simulation.engine.vector_couples import plays_vector_couples, run_vector_couples

TINY = 1e-100
"""Where all numbers of a round are smaller, all couples may tie at 0."""


def plays_numbers_abreast(policy: LoweredPolicy) -> bool:
    """Whether runs of ``policy`` are played side by side."""
    problem = policy.problem
    return (
        plays_vector_couples(policy) and problem.orthogonal and bool(problem.arms.any(axis=1).all())
    )


class Numbers(Form):
    """A factor for every pair; the rounds' numbers are given."""

    def __init__(
        self, policy: LoweredPolicy, couples: Couples, runs: Runs, rows: FloatArray, active: int
    ) -> None:
        problem, lam = policy.problem, policy.lam
        super().__init__(problem, couples, runs, lam)
        C, S, self._rows = rows.shape[1], self.pairs, rows
        LD, self._prior = aligned_zeros(S, C, C + 2, WIDTH), priors(problem, lam)
        LD[:, np.arange(C), np.arange(C)] = self._prior[:, None, None]
        LD[:, :, C + 1] = 1.0 / self._prior[:, None, None]
        self.factors = Factors(
            LD=LD,
            pairs=aligned_zeros(S * 4 * WIDTH),
            active=active,
            own=np.arange(WIDTH),
            solved=aligned_zeros(C, WIDTH),
            copy=aligned_zeros(C, C + 2, WIDTH),
            row=aligned_zeros(C + 1, WIDTH),
        )

    def play(self, stretch: Stretch, begin: int) -> int:
        """Each round in O(K^2 C^2)."""
        here = self._rows[stretch.first - 1 : stretch.first - 1 + len(stretch.radii)]
        return play_numbers_abreast(self.couples, self.runs, self.factors, here, stretch, begin)

    def seen(self) -> tuple[FloatArray, FloatArray]:
        """``sum c c'`` and ``sum y c`` over what was seen of every pair (lanes x pairs x C (x C))."""
        LD = np.moveaxis(self.factors.LD, 3, 0)
        C = LD.shape[2]
        L, D = np.swapaxes(np.triu(LD[..., :C], 1) + np.eye(C), 2, 3), np.diagonal(LD, 0, 2, 3)
        grams = (L * D[..., None, :]) @ np.swapaxes(L, 2, 3)
        grams -= self._prior[:, None, None] * np.eye(C)
        moments: FloatArray = np.einsum("lsij,lsj->lsi", L, D * LD[..., C])
        return grams, moments


def run_numbers_abreast(policy: LoweredPolicy, batch: Batch) -> list[Trace]:
    """All rounds of at most eight runs."""
    env, cut = batch.env, policy.cut
    assert env.rows is not None
    rows = np.array(env.rows[: batch.rounds])
    if (np.abs(rows) <= TINY).all(axis=1).any():
        return one_by_one(run_vector_couples)(policy, batch)
    R = np.array(env.reward_tables)
    couples = make_couples(env, policy, R)
    noise, rngs, runs = begin_runs(cut, batch, batch.seeds, WIDTH, couples)
    form = Numbers(policy, couples, runs, rows, len(batch.seeds))

    def hear(done: int, size: int) -> None:
        for k, numbers in enumerate(rows[done : done + size].T):
            noise.hear(runs.every[:size] * len(rows[0]) + k, numbers[:, None])

    radii = policy_at(policy, rows[0]).radii
    play_blocks(batch, noise, rngs, form, radii=radii, hear=hear)
    grams, moments = form.seen()
    apart = couples.sigma * apart_of(noise, couples, grams)
    paid = np.einsum("tk,kp->tp", rows[batch.recorded - 1], couples.pays[:, :, 3])
    traces = []
    for lane in range(len(batch.seeds)):
        gram, moment = split_pairs(couples, R, grams[lane], moments[lane], apart[lane])
        record = moments_of(env.problem, gram, moment)
        traces.append(trace_of_lane(policy, batch, runs, paid, (lane, record)))
    return traces


def apart_of(noise: DrawnNoise | GivenNoise, couples: Couples, grams: FloatArray) -> FloatArray:
    """``sum c e`` by arms, e the noise of an edge-arm less that of its mirror image (lanes x K x K x C).

    Drawn at the end it is Gaussian, its covariance ``sum c c'`` over both.
    """
    K, (lanes, _, C, _) = len(couples.pair), grams.shape
    if isinstance(noise, GivenNoise):
        heard = np.moveaxis(noise.heard.reshape(K, K, C, lanes), 3, 0)
        return heard - heard.swapaxes(1, 2)
    sizes, turned = np.linalg.eigh(grams)
    roots = turned * np.sqrt(np.maximum(sizes, 0.0))[..., None, :]
    units = np.moveaxis(noise.units(grams.shape[1] * C).reshape(-1, C, lanes), 2, 0)
    drawn: FloatArray = np.einsum("lsij,lsj->lsi", roots, units)[:, couples.pair]
    drawn *= np.sign(np.arange(K)[None, :] - np.arange(K)[:, None])[:, :, None]
    return drawn


def split_pairs(
    couples: Couples, R: FloatArray, gram: FloatArray, paid: FloatArray, apart: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """``sum N c c'`` and ``sum Y c`` of every edge-arm (K x K x C (x C)), from those of pairs.

    Both orders of two arms are played equally often; ``split_rewards`` splits rewards in the same way.
    """
    own = np.eye(R.shape[1], dtype=bool)[:, :, None]
    each = np.where(own[..., None], gram[couples.pair], gram[couples.pair] / 2.0)
    less = np.einsum("abij,jab->abi", each, R - R.swapaxes(1, 2)) + apart
    both = paid[couples.pair]
    return each, np.where(own, both, (both + less) / 2.0)
