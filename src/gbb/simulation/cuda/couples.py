"""Couples over a cut: a thread plays a run on orthogonal arms, a group of lanes on general arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.policies._compiled import CompiledPolicy
from gbb.simulation.cuda.launch import ON_PROCESSOR, Instances, KernelText, Launch, join_text
from gbb.simulation.engine.noise import Blocks, noise_of

MAX_ARMS = {True: 28, False: 10}
"""The most arms, by whether they are orthogonal."""

MAX_GROWTH = 1e10
"""Up to this growth of the covariance, estimates have six digits or more."""

WIDE = 7
"""From so many orthogonal arms on, what a round touches three numbers of is not in shared memory."""


@dataclass(frozen=True)
class CouplesKernel:
    """What the kernel of couples is compiled for; runs that agree in it are played in one launch.

    The fields, in upper case, are flags of the text.
    """

    K: int
    orthogonal: bool
    even: bool  # (a, b) and (b, a) are worth the same
    adaptive: bool
    shared_noise: bool
    estimate: bool = False

    @classmethod
    def of(cls, policy: CompiledPolicy, rounds: int, *, shared_noise: bool) -> CouplesKernel:
        """Return the kernel that plays ``policy``; refuse arms that it has no room or digits for."""
        problem, weights = policy.problem, policy.weights
        most, norms = MAX_ARMS[problem.orthogonal], np.linalg.norm(problem.arms, axis=1)
        if most < problem.K:
            kind = "orthogonal arms" if problem.orthogonal else "arms"
            rule = f'be at most {most} {kind} for method="cuda"'
            raise checks.input_error("arms", rule, problem.K)
        if problem.orthogonal and not norms.all():  # its precision is infinite, and inf / inf NaN
            raise checks.input_error("arms", 'have no arm of norm 0 for method="cuda"', "one")
        # With more pairs than dimensions, `renew` rebuilds the covariance from the prior's, a pair at
        # a time, and loses eps |q|^2 N / lam, of the largest q and all N edges played.
        growth = float(norms.max()) ** 4 / policy.lam * problem.m * rounds
        if not problem.orthogonal and problem.d < problem.K and growth > MAX_GROWTH:
            rule = (
                f'have |x|^4 m rounds / lam of at most {MAX_GROWTH:g} for method="cuda" where K > d'
            )
            raise checks.input_error("arms", rule, f"{growth:.3g}", ON_PROCESSOR)
        even = bool(weights[2] == weights[3])
        return cls(problem.K, problem.orthogonal, even, policy.adaptive, shared_noise)

    def text(self) -> KernelText:
        """Return the text of the kernel and the size of its blocks."""
        pairs, defines = self.K * (self.K + 1) // 2, vars(self)
        if self.orthogonal:
            wide = self.K >= WIDE
            runs = threads = 64 if self.K <= 14 else 32
            names, defines = ["common", "couples", "onehot"], {**defines, "wide": wide}
            shared = 8 * (2 if wide else 4) * pairs * threads
        else:
            group = 16 if pairs <= 16 else 32 if pairs <= 32 else 64
            threads = 64 if group == 64 else 128
            runs, names = threads // group, ["common", "couples", "pairs"]
            # So many blocks a multiprocessor leave the compiler registers for a row of H.
            defines = {**defines, "group": group, "min_blocks": 5 if group == 64 else 4}
            shared = 8 * (3 * pairs + 3 + 2 * group + 4 * (group // 32 + 1)) * runs
        # The same couples as in the engine need the engine's roundings: no fused multiply-adds.
        options = ("--fmad=false",) if self.shared_noise else ()
        source = join_text(names, {**defines, "block": threads})
        return KernelText(source, "play_couples", options, threads, runs, shared)

    def launch(self, jobs: Instances, schedules: FloatArray) -> Launch:
        """Lay out the jobs, whose radii are the rows ``schedules`` of a table."""
        forms, prior = number_priors([policy for _, policy in jobs])
        rows = []
        for (env, policy), schedule, form in zip(jobs, schedules, forms, strict=True):
            cut, R, constants = policy.cut, np.asarray(env.reward_tables[0]), policy.constants
            w12, _, w1, w2 = policy.weights
            noise = 0.0 if env.noise == "none" else env.sigma
            radius = [constants[name] for name in ("sigma", "spread", "offset")]
            numbers = [2.0 * w12, w1, w2, cut.m12, cut.m1, cut.m2, noise, *radius, schedule, form]
            rows.append(np.hstack([numbers, R.ravel(), cut.couple_values(R).ravel()]))
        pairs, carried = (self.K * (self.K + 1) // 2,), (2 + 2 * self.K**2 * self.estimate,)
        return Launch(
            text=self.text(),
            instances=np.stack(rows),
            constants=[prior],
            scratch=np.dtype([]),
            state=np.dtype(
                [("load", "f8", pairs), ("paid", "f8", pairs), ("carried", "f8", carried)]
            ),
            outputs=np.dtype([("couple", "i2"), ("cumulative", "f8")]),
        )


def share_noise(
    env: Environment,
    policy: CompiledPolicy,
    children: Sequence[np.random.SeedSequence],
    rounds: int,
) -> tuple[FloatArray, FloatArray]:
    """Draw what the engine draws with ``edge_noise``.

    Noise (runs x rounds x 4), summed over the edges 12, 21, 11 and 22, and draws for ties (runs x
    rounds).
    """
    noise, ties = [], []
    for child in children:
        noise_rng, rng = map(np.random.default_rng, seeds.sequence(child).spawn(2))
        blocks = Blocks(env, noise_rng, edge_noise=True)
        draw = noise_of(policy.cut, blocks)
        noise.append(np.concatenate([draw(size) for size in blocks.sizes(rounds)]))
        ties.append(rng.random(rounds))
    return np.stack(noise), np.stack(ties)


def number_distinct(keys: Sequence[Any]) -> tuple[list[int], FloatArray]:
    """Return where each distinct key is first, and the number of every key among the distinct ones."""
    first: dict[Any, int] = {}
    for j, key in enumerate(keys):
        first.setdefault(key, j)
    number = {key: k for k, key in enumerate(first)}
    return list(first.values()), np.array([float(number[key]) for key in keys])


def number_priors(policies: Sequence[CompiledPolicy]) -> tuple[FloatArray, FloatArray]:
    """Return each policy's row in a table of distinct priors, and the table."""
    first, rows = number_distinct([(p.problem.arms.tobytes(), p.lam) for p in policies])
    return rows, np.stack([prior(policies[j]) for j in first])


def prior(policy: CompiledPolicy) -> FloatArray:
    """Return what is known of the pairs ``q = (z_ab + z_ba) / 2`` before the first round.

    On orthogonal arms the precision ``lam / |q|^2`` of each pair, otherwise the covariance
    ``q_s' q_t / lam`` of all.
    """
    problem = policy.problem
    a, b = np.triu_indices(problem.K)
    if problem.orthogonal:
        size2 = np.sum(problem.arms**2, axis=1)
        precision: FloatArray = policy.lam / (size2[a] * size2[b] * np.where(a == b, 1.0, 0.5))
        return precision
    features = symmetric_edge_arms(problem.arms)[a * problem.K + b]
    covariance: FloatArray = features @ features.T / policy.lam
    return covariance
