"""Couples over a cut by optimism: eight runs at a time, a lane each, or single runs.

A couple plays at most four edge-arms a round, so a round needs only the sums of the noise over the edges
across the cut, inside V1 and inside V2. Decisions depend on the symmetric block alone, whose regressors
are the pairs ``q_ab = (z_ab + z_ba) / 2``, a <= b. A run's numbers depend on its own seed, whatever is
beside it. Regimes have an estimate each, and a round plays with that of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.couples.covariance import (
    Covariance,
    SingleRun,
    play_covariance_batch,
    play_covariance_single,
)
from gbb._kernels.couples.many_arms import ManyArms, play_many_arms
from gbb._kernels.couples.orthogonal import (
    Tables,
    play_orthogonal_batch,
    play_orthogonal_single,
)
from gbb._kernels.couples.state import SHRINK, Chunk, Couples, Runs
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb.contexts import Regimes
from gbb.environment import NOISES, Environment
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.learning.factor import Block, factor
from gbb.policies._compiled import CompiledPolicy
from gbb.problem import Problem
from gbb.simulation.engine.noise import ROUNDS, Blocks, GaussianNoise, SharedNoise
from gbb.simulation.trace import Trace

if TYPE_CHECKING:
    from gbb.simulation.engine.loops import Task

FEW = 3
"""So many runs are faster one after another than beside copies of the last."""

SPARE = 64
"""How many numbers a run has at hand to break ties with, where ties are rare."""

RENEWED = 1 << 14
"""After so many rounds all is factorised anew, so that rounding cannot drift."""

CELLS = 1 << 23
"""The most numbers that the estimates of all regimes may hold, about."""


def plays_couples(policy: CompiledPolicy) -> bool:
    """Return whether this loop plays ``policy``: couples by optimism, without contexts or in regimes.

    Unequal weights of z_ab and z_ba would make decisions depend on more than the symmetric block.
    """
    problem = policy.problem
    if policy.radius in (None, "complete") or policy.shrinking or problem.unknown:
        return False
    if not policy.v == policy.epsilon == policy.starts == 0 or policy.cut.k != 2:
        return False
    if policy.weights[0] != policy.weights[1]:
        return False
    if not isinstance(problem.contexts, Regimes):
        return problem.is_paper_problem
    small = problem.types * problem.K**2 * problem.d**2 <= CELLS
    alike = problem.at_row(np.zeros(1)).uniform and not problem.weighted
    return small and alike and problem.feedback == "edge"


def run_couples(env: Environment, policy: CompiledPolicy, task: Task) -> list[Trace]:
    """Play all rounds of at most eight runs, in O(1) of the number of edges without ``edge_noise``."""
    if len(task.seeds) > FEW and choose_form(env.problem) is not ManyArmsForm:
        return traces_of(play_runs(env, policy, task, task.seeds, WIDTH), env, policy, task)
    forms = [play_runs(env, policy, task, [seed], 1) for seed in task.seeds]
    return [trace for form in forms for trace in traces_of(form, env, policy, task)]


def play_runs(
    env: Environment,
    policy: CompiledPolicy,
    task: Task,
    seeds: Sequence[np.random.SeedSequence],
    lanes: int,
) -> Form:
    """Play all rounds of runs with these seeds; the last is in all lanes that are left."""

    def report(rounds: int) -> None:
        if task.on_rounds is not None:
            task.on_rounds(len(seeds) * rounds)

    children = [seed.spawn(2) for seed in seeds]
    rngs = [np.random.default_rng(own) for _, own in children]
    blocks = [
        Blocks(env, np.random.default_rng(first), edge_noise=task.edge_noise, on_rounds=report)
        for first, _ in children
    ]
    noise: GaussianNoise | SharedNoise = SharedNoise(policy.cut, blocks, lanes)
    if env.law is NOISES["gaussian"] and not task.edge_noise:
        words = [first for first, _ in children]
        noise = GaussianNoise(policy.cut, env.problem.sigma, words, lanes)
    couples, regime = lay_out(env, policy), regime_of(env, task.rounds)
    form = choose_form(env.problem)(env.problem, couples, policy.lam, lanes, len(task.recorded))
    done = 0
    for size in blocks[0].sizes(task.rounds):
        chunk = Chunk(
            first=done + 1,
            noise=noise.draw(size),
            scales=noise.scales,
            radii=radii_of(policy, regime, np.arange(done, done + size, dtype=np.float64)),
            regime=regime[done : done + size].astype(np.uint64),
            recorded=task.recorded,
        )
        if couples.mirrored or done == 0:  # where all couples tie, a round uses one number
            refill(form.runs, rngs)
        form.play_chunk(chunk, rngs)
        done += size
    return form


def traces_of(form: Form, env: Environment, policy: CompiledPolicy, task: Task) -> list[Trace]:
    """Return what the runs of a form leave behind."""
    runs, regime = form.runs, regime_of(env, task.rounds)
    rewards, traces = form.couples.rewards[regime[task.recorded - 1], :, 3], []
    for played, cumulative in zip(runs.couple.T, runs.cumulative.T, strict=True):
        couple = np.stack(np.divmod(played, env.problem.K), axis=1)
        allocation = couple[:, policy.cut.sides] if task.keep_allocations else None
        reward = rewards[np.arange(len(played)), played]
        traces.append(Trace(reward, cumulative, couple, allocation))
    return traces[: len(task.seeds)]


def lay_out(env: Environment, policy: CompiledPolicy) -> Couples:
    """Return the constants of the runs."""
    cut, R, problem = policy.cut, np.array(env.reward_tables), env.problem
    arms, pair, steps = number_couples(problem.K)
    a, b = arms.T
    across, own = cut.m12 * (R + R.swapaxes(1, 2))[:, a, b], np.diagonal(R, axis1=1, axis2=2)
    in_all = np.stack([cut.couple_values(each).ravel() for each in R])
    w12, _, w1, w2 = (float(w) for w in policy.weights)
    first = policy if env.rows is None else policy.at_row(env.rows[0])
    constants = first.constants
    return Couples(
        w=2.0 * w12,
        w1=w1,
        w2=w2,
        mirrored=w1 == w2,
        arms=arms,
        pair=pair,
        steps=steps,
        rewards=np.stack([across, cut.m1 * own[:, a], cut.m2 * own[:, b], in_all], axis=2),
        edges=np.array([2.0 * cut.m12, cut.m1, cut.m2]),
        **{name: constants[name] for name in ("adaptive", "sigma", "spread", "offset")},
    )


@lru_cache(maxsize=16)
def number_couples(K: int) -> tuple[IntArray, IntArray, NDArray[np.uint64]]:
    """Return the arms of every couple, the pair of two arms, and the pairs that each couple plays."""
    a, b = np.divmod(np.arange(K * K), K)
    pair, (i, j) = np.zeros((K, K), dtype=np.int64), np.triu_indices(K)
    pair[i, j] = pair[j, i] = np.arange(len(i))
    steps = np.stack([pair[a, b], pair[a, a], pair[b, b]], axis=1)
    return np.stack([a, b], axis=1), pair, steps.astype(np.uint64)


def radii_of(policy: CompiledPolicy, regime: IntArray, rounds: FloatArray) -> FloatArray:
    """Return the radius after each number of rounds; that of the next round's regime, by its policy."""
    if policy.problem.contexts is None:
        return policy.radii(rounds)
    radii, next_one = np.zeros_like(rounds), regime[rounds.astype(np.int64)]
    for g in np.unique(next_one):
        here = next_one == g
        own = policy.at_row(np.array([float(g)]))
        radii[here] = own.radii(rounds[here])
    return radii


def regime_of(env: Environment, rounds: int) -> IntArray:
    """Return the regime of each of so many rounds; all are in one if there are no contexts."""
    row = np.zeros(rounds) if env.rows is None else env.rows[:rounds, 0]
    return row.astype(np.int64)


def refill(runs: Runs, rngs: Sequence[np.random.Generator]) -> None:
    """Refill the numbers that break ties, behind those that have not been used."""
    for lane, rng in enumerate(rngs):
        row, used = runs.uniforms[lane], int(runs.used[lane])
        row[: row.size - used] = row[used:]
        rng.random(out=row[row.size - used :])
    runs.uniforms[len(rngs) :] = runs.uniforms[len(rngs) - 1]
    runs.used[:] = 0


def choose_form(problem: Problem) -> type[Form]:
    """Return the cheapest form for these arms: by orthogonality, then by arithmetic per round."""
    if problem.orthogonal:
        return OrthogonalForm
    K, d = problem.K, problem.d
    pairs, size = K * (K + 1) // 2, d * (d + 1) // 2
    by_pairs = 3 * pairs**2 + 8 * K**2
    by_arms = 6 * size**2 + 2 * K * d**2 + 3 * K * size**2 / 2  # some three arms evaluated
    return CovarianceForm if by_pairs <= by_arms else ManyArmsForm


class Form(ABC):
    """Runs, and what is known of the pairs in every lane.

    Attributes
    ----------
    couples, runs
        The constants, and what the runs carry along.
    worn
        Which estimates are to be factorised anew (regimes x lanes).
    """

    def __init__(
        self, problem: Problem, couples: Couples, lam: float, lanes: int, recorded: int
    ) -> None:
        self.couples, self.lam, self.lanes = couples, lam, lanes
        self.regimes, self.size = len(couples.rewards), problem.K * (problem.K + 1) // 2
        self.worn: NDArray[np.bool_] = np.zeros((self.regimes, lanes), dtype=np.bool_)
        places, length = self.place_values()
        if couples.mirrored:
            places = np.minimum(places, places.T)
        position, first = places.ravel(), np.unique(places, return_index=True)
        couple_at = np.zeros(length, dtype=np.int64)
        couple_at[first[0]] = first[1]
        spare = ROUNDS if couples.mirrored else SPARE
        self.runs = Runs(
            total=aligned_zeros(lanes),
            recorded=np.zeros(1, dtype=np.int64),
            log_det=np.zeros(lanes),
            growth=np.ones(lanes),
            uniforms=np.zeros((lanes, spare)),
            used=np.full(lanes, spare, dtype=np.int64),
            radius=aligned_zeros(lanes),
            top=aligned_zeros(lanes),
            best=aligned_zeros(lanes),
            values=aligned_zeros(length),
            position=position,
            couple_at=couple_at,
            couple=np.zeros((recorded, lanes), dtype=np.int64),
            cumulative=np.zeros((recorded, lanes)),
        )

    def place_values(self) -> tuple[IntArray, int]:
        """Return the position of each couple's value (K x K), and how many there are."""
        count = len(self.couples.arms)
        return WIDTH * np.arange(count).reshape(self.couples.pair.shape), WIDTH * count

    def penalties(self) -> FloatArray:
        """Return what is added to means: minus infinity at positions without a couple, else 0."""
        penalty = aligned_zeros(self.runs.values.size)
        penalty[:] = -np.inf
        penalty[self.runs.position] = 0.0
        return penalty

    def play_chunk(self, chunk: Chunk, rngs: Sequence[np.random.Generator]) -> None:
        """Play the rounds of a chunk."""
        begin, size = 0, chunk.radii.size
        while begin < size:
            number = chunk.first + begin
            # By the number of the round: how long chunks are depends on the instance.
            if number > 1 and number % RENEWED == 1:
                self.worn[:] = True
            for g, lane in np.argwhere(self.worn).tolist():
                self.refactor(g, lane)
            end = min(size, begin + RENEWED - (number - 1) % RENEWED)
            begin = self.play(chunk, begin, end)
            if begin < end and not self.worn.any():
                refill(self.runs, rngs)

    @abstractmethod
    def play(self, chunk: Chunk, begin: int, end: int) -> int:
        """Play rounds of the chunk up to number ``end``; return how far it came."""

    def refactor(self, g: int, lane: int) -> None:
        """Estimate anew from what a run has played in regime g."""
        self.worn[g, lane] = False


class OrthogonalForm(Form):
    """Precision, sum of rewards, mean and variance of every pair; they do not interact."""

    def __init__(self, problem: Problem, couples: Couples, *settings: Any) -> None:
        super().__init__(problem, couples, *settings)
        G, K, lanes, (i, j) = self.regimes, problem.K, self.lanes, np.triu_indices(problem.K)
        size2 = np.sum(problem.arms**2, axis=1)
        with np.errstate(divide="ignore"):  # infinite for an arm of norm 0, whose variance is 0
            prior = self.lam / (size2[i] * size2[j] * np.where(i == j, 1.0, 0.5))
        self.pairs = aligned_zeros(G, self.size, 4, lanes)
        self.pairs[:, :, 0], self.pairs[:, :, 3] = prior[:, None], 1.0 / prior[:, None]
        self._tables = None
        if lanes == 1:
            mean, variance, middle, deviation = aligned_zeros(4, G, K, padded(K))
            own_mean, own_variance = aligned_zeros(2, G, padded(K))
            self._tables = Tables(
                mean=mean,
                variance=variance,
                own_mean=own_mean,
                own_variance=own_variance,
                middle=middle,
                deviation=deviation,
                penalty=self.penalties().reshape(K, -1),
            )

    def place_values(self) -> tuple[IntArray, int]:
        if self.lanes > 1:
            return super().place_values()
        K = len(self.couples.pair)
        return np.add.outer(padded(K) * np.arange(K), np.arange(K)), K * padded(K)

    def play(self, chunk: Chunk, begin: int, end: int) -> int:
        pairs = self.pairs.reshape(self.regimes, -1)
        if self._tables is None:
            return play_orthogonal_batch(self.couples, self.runs, pairs, chunk, begin, end)
        settings = self.couples, self.runs, pairs, self._tables
        return play_orthogonal_single(*settings, chunk, begin, end)


class FactorisedForm(Form):
    """An estimate from a factorisation of all that was played, regime by regime."""

    pairs: Covariance | ManyArms

    def __init__(self, problem: Problem, *settings: Any) -> None:
        super().__init__(problem, *settings)
        G, K, lanes = self.regimes, problem.K, self.lanes
        i, j = np.triu_indices(K)
        self.features = symmetric_edge_arms(problem.arms)[i * K + j]
        self.shared: dict[str, Any] = {
            "weight": aligned_zeros(G, self.size * lanes),
            "total": aligned_zeros(G, self.size * lanes),
            "log_det": np.zeros((G, lanes)),
            "growth": np.ones((G, lanes)),
            "worn": self.worn,
        }

    def refactor(self, g: int, lane: int) -> None:
        super().refactor(g, lane)
        pairs, runs, at = self.pairs, self.runs, slice(lane, None, self.lanes)
        # Copies: the same memory layout gives the same bits in a batch and in a single run.
        weight, total = pairs.weight[g, at].copy(), pairs.total[g, at].copy()
        block = factor(self.features, weight, total, self.lam)
        self.write(block, g, lane)
        pairs.log_det[g, lane] = np.log(np.diag(block.R) ** 2 / self.lam).sum()
        pairs.growth[g, lane] = 1.0
        # Summed anew and not added: what was accumulated stands for the same rounds.
        growth = np.log(pairs.growth[:, lane].copy())
        runs.log_det[lane] = (pairs.log_det[:, lane].copy() + growth).sum()
        runs.growth[lane] = 1.0

    @abstractmethod
    def write(self, block: Block, g: int, lane: int) -> None:
        """Write a factorisation into the estimate of a run."""


class CovarianceForm(FactorisedForm):
    """Means and covariance of few pairs; a round costs O(K^4)."""

    def __init__(self, problem: Problem, couples: Couples, *settings: Any) -> None:
        super().__init__(problem, couples, *settings)
        G, S, lanes = self.regimes, self.size, self.lanes
        s, r = np.sort(np.indices((S, S)), axis=0)[::-1]  # the lower half stands for both
        width, length = padded(S), S * lanes if lanes > 1 else padded(S)
        entry = s * (s + 1) // 2 + r if lanes > 1 else s * width + r
        rows = S * (S + 1) // 2 if lanes > 1 else (S + S % 2) * width
        across, one, two = couples.steps.T.astype(np.int64)
        parts = (across, across), (one, one), (two, two), (across, one), (across, two), (one, two)
        spots = np.stack([entry[each] for each in parts])
        self.pairs: Covariance = Covariance(
            mu=aligned_zeros(G, length),
            H=aligned_zeros(G, padded(lanes * rows)),
            base=aligned_zeros(G, length),
            entry=entry.astype(np.uint64),
            spots=lanes * spots,
            columns=aligned_zeros(3, length),
            small=aligned_zeros(12 * WIDTH),
            **self.shared,
        )
        self._single = self.make_single(entry, spots) if lanes == 1 else None
        self._lower = np.tril_indices(S)
        self._at = lanes * entry[self._lower]
        prior = self.features / np.sqrt(self.lam)
        self.write(
            Block(np.eye(0), np.zeros(prior.shape[1]), np.zeros(0, dtype=np.int64), prior), 0, 0
        )
        first = self.pairs.H[0, self._at], self.pairs.base[0, : S * lanes : lanes]
        for lane in range(lanes):
            self.pairs.H[:, self._at + lane] = first[0]
            self.pairs.base[:, lane : S * lanes : lanes] = first[1]
        if self._single is not None:
            self._single.diagonal[:] = self._single.diagonal[0]

    def place_values(self) -> tuple[IntArray, int]:
        if self.lanes > 1:
            return super().place_values()
        width, pair = padded(self.size), self.couples.pair
        # (a, b) stands at its pair, and (b, a) behind all pairs where it has another value.
        return pair + width * np.tri(len(pair), k=-1, dtype=np.int64), width * (
            1 if self.couples.mirrored else 2
        )

    def make_single(self, entry: IntArray, spots: IntArray) -> SingleRun:
        """Return what a single run has beside its pairs."""
        couples, S, width = self.couples, self.size, padded(self.size)
        i, j = np.triu_indices(len(couples.pair))
        p, same = i * len(couples.pair) + j, np.diag(couples.pair)
        own, cross = np.zeros((2, width), dtype=np.int64), np.zeros((3, width), dtype=np.int64)
        own[:, :S], cross[:, :S] = couples.steps[p, 1:].T, spots[3:, p]
        w, w1, w2 = couples.w, couples.w1, couples.w2
        counts = w, w1, w2, w * w, w1 * w1, w2 * w2, 2.0 * w * w1, 2.0 * w * w2, 2.0 * w1 * w2
        weights = aligned_zeros(9, width)
        weights[:, :S] = np.array(counts)[:, None]
        weights[:, same] = 0.0
        weights[0, same], weights[3, same] = w + w1 + w2, (w + w1 + w2) * (w + w1 + w2)
        positions = np.full((S, width), entry[-1, -1] + 1, dtype=np.int32)  # a padded one, always 0
        positions[:, :S] = entry
        return SingleRun(
            penalty=self.penalties(),
            diagonal=aligned_zeros(self.regimes, width),
            gains=aligned_zeros(3, width),
            weights=weights,
            own=own,
            cross=cross,
            entry=positions,
        )

    def play(self, chunk: Chunk, begin: int, end: int) -> int:
        if self._single is None:
            return play_covariance_batch(self.couples, self.runs, self.pairs, chunk, begin, end)
        settings = self.couples, self.runs, self.pairs, self._single
        return play_covariance_single(*settings, chunk, begin, end)

    def write(self, block: Block, g: int, lane: int) -> None:
        H, at = block.whitened @ block.whitened.T, slice(lane, self.size * self.lanes, self.lanes)
        self.pairs.mu[g, at] = block.whitened @ block.theta
        self.pairs.H[g, self._at + lane] = H[self._lower]
        self.pairs.base[g, at] = SHRINK * np.diag(H)
        if self._single is not None:
            self._single.diagonal[g, : self.size] = np.diag(H)


class ManyArmsForm(FactorisedForm):
    """Many arms in few dimensions, one run at a time."""

    def __init__(self, problem: Problem, couples: Couples, *settings: Any) -> None:
        super().__init__(problem, couples, *settings)
        G, K, d, (count, size) = self.regimes, problem.K, problem.d, self.features.shape
        self.pairs: ManyArms = ManyArms(
            V=np.empty((G, K, size, K)),
            white=np.empty((G, count, size)),
            inverse=np.empty((G, size, size)),
            B=np.empty((G, size, size)),
            centre=np.empty((G, size)),
            bound=np.empty((G, K)),
            widest=np.empty((G, K)),
            before=np.empty(G),
            arms=np.array(problem.arms),
            values=np.empty((K, K)),
            scratch=np.empty((4, K)),
            moved=np.empty((2, size)),
            D=np.empty((d, d)),
            **self.shared,
        )
        self.worn[:] = True

    def play(self, chunk: Chunk, begin: int, end: int) -> int:
        return play_many_arms(self.couples, self.runs, self.pairs, chunk, begin, end)

    def write(self, block: Block, g: int, lane: int) -> None:  # noqa: ARG002
        couples, pairs, white = self.couples, self.pairs, block.whitened
        own = white[np.diag(couples.pair)]
        V = couples.w * white[couples.pair] + couples.w1 * own[:, None] + couples.w2 * own
        pairs.V[g], pairs.white[g] = V.swapaxes(1, 2), white
        pairs.inverse[g], pairs.B[g] = block.solve(np.eye(len(block.R))).T, np.eye(len(block.R))
        pairs.centre[g] = block.theta
        # Bounds begin as infinite: all arms are evaluated once.
        pairs.bound[g], pairs.widest[g], pairs.before[g] = np.inf, 0.0, 0.0
