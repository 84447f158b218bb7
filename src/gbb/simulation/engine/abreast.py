"""Couples over a cut, many runs at once: eight side by side, a lane each, or one run alone.

A run's numbers depend on its own seed, whatever is beside it and however many are. In regimes there is
a table more of everything for each, and a round turns to that of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from gbb._kernels.abreast.runs import Couples, Runs, Stretch
from gbb._kernels.simd import U64Array as WholeArray
from gbb._support.arrays import WIDTH, aligned_zeros
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.learning.record import AnyRecord, Record
from gbb.policies._compiled import CompiledPolicy
from gbb.simulation._trace import Trace
from gbb.simulation.engine.abreast_forms import ABREAST, Form
from gbb.simulation.engine.abreast_noise import DrawnNoise, GivenNoise, Seeds, noise_abreast
from gbb.simulation.engine.batch import Batch
from gbb.simulation.engine.couples import (
    best_form,
    constants_of,
    plays_couples,
    radii_of,
    regime_of,
)
from gbb.simulation.engine.noise import ROUNDS

FEW = 3
"""So many runs are faster one after another than beside copies of the last."""

SPARE = 64
"""How many numbers a run has at hand to break ties with, where ties are rare."""


def plays_abreast(policy: CompiledPolicy) -> bool:
    """Whether runs of ``policy`` are played side by side."""
    return plays_couples(policy) and best_form(policy.problem) in ABREAST


def run_abreast(policy: CompiledPolicy, batch: Batch) -> list[Trace]:
    """All rounds of at most eight runs."""
    if len(batch.seeds) > FEW:
        return play_abreast(policy, batch, batch.seeds, WIDTH)
    return [trace for seed in batch.seeds for trace in play_abreast(policy, batch, [seed], 1)]


def play_abreast(policy: CompiledPolicy, batch: Batch, seeds: Seeds, lanes: int) -> list[Trace]:
    """All rounds of runs with these seeds; the last is in all lanes that are left."""
    env, cut = batch.env, policy.cut
    R, regime = np.array(env.reward_tables), regime_of(env, batch.rounds)
    couples = make_couples(env, policy, R)
    noise, rngs, runs = begin_runs(cut, batch, seeds, lanes, couples)
    form = ABREAST[best_form(env.problem)](env.problem, couples, runs, policy.lam)

    def hear(done: int, size: int) -> None:
        here = regime[done : done + size, None]
        noise.hear(runs.every[:size] + len(couples.arms) * here)

    def radii(rounds: FloatArray) -> FloatArray:
        return radii_of(policy, regime, rounds)

    play_blocks(batch, noise, rngs, form, radii=radii, hear=hear, regime=regime)
    N = count_edges(cut, runs)
    Y = split_rewards(couples, R, N, form.paid, noise.apart(runs.plays))
    records = [Record(N[..., lane], Y[..., lane]) for lane in range(len(seeds))]
    paid = couples.pays[regime[batch.recorded - 1], :, 3]
    return [trace_of_lane(policy, batch, runs, paid, each) for each in enumerate(records)]


def begin_runs(
    cut: Cut, batch: Batch, seeds: Seeds, lanes: int, couples: Couples
) -> tuple[DrawnNoise | GivenNoise, list[np.random.Generator], Runs]:
    """Noise, what breaks ties, and runs that are about to begin."""
    children = [seed.spawn(2) for seed in seeds]
    noise = noise_abreast(cut, batch, [first for first, _ in children], lanes)
    rngs = [np.random.default_rng(own) for _, own in children]
    return noise, rngs, new_runs(couples, lanes, kept=len(batch.recorded), rows=noise.rows)


def play_blocks(
    batch: Batch,
    noise: DrawnNoise | GivenNoise,
    rngs: Sequence[np.random.Generator],
    form: Form,
    *,
    radii: Callable[[FloatArray], FloatArray],
    hear: Callable[[int, int], None],
    regime: IntArray | None = None,
) -> None:
    """Play all rounds; ``hear(done, size)`` is told of blocks whose couples are wanted."""
    runs, done = form.runs, 0
    for size in batch.sizes(len(rngs)):
        here = np.zeros(size) if regime is None else regime[done : done + size]
        stretch = Stretch(
            first=done + 1,
            noise=noise.next(size),
            scales=noise.scales,
            radii=radii(np.arange(done, done + size, dtype=np.float64)),
            regime=here.astype(np.uint64),
            recorded=batch.recorded,
        )
        if form.couples.mirrored or done == 0:
            add_uniforms(runs, rngs)
        begin = form.play(stretch, 0)
        while begin < size:
            add_uniforms(runs, rngs)
            begin = form.play(stretch, begin)
        if noise.rows > 0:
            hear(done, size)
        done += size


def make_couples(env: Environment, policy: CompiledPolicy, R: FloatArray) -> Couples:
    """The constants of the runs; R is what an edge with arms (a, b) pays in each regime."""
    cut, K = policy.cut, policy.problem.K
    arms, pair, steps = number_couples(K)
    a, b = arms.T
    across, own = cut.m12 * (R + R.swapaxes(1, 2))[:, a, b], np.diagonal(R, axis1=1, axis2=2)
    in_all = np.stack([cut.couple_values(each).ravel() for each in R])
    w12, _, w1, w2 = (float(w) for w in policy.weights)
    constants = constants_of(env, policy)
    return Couples(
        w=2.0 * w12,
        w1=w1,
        w2=w2,
        mirrored=w1 == w2,
        arms=arms,
        pair=pair,
        steps=steps,
        pays=np.stack([across, cut.m1 * own[:, a], cut.m2 * own[:, b], in_all], axis=2),
        edges=np.array([2.0 * cut.m12, cut.m1, cut.m2]),
        **{name: constants[name] for name in Couples._fields if name in constants},
    )


@lru_cache(maxsize=16)
def number_couples(K: int) -> tuple[IntArray, IntArray, WholeArray]:
    """The arms of every couple, the pair of two arms, and the pairs that each couple plays."""
    a, b = np.divmod(np.arange(K * K), K)
    pair, (i, j) = np.zeros((K, K), dtype=np.int64), np.triu_indices(K)
    pair[i, j] = pair[j, i] = np.arange(len(i))
    steps = np.stack([pair[a, b], pair[a, a], pair[b, b]], axis=1)
    return np.stack([a, b], axis=1), pair, steps.astype(np.uint64)


def new_runs(couples: Couples, lanes: int, *, kept: int, rows: int) -> Runs:
    """Runs that are about to begin, with room for so many recorded rounds and rounds of a block."""
    (G, K2, _), spare = couples.pays.shape, ROUNDS if couples.mirrored else SPARE
    return Runs(
        plays=np.zeros((G, K2, lanes), dtype=np.int64),
        total=aligned_zeros(lanes),
        kept=np.zeros(1, dtype=np.int64),
        log_det=np.zeros(lanes),
        growth=np.ones(lanes),
        uniforms=np.zeros((lanes, spare)),
        used=np.full(lanes, spare, dtype=np.int64),
        radius=aligned_zeros(lanes),
        values=aligned_zeros(K2, lanes).reshape(-1),
        best=aligned_zeros(lanes),
        couple=np.zeros((kept, lanes), dtype=np.int64),
        cumulative=np.zeros((kept, lanes)),
        every=np.zeros((rows, lanes), dtype=np.int64),
    )


def add_uniforms(runs: Runs, rngs: Sequence[np.random.Generator]) -> None:
    """Fill up what ties are broken with, after what has not been used."""
    for lane, rng in enumerate(rngs):
        row, used = runs.uniforms[lane], int(runs.used[lane])
        row[: row.size - used] = row[used:]
        rng.random(out=row[row.size - used :])
    runs.uniforms[len(rngs) :] = runs.uniforms[len(rngs) - 1]
    runs.used[:] = 0


def count_edges(cut: Cut, runs: Runs) -> IntArray:
    """How many directed edges each run played with each edge-arm (regimes x K x K x lanes)."""
    G, K2, lanes = runs.plays.shape
    K = round(K2**0.5)
    plays = runs.plays.reshape(G, K, K, lanes)
    N = cut.m12 * (plays + plays.swapaxes(1, 2))
    N[:, np.arange(K), np.arange(K)] += cut.m1 * plays.sum(axis=2) + cut.m2 * plays.sum(axis=1)
    return N


def split_rewards(
    couples: Couples, R: FloatArray, N: IntArray, paid: FloatArray, apart: FloatArray
) -> FloatArray:
    """The sum of rewards of every edge-arm (regimes x K x K x lanes).

    Of a pair of arms what both orders paid together is known, and by what the noise of the two differed.
    """
    noise = apart.reshape(N.shape)
    noise = couples.sigma * (noise - noise.swapaxes(1, 2))
    both, difference = paid[:, couples.pair], (R - R.swapaxes(1, 2))[..., None] * N + noise
    own = np.eye(R.shape[1], dtype=bool)[:, :, None]
    return np.where(own, both, (both + difference) / 2.0)


def trace_of_lane(
    policy: CompiledPolicy, batch: Batch, runs: Runs, paid: FloatArray, run: tuple[int, AnyRecord]
) -> Trace:
    """What is left of a run; couples are worth ``paid`` in the recorded rounds (rounds x K^2)."""
    lane, record = run
    played = runs.couple[:, lane]
    couple = np.stack(np.divmod(played, policy.problem.K), axis=1)
    return Trace(
        reward=paid[np.arange(len(played)), played],
        cumulative=runs.cumulative[:, lane],
        couple=couple,
        allocation=couple[:, policy.cut.sides] if batch.keep_allocations else None,
        record=record,
    )
